// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

extern "C" __global__ void block_sum(const float* in, float* out, int n);
#include "block_sum.cu"

int main() {
  const unsigned threads[] = {32, 64, 96, 128}, blocks[] = {3, 1, 5, 2};
  for (int n : {1, 33, 128, 1000, 1537}) {
    for (int k = 0; k < 4; ++k) {
      Test("n = %d, %u blocks of %u threads", n, blocks[k], threads[k]);
      const float size = k == 2 ? 1e20F : 3.0F;
      const std::vector<float> in = Uniforms(n, -size, size);
      const float* din = Input(in);
      float* out = Output<float>(blocks[k]);
      Launch(blocks[k], threads[k], [&] { block_sum(din, out, n); });
      for (unsigned b = 0; b < blocks[k]; ++b) {
        double sum = 0, sizes = 0;
        for (int i = 0; i < n; ++i) {
          if (i / threads[k] % blocks[k] != b) continue;
          sum += double(in[i]);
          sizes += std::fabs(double(in[i]));
        }
        Compare(out + b, std::vector<double>{sum}, 0, 1e-5 * sizes);
      }
    }
  }
  return Finish();
}
