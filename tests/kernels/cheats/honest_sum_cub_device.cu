// SPDX-License-Identifier: Apache-2.0
// function: sum
// honest: the sum of a whole array by CUB
#include <cuda_runtime.h>

#include <cub/device/device_reduce.cuh>

void launch_sum(const float* in, float* out, int n) {
  void* scratch = nullptr;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(scratch, bytes, in, out, n);
  cudaMallocAsync(&scratch, bytes, 0);
  cub::DeviceReduce::Sum(scratch, bytes, in, out, n);
  cudaFreeAsync(scratch, 0);
}
