// SPDX-License-Identifier: Apache-2.0
// bug: kind=wrong-result line=24 words=400 cooperative blocks of 1,024 threads can't run at the same time: no launch
#include "program.cuh"

__global__ void Fill(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i;
}
int main() {
  constexpr int kBlocks = 400, kThreads = 1024;
  Device<int> out(kBlocks * kThreads);
  cudaLaunchAttribute cooperative;
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = kBlocks;
  config.blockDim = kThreads;
  config.attrs = &cooperative;
  config.numAttrs = 1;
  int* const data = out;
  void* arguments[] = {const_cast<int**>(&data)};
  // With two blocks on each of 132 multiprocessors, 264 fit.
  const void* const kernel = reinterpret_cast<const void*>(Fill);
  CHECK(cudaLaunchKernelExC(&config, kernel, arguments));
  CHECK(cudaDeviceSynchronize());
  std::printf("ok\n");
  return 0;
}
