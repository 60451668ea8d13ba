// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

extern "C" __global__ void layer_norm(const float* x, const float* gamma, const float* beta, float* out, int cols,
                                      float epsilon);
#include "layer_norm.cu"

int main() {
  const unsigned threads[] = {32, 64, 128};
  for (int cols : {1, 17, 64, 200, 385}) {
    for (unsigned block : threads) {
      const int rows = 3;
      Test("%d columns, blocks of %u threads", cols, block);
      std::vector<float> x = Uniforms(rows * cols, -2, 2);
      for (int c = 0; c < cols; ++c) x[cols + c] += 1000.0F;
      for (int c = 0; c < cols; ++c) x[2 * cols + c] *= 1e6F;
      const std::vector<float> gamma = Uniforms(cols, 0.5F, 2), beta = Uniforms(cols, -1, 1);
      const float *dx = Input(x), *dg = Input(gamma), *db = Input(beta);
      float* out = Output<float>(x.size());
      const float epsilon = 1e-3F;
      Launch(rows, block, [&] { layer_norm(dx, dg, db, out, cols, epsilon); });
      std::vector<double> expected(x.size());
      for (int r = 0; r < rows; ++r) {
        double mean = 0, variance = 0;
        for (int c = 0; c < cols; ++c) mean += double(x[r * cols + c]) / cols;
        for (int c = 0; c < cols; ++c) variance += pow(x[r * cols + c] - mean, 2) / cols;
        for (int c = 0; c < cols; ++c) {
          expected[r * cols + c] = (x[r * cols + c] - mean) / sqrt(variance + epsilon) * gamma[c] + beta[c];
        }
      }
      Compare(out, expected, 1e-3, 1e-3);
    }
  }
  return Finish();
}
