// SPDX-License-Identifier: Apache-2.0
// 5 x 5 convolution of several channels into one, filters in constant memory, padded with zeros.
#include "program.cuh"

__constant__ float filters[8 * 25];
__global__ void Convolve(const float* in, float* out, int channels, int rows, int cols) {
  __shared__ float tile[20][20];
  const int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum = 0;
  for (int c = 0; c < channels; ++c) {
    for (int i = y * 16 + x; i < 400; i += 256) {
      const int r = static_cast<int>(blockIdx.y) * 16 + i / 20 - 2, s = static_cast<int>(blockIdx.x) * 16 + i % 20 - 2;
      tile[i / 20][i % 20] = r >= 0 && r < rows && s >= 0 && s < cols ? in[(c * rows + r) * cols + s] : 0;
    }
    __syncthreads();
    for (int i = 0; i < 25; ++i) sum += tile[y + i / 5][x + i % 5] * filters[c * 25 + i];
    __syncthreads();
  }
  if (row < rows && col < cols) out[row * cols + col] = sum;
}
bool Test(int channels, int rows, int cols) {
  Random random(rows);
  const std::vector<float> in = random.Values(channels * rows * cols), f = random.Values(channels * 25);
  std::vector<double> expected(rows * cols);
  for (int r = 0; r < rows; ++r)
    for (int s = 0; s < cols; ++s)
      for (int c = 0; c < channels; ++c)
        for (int i = 0; i < 25; ++i) {
          const int y = r + i / 5 - 2, x = s + i % 5 - 2;
          if (y >= 0 && y < rows && x >= 0 && x < cols)
            expected[r * cols + s] += double(in[(c * rows + y) * cols + x]) * f[c * 25 + i];
        }
  CHECK(cudaMemcpyToSymbol(filters, f.data(), f.size() * sizeof(float)));
  Device<float> din(in), out(rows * cols);
  Convolve<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(din, out, channels, rows, cols);
  return Equal(out.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1, 1, 1) && Test(3, 17, 30) && Test(8, 33, 16);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
