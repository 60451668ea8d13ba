// SPDX-License-Identifier: Apache-2.0
// bug: kind=misaligned line=11,12 words=pairs of halves in rows of odd length
#include "program.cuh"
#include <cuda_fp16.h>

__global__ void Double(const __half* in, __half* out, int cols) {
  const __half2* from = reinterpret_cast<const __half2*>(in + blockIdx.x * cols);
  __half2* to = reinterpret_cast<__half2*>(out + blockIdx.x * cols);
  const int i = threadIdx.x;
  if (i < cols / 2) {
    const __half2 v = from[i];
    to[i] = __hadd2(v, v);
  }
  if (i == 0)
    out[blockIdx.x * cols + cols - 1] = __hadd(in[blockIdx.x * cols + cols - 1], in[blockIdx.x * cols + cols - 1]);
}
int main() {
  std::vector<__half> in(3 * 21);
  for (size_t i = 0; i < in.size(); ++i) in[i] = __float2half(static_cast<float>(i));
  Device<__half> din(in), out(in.size());
  Double<<<3, 32>>>(din, out, 21);
  const std::vector<__half> got = out.Host();
  bool ok = true;
  for (size_t i = 0; i < in.size(); ++i) ok = ok && __half2float(got[i]) == 2.0f * i;
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
