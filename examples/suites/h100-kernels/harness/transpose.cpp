// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

extern "C" __global__ void transpose(const float* in, float* out, int rows, int cols);
#include "transpose.cu"

int main() {
  const int shapes[][2] = {{1, 1}, {32, 32}, {64, 32}, {33, 31}, {1, 70}, {65, 2}, {97, 45}};
  for (const auto& [rows, cols] : shapes) {
    Test("%d x %d", rows, cols);
    const std::vector<float> in = Uniforms(rows * cols, -1e6F, 1e6F);
    const float* din = Input(in);
    float* out = Output<float>(in.size());
    Launch(dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 4), [&] { transpose(din, out, rows, cols); });
    std::vector<float> expected(in.size());
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) expected[c * rows + r] = in[r * cols + c];
    }
    Compare(out, expected, 0, 0);
  }
  return Finish();
}
