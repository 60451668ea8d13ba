// SPDX-License-Identifier: Apache-2.0
// Variables at multiples of more than a page, as tiles for swizzled copies are declared.
#include <cstdio>

__device__ __align__(8192) int table[4];

__global__ void reverse(int* out, unsigned long long* remainders) {
  extern __shared__ __align__(16 * 1024) int tile[];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[31 - threadIdx.x];
  if (threadIdx.x > 0) return;
  remainders[0] = __cvta_generic_to_shared(tile) % (16 * 1024);
  remainders[1] = (unsigned long long)table % 8192;
}

int main() {
  int* out;
  unsigned long long* remainders;
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMalloc(&remainders, 2 * sizeof(unsigned long long));
  reverse<<<1, 32, 32 * sizeof(int)>>>(out, remainders);
  int first;
  unsigned long long rest[2];
  cudaMemcpy(&first, out, sizeof(first), cudaMemcpyDeviceToHost);
  cudaMemcpy(rest, remainders, sizeof(rest), cudaMemcpyDeviceToHost);
  cudaFree(out);
  cudaFree(remainders);
  const bool ok = first == 31 && rest[0] == 0 && rest[1] == 0;
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
