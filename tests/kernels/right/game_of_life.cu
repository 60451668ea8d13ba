// SPDX-License-Identifier: Apache-2.0
// Generations on a torus, from buffer to buffer.
#include "program.cuh"

__global__ void Step(const unsigned char* in, unsigned char* out, int rows, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  int neighbours = 0;
  for (int dr = -1; dr <= 1; ++dr)
    for (int dc = -1; dc <= 1; ++dc)
      if (dr != 0 || dc != 0) neighbours += in[(r + dr + rows) % rows * cols + (c + dc + cols) % cols];
  out[r * cols + c] = neighbours == 3 || (neighbours == 2 && in[r * cols + c]);
}
bool Test(int rows, int cols, int generations) {
  Random random(rows * cols);
  std::vector<unsigned char> cells(rows * cols);
  for (unsigned char& cell : cells) cell = static_cast<unsigned char>(random.Below(2));
  Device<unsigned char> a(cells), b(cells.size());
  unsigned char *from = a, *to = b;
  for (int g = 0; g < generations; ++g) {
    Step<<<dim3((cols + 7) / 8, (rows + 7) / 8), dim3(8, 8)>>>(from, to, rows, cols);
    std::swap(from, to);
    const std::vector<unsigned char> old = cells;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) {
        int sum = -old[r * cols + c];
        for (int i = 0; i < 9; ++i) sum += old[(r + i / 3 + rows - 1) % rows * cols + (c + i % 3 + cols - 1) % cols];
        cells[r * cols + c] = sum == 3 || (sum == 2 && old[r * cols + c]);
      }
  }
  return Equal((generations % 2 == 0 ? a : b).Host(), cells, 0);
}
int main() {
  const bool ok = Test(1, 1, 2) && Test(9, 17, 5) && Test(40, 33, 6);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
