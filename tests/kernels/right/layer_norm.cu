// SPDX-License-Identifier: Apache-2.0
// Layer norm of rows with Welford's means and variances, merged across the block.
#include "program.cuh"

struct Moments {
  float count, mean, m2;
};
__device__ Moments Merge(Moments a, Moments b) {
  const float count = a.count + b.count;
  if (count == 0) return a;
  const float delta = b.mean - a.mean;
  return {count, a.mean + delta * b.count / count, a.m2 + b.m2 + delta * delta * a.count * b.count / count};
}
__global__ void LayerNorm(const float* in, const float* gamma, const float* beta, float* out, int cols, float epsilon) {
  __shared__ Moments all[64];
  in += static_cast<size_t>(blockIdx.x) * cols;
  out += static_cast<size_t>(blockIdx.x) * cols;
  Moments own = {0, 0, 0};
  for (int i = threadIdx.x; i < cols; i += 64) own = Merge(own, {1, in[i], 0});
  all[threadIdx.x] = own;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) all[threadIdx.x] = Merge(all[threadIdx.x], all[threadIdx.x + half]);
    __syncthreads();
  }
  const float mean = all[0].mean, scale = rsqrtf(all[0].m2 / cols + epsilon);
  for (int i = threadIdx.x; i < cols; i += 64) out[i] = (in[i] - mean) * scale * gamma[i] + beta[i];
}
bool Test(int rows, int cols) {
  Random random(cols);
  std::vector<float> in = random.Values(rows * cols);
  const std::vector<float> gamma = random.Values(cols), beta = random.Values(cols);
  for (float& v : in) v = v * 3 + 100;  // far from zero, where sums of squares lose everything
  std::vector<double> expected(in.size());
  for (int r = 0; r < rows; ++r) {
    double mean = 0, variance = 0;
    for (int c = 0; c < cols; ++c) mean += double(in[r * cols + c]) / cols;
    for (int c = 0; c < cols; ++c) variance += (in[r * cols + c] - mean) * (in[r * cols + c] - mean) / cols;
    for (int c = 0; c < cols; ++c)
      expected[r * cols + c] = (in[r * cols + c] - mean) / std::sqrt(variance + 1e-5) * gamma[c] + beta[c];
  }
  Device<float> din(in), dgamma(gamma), dbeta(beta), out(in.size());
  LayerNorm<<<rows, 64>>>(din, dgamma, dbeta, out, cols, 1e-5f);
  return Equal(out.Host(), expected, 1e-3);
}
int main() {
  const bool ok = Test(2, 2) && Test(3, 65) && Test(4, 777);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
