// SPDX-License-Identifier: Apache-2.0
// Softmax of rows: maximum, then sum of exponentials, each reduced over the block.
#include "program.cuh"

template <typename Combine>
__device__ float BlockReduce(float v, float neutral, Combine combine) {
  __shared__ float parts[32];
  for (int offset = 16; offset > 0; offset /= 2) v = combine(v, __shfl_xor_sync(0xffffffff, v, offset));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x % 32 < blockDim.x / 32 ? parts[threadIdx.x % 32] : neutral;
  for (int offset = 16; offset > 0; offset /= 2) v = combine(v, __shfl_xor_sync(0xffffffff, v, offset));
  __syncthreads();
  return v;
}
__global__ void Softmax(const float* in, float* out, int cols) {
  in += static_cast<size_t>(blockIdx.x) * cols;
  out += static_cast<size_t>(blockIdx.x) * cols;
  float largest = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) largest = fmaxf(largest, in[i]);
  largest = BlockReduce(largest, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += expf(in[i] - largest);
  sum = BlockReduce(sum, 0, [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < cols; i += blockDim.x) out[i] = expf(in[i] - largest) / sum;
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
  Softmax<<<rows, 128>>>(din, out, cols);
  return Equal(out.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1, 1) && Test(3, 127) && Test(5, 1001);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
