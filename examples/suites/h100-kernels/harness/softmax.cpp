// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

extern "C" __global__ void softmax(const float* in, float* out, int cols);
#include "softmax.cu"

int main() {
  const unsigned threads[] = {32, 64, 128};
  for (int cols : {1, 7, 64, 129, 333}) {
    for (unsigned block : threads) {
      const int rows = 4;
      Test("%d columns, blocks of %u threads", cols, block);
      std::vector<float> in = Uniforms(rows * cols, -4, 4);
      for (int c = 0; c < cols; ++c) in[cols + c] += 1e5F;
      for (int c = 0; c < cols; ++c) in[2 * cols + c] -= 1000.0F;
      for (int c = 1; c < cols; c += 3) in[3 * cols + c] = -INFINITY;
      const float* din = Input(in);
      float* out = Output<float>(in.size());
      Launch(rows, block, [&] { softmax(din, out, cols); });
      std::vector<double> expected(in.size());
      for (int r = 0; r < rows; ++r) {
        double top = -INFINITY, sum = 0;
        for (int c = 0; c < cols; ++c) top = fmax(top, double(in[r * cols + c]));
        for (int c = 0; c < cols; ++c) sum += exp(in[r * cols + c] - top);
        for (int c = 0; c < cols; ++c) expected[r * cols + c] = exp(in[r * cols + c] - top) / sum;
      }
      Compare(out, expected, 1e-5, 1e-12);
    }
  }
  return Finish();
}
