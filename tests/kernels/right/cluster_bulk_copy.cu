// SPDX-License-Identifier: Apache-2.0
// Each block of a cluster sends its tile to the next one by a bulk copy, which completes an mbarrier there (sm_90).
#include "program.cuh"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
constexpr int kTile = 64;
__device__ unsigned Shared(const void* pointer) { return static_cast<unsigned>(__cvta_generic_to_shared(pointer)); }
__device__ unsigned Remote(unsigned address, unsigned rank) {
  unsigned result;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(address), "r"(rank));
  return result;
}
__global__ void __cluster_dims__(2, 2, 1) Rotate(const float* in, float* out) {
  __shared__ alignas(128) float own[kTile];
  __shared__ alignas(128) float received[kTile];
  __shared__ alignas(8) unsigned long long full;
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  const int block = blockIdx.y * gridDim.x + blockIdx.x;
  own[threadIdx.x] = in[block * kTile + threadIdx.x];
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(Shared(&full)));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(Shared(&full)), "r"(kTile * 4));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  cluster.sync();
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            Remote(Shared(received), next)),
        "r"(Shared(own)), "r"(kTile * 4), "r"(Remote(Shared(&full), next))
        : "memory");
  }
  unsigned done = 0;
  while (!done) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(Shared(&full))
        : "memory");
  }
  out[block * kTile + threadIdx.x] = received[threadIdx.x];
  cluster.sync();
}
bool Test(int columns, int rows) {
  const std::vector<float> in = Random(columns).Values(size_t(columns) * rows * kTile);
  std::vector<float> expected(in.size());
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) {
      const int rank = x % 2 + y % 2 * 2, from = (rank + 3) % 4;
      const int source = (y / 2 * 2 + from / 2) * columns + x / 2 * 2 + from % 2;
      for (int i = 0; i < kTile; ++i) expected[(y * columns + x) * kTile + i] = in[source * kTile + i];
    }
  }
  Device<float> din(in), out(in.size());
  Rotate<<<dim3(columns, rows), kTile>>>(din, out);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(2, 2) && Test(6, 4);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
