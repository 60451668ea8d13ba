// SPDX-License-Identifier: Apache-2.0
// First index of the largest value in each row: value and index travel together through shuffles.
#include "program.cuh"

__global__ void ArgMax(const float* in, int* out, int cols) {
  const int lane = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
  in += static_cast<size_t>(row) * cols;
  float best = -INFINITY;
  int index = cols;
  for (int i = lane; i < cols; i += 32) {
    if (in[i] > best) best = in[i], index = i;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, best, offset);
    const int other_index = __shfl_xor_sync(0xffffffff, index, offset);
    if (other > best || (other == best && other_index < index)) best = other, index = other_index;
  }
  if (lane == 0) out[row] = index;
}
bool Test(int rows, int cols) {
  Random random(cols);
  std::vector<float> in(rows * cols);
  for (float& v : in) v = static_cast<float>(random.Below(50));  // many ties
  std::vector<int> expected(rows);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c)
      if (in[r * cols + c] > in[r * cols + expected[r]]) expected[r] = c;
  Device<float> din(in);
  Device<int> out(rows);
  ArgMax<<<rows / 4, dim3(32, 4)>>>(din, out, cols);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(4, 1) && Test(8, 31) && Test(16, 333);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
