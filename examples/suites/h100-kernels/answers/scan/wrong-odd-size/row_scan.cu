#include <cuda_runtime.h>

extern "C" __global__ void row_scan(const int* __restrict__ in, int* __restrict__ out, int cols) {
  __shared__ int sums[4];
  const size_t row = (size_t)blockIdx.x * cols;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int carried = 0;
  for (int first = 0; first < cols; first += blockDim.x) {
    const int c = first + threadIdx.x;
    int sum = c <= cols ? in[row + c] : 0;
    for (int delta = 1; delta < 32; delta *= 2) {
      const int before = __shfl_up_sync(0xffffffffu, sum, delta);
      if (lane >= delta) sum += before;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    int total = 0;
    for (int w = 0; w < blockDim.x / 32; ++w) {
      if (w == warp) sum += carried + total;
      total += sums[w];
    }
    carried += total;
    if (c < cols) out[row + c] = sum;
    __syncthreads();
  }
}
