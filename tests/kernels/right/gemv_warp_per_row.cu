// SPDX-License-Identifier: Apache-2.0
// y = a x, a warp a row, four floats a load where the row is aligned to them.
#include "program.cuh"

__global__ void Gemv(const float* a, const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  const float* line = a + static_cast<size_t>(row) * cols;
  float sum = 0;
  if (cols % 4 == 0) {
    for (int i = lane; i < cols / 4; i += 32) {
      const float4 p = reinterpret_cast<const float4*>(line)[i], q = reinterpret_cast<const float4*>(x)[i];
      sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    }
  } else {
    for (int i = lane; i < cols; i += 32) sum += line[i] * x[i];
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  if (lane == 0) y[row] = sum;
}
bool Test(int rows, int cols) {
  Random random(rows + cols);
  const std::vector<float> a = random.Values(rows * cols), x = random.Values(cols);
  std::vector<double> expected(rows);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c) expected[r] += double(a[r * cols + c]) * x[c];
  Device<float> da(a), dx(x), y(rows);
  Gemv<<<(rows + 3) / 4, dim3(32, 4)>>>(da, dx, y, rows, cols);
  return Equal(y.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1, 1) && Test(7, 100) && Test(33, 257);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
