// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

extern "C" __global__ void saxpy(int n, float alpha, const float* x, float* y);
#include "saxpy.cu"

int main() {
  const unsigned threads[] = {32, 96, 64, 128}, blocks[] = {1, 3, 20, 2};
  for (int n : {1, 31, 64, 511, 1003}) {
    for (int k = 0; k < 4; ++k) {
      Test("n = %d, %u blocks of %u threads", n, blocks[k], threads[k]);
      const float alpha = k == 0 ? 0.0F : Uniform(-3, 3), size = k == 2 ? 1e30F : 1.0F;
      std::vector<float> x = Uniforms(n + 1, -size, size), y = Uniforms(n + 1, -size, size);
      const float* dx = Input(x);
      float* dy = InOut(y);
      Launch(blocks[k], threads[k], [&] { saxpy(n, alpha, dx + 1, dy + 1); });
      for (int i = 1; i <= n; ++i) {
        const double product = double(alpha) * x[i], before = y[i];
        y[i] = float(product + before);
        const double larger = fmax(fabs(product), fabs(before));
        Compare(dy + i, std::vector<double>{product + before}, 0, 1e-6 * larger, "y");
      }
      Compare(dy, std::vector<float>{y[0]}, 0, 0, "the element before y");
    }
  }
  return Finish();
}
