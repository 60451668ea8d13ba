// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

extern "C" __global__ void ada_layer_norm(const __half* x, const float* scale, const float* shift, __half* out,
                                          int rows_per_sample, int cols, float epsilon);
#include "ada_layer_norm.cu"

int main() {
  const unsigned threads[] = {32, 64, 128};
  for (int cols : {1, 15, 64, 130, 257}) {
    for (unsigned block : threads) {
      const int rows_per_sample = 2, rows = 4;
      Test("%d columns, blocks of %u threads", cols, block);
      std::vector<__half> x(rows * cols);
      for (int i = 0; i < rows * cols; ++i) {
        x[i] = __float2half(i / cols == 1 ? Uniform(-30000, 30000) : Uniform(-3, 3));
      }
      const std::vector<float> scale = Uniforms(2 * cols, -1, 1), shift = Uniforms(2 * cols, -2, 2);
      const __half* dx = Input(x);
      const float *dscale = Input(scale), *dshift = Input(shift);
      __half* out = Output<__half>(x.size());
      const float epsilon = 1e-5F;
      Launch(rows, block, [&] { ada_layer_norm(dx, dscale, dshift, out, rows_per_sample, cols, epsilon); });
      std::vector<double> expected(x.size()), got(x.size());
      for (int r = 0; r < rows; ++r) {
        double mean = 0, variance = 0;
        for (int c = 0; c < cols; ++c) mean += double(__half2float(x[r * cols + c])) / cols;
        for (int c = 0; c < cols; ++c) variance += pow(__half2float(x[r * cols + c]) - mean, 2) / cols;
        for (int c = 0; c < cols; ++c) {
          const int at = r * cols + c, of = r / rows_per_sample * cols + c;
          expected[at] =
              (__half2float(x[at]) - mean) / sqrt(variance + double(epsilon)) * (1 + double(scale[of])) + shift[of];
          got[at] = __half2float(out[at]);
        }
      }
      Compare(got.data(), expected, 2e-3, 2e-3);
    }
  }
  return Finish();
}
