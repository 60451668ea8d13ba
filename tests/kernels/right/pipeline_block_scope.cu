// SPDX-License-Identifier: Apache-2.0
// A cuda::pipeline of the whole block, whose shared state holds mbarriers, three stages.
#include "program.cuh"
#include <cooperative_groups.h>

#include <cuda/pipeline>
#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;
constexpr int kStages = 3, kChunk = 256;
__global__ void Scale(const float* in, float* out, int chunks) {
  __shared__ __align__(16) float stages[kStages][kChunk];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const cg::thread_block block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int fetch = 0, use = 0; use < chunks; ++use) {
    for (; fetch < chunks && fetch < use + kStages; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stages[fetch % kStages], in + fetch * kChunk,
                         cuda::aligned_size_t<16>(kChunk * sizeof(float)), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    for (int i = threadIdx.x; i < kChunk; i += blockDim.x)
      out[use * kChunk + i] = 2 * stages[use % kStages][kChunk - 1 - i];
    pipe.consumer_release();
  }
}
bool Test(int chunks) {
  const std::vector<float> in = Random(chunks).Values(chunks * kChunk);
  std::vector<double> expected(in.size());
  for (size_t i = 0; i < in.size(); ++i) expected[i] = 2.0 * in[i / kChunk * kChunk + kChunk - 1 - i % kChunk];
  Device<float> din(in), out(in.size());
  Scale<<<1, 64>>>(din, out, chunks);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(3) && Test(8);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
