// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

extern "C" __global__ void tile_sums(const float* in, float* out, int tiles);
#include "tile_sums.cu"

int main() {
  for (int tiles : {1, 2, 3, 4, 7, 12}) {
    const int rows = 3;
    Test("%d tiles", tiles);
    const float size = tiles == 4 ? 1e20F : 2.0F;
    const std::vector<float> in = Uniforms(rows * tiles * 256, -size, size);
    const float* din = Input(in);
    float* out = Output<float>(rows * 256);
    Launch(rows, 64, [&] { tile_sums(din, out, tiles); });
    for (int i = 0; i < rows * 256; ++i) {
      double sum = 0, sizes = 0;
      for (int t = 0; t < tiles; ++t) {
        const double value = in[(i / 256 * tiles + t) * 256 + i % 256];
        sum += value;
        sizes += fabs(value);
      }
      Compare(out + i, std::vector<double>{sum}, 0, 1e-5 * sizes);
    }
  }
  return Finish();
}
