// SPDX-License-Identifier: Apache-2.0
// Ten steps of heat in a plate with fixed edges, tile and halo in shared memory, two buffers.
#include "program.cuh"

__global__ void Step(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[10][34];
  const int left = blockIdx.x * 32 - 1, top = blockIdx.y * 8 - 1;
  for (int j = threadIdx.y * 32 + threadIdx.x; j < 340; j += 256) {
    const int r = min(max(top + j / 34, 0), rows - 1), c = min(max(left + j % 34, 0), cols - 1);
    tile[j / 34][j % 34] = in[r * cols + c];
  }
  __syncthreads();
  const int x = threadIdx.x + 1, y = threadIdx.y + 1, c = left + x, r = top + y;
  if (r >= rows || c >= cols) return;
  const bool edge = r == 0 || c == 0 || r == rows - 1 || c == cols - 1;
  out[r * cols + c] =
      edge ? tile[y][x]
           : tile[y][x] + 0.2f * (tile[y - 1][x] + tile[y + 1][x] + tile[y][x - 1] + tile[y][x + 1] - 4 * tile[y][x]);
}
bool Test(int rows, int cols) {
  const std::vector<float> in = Random(rows).Values(rows * cols);
  std::vector<double> a(in.begin(), in.end()), b = a;
  for (int step = 0; step < 10; ++step) {
    for (int r = 1; r + 1 < rows; ++r)
      for (int c = 1; c + 1 < cols; ++c) {
        const int i = r * cols + c;
        b[i] = a[i] + 0.2 * (a[i - cols] + a[i + cols] + a[i - 1] + a[i + 1] - 4 * a[i]);
      }
    std::swap(a, b);
  }
  Device<float> da(in), db(in.size());
  float *from = da, *to = db;
  for (int step = 0; step < 10; ++step) {
    Step<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(from, to, rows, cols);
    std::swap(from, to);
  }
  return Equal(da.Host(), a, 1e-5);
}
int main() {
  const bool ok = Test(1, 1) && Test(9, 33) && Test(30, 70);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
