// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=14 words=a block may end while the other still reads its shared memory
#include "program.cuh"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2, 1, 1) PairSums(const float* in, float* out) {
  __shared__ float values[64];
  cg::cluster_group cluster = cg::this_cluster();
  const int i = blockIdx.x * 64 + threadIdx.x;
  values[threadIdx.x] = in[i];
  cluster.sync();
  const float* other = cluster.map_shared_rank(values, cluster.block_rank() ^ 1);
  out[i] = values[threadIdx.x] + other[threadIdx.x];
}
bool Test(int pairs) {
  const std::vector<float> in = Random(pairs).Values(pairs * 128);
  std::vector<double> expected(in.size());
  for (size_t i = 0; i < in.size(); ++i) expected[i] = double(in[i]) + in[i ^ 64];
  Device<float> din(in), out(in.size());
  PairSums<<<2 * pairs, 64>>>(din, out);
  return Equal(out.Host(), expected, 1e-6);
}
int main() {
  const bool ok = Test(1) && Test(3);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
