// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

extern "C" __global__ void quantise_rows(const float* in, signed char* out, float* scales, int cols);
#include "quantise_rows.cu"

int main() {
  const unsigned threads[] = {32, 64, 128};
  for (int cols : {1, 9, 64, 130, 333}) {
    for (unsigned block : threads) {
      const int rows = 5;
      Test("%d columns, blocks of %u threads", cols, block);
      std::vector<float> in = Uniforms(rows * cols, -3, 3);
      for (int c = 0; c < cols; ++c) in[cols + c] = 0;
      for (int c = 0; c < cols; ++c) in[2 * cols + c] *= 1e30F;
      for (int c = 0; c < cols; ++c) in[3 * cols + c] = -fabsf(in[3 * cols + c]);
      in[5 * cols - 1] = -50;  // the largest is the last
      const float* din = Input(in);
      signed char* out = Output<signed char>(in.size());
      float* scales = Output<float>(rows);
      Launch(rows, block, [&] { quantise_rows(din, out, scales, cols); });
      for (int r = 0; r < rows; ++r) {
        double top = 0;
        for (int c = 0; c < cols; ++c) top = fmax(top, fabs(double(in[r * cols + c])));
        const double scale = top == 0 ? 1 : top / 127;
        Compare(scales + r, std::vector<double>{scale}, 1e-6, 0, "scales");
        for (int c = 0; c < cols; ++c) {
          const double exact = in[r * cols + c] / scale;
          const bool halfway = fabs(fabs(exact - floor(exact)) - 0.5) < 1e-3;
          Compare(out + r * cols + c, std::vector<double>{fmax(-127, fmin(127, rint(exact)))}, 0, halfway ? 1 : 0);
        }
      }
    }
  }
  return Finish();
}
