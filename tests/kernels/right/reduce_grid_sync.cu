// SPDX-License-Identifier: Apache-2.0
// Mean, then the sum of squared differences from it, in one cooperative launch with two grid-wide barriers.
#include "program.cuh"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
__global__ void Variance(const float* in, float* parts, float* out, int n) {
  const cg::grid_group grid = cg::this_grid();
  __shared__ float sum;
  float mean = 0;
  for (int pass = 0; pass < 2; ++pass) {
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
      v += pass == 0 ? in[i] : (in[i] - mean) * (in[i] - mean);
    atomicAdd(&sum, v);
    __syncthreads();
    if (threadIdx.x == 0) parts[pass * gridDim.x + blockIdx.x] = sum;
    grid.sync();
    mean = 0;
    for (int i = 0; i < gridDim.x; ++i) mean += parts[pass * gridDim.x + i];
    mean /= n;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *out = mean;
}
bool Test(int n) {
  const std::vector<float> in = Random(n).Values(n);
  double mean = 0;
  std::vector<double> expected(1);
  for (float v : in) mean += double(v) / n;
  for (float v : in) expected[0] += (v - mean) * (v - mean) / n;
  Device<float> din(in), parts(8), out(1);
  const float* in_pointer = din;
  float *parts_pointer = parts, *out_pointer = out;
  void* arguments[] = {&in_pointer, &parts_pointer, &out_pointer, &n};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(Variance), dim3(4), dim3(64), arguments, 0, nullptr));
  return Equal(out.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1) && Test(255) && Test(3001);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
