#include <cuda_runtime.h>
#include <math.h>

extern "C" __global__ void cross_entropy(const float* __restrict__ logits, const int* __restrict__ labels,
                                         float* __restrict__ loss, int classes, int ignored) {
  __shared__ float tops[128], sums[128];
  const float* row = logits + (size_t)blockIdx.x * classes;
  float top = -INFINITY, sum = 0.0f;
  for (int c = threadIdx.x; c < classes; c += blockDim.x) {
    const float higher = fmaxf(top, row[c]);
    sum = sum * expf(top - higher) + expf(row[c] - higher);
    top = higher;
  }
  tops[threadIdx.x] = top;
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half && tops[threadIdx.x + half] > -INFINITY) {
      const float other = tops[threadIdx.x + half];
      const float higher = fmaxf(tops[threadIdx.x], other);
      sums[threadIdx.x] = sums[threadIdx.x] * expf(tops[threadIdx.x] - higher) +
                          sums[threadIdx.x + half] * expf(other - higher);
      tops[threadIdx.x] = higher;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    const int label = labels[blockIdx.x];
    loss[blockIdx.x] = label == ignored ? 0.0f : logf(sums[0]) + (tops[0] - row[label]);
  }
}
