// SPDX-License-Identifier: Apache-2.0
// Sum: registers by shuffles, then one value a warp in shared memory, then one atomic a block.
#include "program.cuh"

__device__ float WarpSum(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
  return v;
}
__global__ void Sum(const float* in, float* out, int n) {
  __shared__ float parts[8];
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
  v = WarpSum(v);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = WarpSum(threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0);
    if (threadIdx.x == 0) atomicAdd(out, v);
  }
}
bool Test(int n) {
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(1);
  for (float v : in) expected[0] += v;
  Device<float> din(in), out(std::vector<float>(1, 0.0f));
  Sum<<<3, 256>>>(din, out, n);
  return Equal(out.Host(), expected, 1e-4);
}
int main() {
  const bool ok = Test(1) && Test(255) && Test(768) && Test(10007);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
