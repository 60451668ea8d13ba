// SPDX-License-Identifier: Apache-2.0
// A histogram whose bins are spread over the shared memory of a cluster of four blocks (sm_90).
#include "program.cuh"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
constexpr int kBins = 256;
constexpr int kBlocks = 4;
__global__ void Histogram(const int* in, int n, int* bins) {
  __shared__ int own[kBins / kBlocks];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < kBins / kBlocks; i += blockDim.x) own[i] = 0;
  cluster.sync();
  const int first = cluster.block_rank() * blockDim.x + threadIdx.x;
  for (int i = first; i < n; i += kBlocks * blockDim.x) {
    const int bin = in[i];
    int* there = cluster.map_shared_rank(own, bin / (kBins / kBlocks));
    atomicAdd(there + bin % (kBins / kBlocks), 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < kBins / kBlocks; i += blockDim.x) {
    atomicAdd(&bins[cluster.block_rank() * (kBins / kBlocks) + i], own[i]);
  }
}
bool Test(int n) {
  Random random(n);
  std::vector<int> in(n), expected(kBins);
  for (int& value : in) ++expected[value = random.Below(kBins)];
  Device<int> din(in), bins(std::vector<int>(kBins, 0));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(kBlocks);
  config.blockDim = dim3(96);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = kBlocks;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, Histogram, static_cast<const int*>(din), n, static_cast<int*>(bins)));
  return Equal(bins.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1000) && Test(3001);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
