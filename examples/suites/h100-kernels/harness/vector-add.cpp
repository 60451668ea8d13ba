// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

extern "C" __global__ void vector_add(const float* a, const float* b, float* out, int n);
#include "vector_add.cu"

int main() {
  const unsigned threads[] = {32, 64, 96, 32, 128}, blocks[] = {1, 3, 2, 9, 1};
  const int sizes[] = {1, 31, 64, 257, 1003};
  for (int n : sizes) {
    for (int k = 0; k < 5; ++k) {
      const float size = k == 3 ? 1e30F : 10.0F;
      Test("n = %d, %u blocks of %u threads", n, blocks[k], threads[k]);
      const std::vector<float> a = Uniforms(n, -size, size), b = Uniforms(n, -1, 1);
      const float *da = Input(a), *db = Input(b);
      float* out = Output<float>(n);
      Launch(blocks[k], threads[k], [&] { vector_add(da, db, out, n); });
      std::vector<float> expected(n);
      for (int i = 0; i < n; ++i) expected[i] = a[i] + b[i];
      Compare(out, expected, 1e-6, 0);
    }
  }
  return Finish();
}
