// SPDX-License-Identifier: Apache-2.0
// Binomial coefficients by recursion, each thread to a depth of its own.
#include "program.cuh"

__device__ __noinline__ int Binomial(int n, int k) {
  return k == 0 || k == n ? 1 : Binomial(n - 1, k - 1) + Binomial(n - 1, k);
}
__global__ void Triangle(int* out, int rows) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = i / rows, col = i % rows;
  if (row < rows) out[i] = col <= row ? Binomial(row, col) : 0;
}
bool Test(int rows) {
  std::vector<int> expected(rows * rows);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c <= r; ++c)
      expected[r * rows + c] = c == 0 || c == r ? 1 : expected[(r - 1) * rows + c - 1] + expected[(r - 1) * rows + c];
  Device<int> out(rows * rows);
  Triangle<<<(rows * rows + 31) / 32, 32>>>(out, rows);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(5) && Test(12);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
