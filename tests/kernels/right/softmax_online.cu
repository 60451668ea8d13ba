// SPDX-License-Identifier: Apache-2.0
// Softmax in one pass over the input: maximum and sum are updated together, then merged across the warp.
#include "program.cuh"

__global__ void Softmax(const float* __restrict__ in, float* __restrict__ out, int rows, int cols) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  in += static_cast<size_t>(row) * cols;
  out += static_cast<size_t>(row) * cols;
  float largest = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < cols; i += 32) {
    const float v = in[i], next = fmaxf(largest, v);
    sum = sum * __expf(largest - next) + __expf(v - next);
    largest = next;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, largest, offset);
    const float other_sum = __shfl_xor_sync(0xffffffff, sum, offset);
    const float next = fmaxf(largest, other);
    if (next > -INFINITY) sum = sum * __expf(largest - next) + other_sum * __expf(other - next);
    largest = next;
  }
  for (int i = threadIdx.x; i < cols; i += 32) out[i] = __expf(in[i] - largest) / sum;
}
bool Test(int rows, int cols) {
  std::vector<float> in = Random(cols).Values(rows * cols);
  for (float& v : in) v = v * 30 + 100;  // exp of it overflows
  std::vector<double> expected(in.size());
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int c = 0; c < cols; ++c) sum += std::exp(double(in[r * cols + c]));
    for (int c = 0; c < cols; ++c) expected[r * cols + c] = std::exp(double(in[r * cols + c])) / sum;
  }
  Device<float> din(in), out(in.size());
  Softmax<<<(rows + 3) / 4, dim3(32, 4)>>>(din, out, rows, cols);
  return Equal(out.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1, 1) && Test(5, 33) && Test(9, 500);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
