// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk: a kilobyte in by one instruction that completes an mbarrier, and out again (sm_90).
#include "program.cuh"

__device__ unsigned Address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__global__ void Double(const float* in, float* out) {
  __shared__ __align__(128) float tile[256];
  __shared__ __align__(8) uint64_t barrier;
  const int t = threadIdx.x;
  in += blockIdx.x * 256;
  out += blockIdx.x * 256;
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(Address(&barrier)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("{ .reg .b64 token; mbarrier.arrive.expect_tx.shared.b64 token, [%0], 1024; }" ::"r"(Address(&barrier))
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(
                     Address(tile)),
                 "l"(in), "r"(Address(&barrier))
                 : "memory");
  }
  __syncthreads();
  unsigned done = 0;
  while (done == 0)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(Address(&barrier))
                 : "memory");
  for (int i = t; i < 256; i += blockDim.x) tile[i] *= 2;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(out), "r"(Address(tile))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
bool Test(int blocks) {
  const std::vector<float> in = Random(blocks).Values(blocks * 256);
  std::vector<double> expected(in.size());
  for (size_t i = 0; i < in.size(); ++i) expected[i] = 2.0 * in[i];
  Device<float> din(in), out(in.size());
  Double<<<blocks, 64>>>(din, out);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(3);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
