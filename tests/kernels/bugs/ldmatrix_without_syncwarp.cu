// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=8,11 words=ldmatrix reads what other lanes have stored, with nothing between
#include "program.cuh"

__global__ void Permute(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[32];
  const int lane = threadIdx.x;
  tile[lane] = in[lane];
  unsigned v;
  const unsigned row = static_cast<unsigned>(__cvta_generic_to_shared(&tile[lane % 8 * 4]));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(v) : "r"(row) : "memory");
  out[lane] = v;
}
int main() {
  std::vector<unsigned> in(32);
  for (unsigned i = 0; i < 32; ++i) in[i] = i * 77777;
  Device<unsigned> din(in), out(32);
  Permute<<<1, 32>>>(din, out);
  const bool ok = Equal(out.Host(), in, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
