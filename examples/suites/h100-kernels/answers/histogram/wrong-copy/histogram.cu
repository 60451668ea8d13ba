#include <cuda_runtime.h>

extern "C" __global__ void histogram(const unsigned char* __restrict__ in, unsigned int* __restrict__ counts, int n) {
  __shared__ unsigned int local[256];
  for (int value = threadIdx.x; value < 256; value += blockDim.x) local[value] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[in[i]], 1u);
  __syncthreads();
  for (int value = threadIdx.x; value < 256; value += blockDim.x) {
    if (local[value] != 0) atomicExch(&counts[value], (unsigned int)in[0]);
  }
}
