// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention with causal mask, a block a query, the scores in dynamic shared memory.
#include "program.cuh"

__global__ void Attention(const float* q, const float* k, const float* v, float* out, int dim) {
  extern __shared__ float scores[];
  const int query = blockIdx.x, count = query + 1, t = threadIdx.x;
  for (int j = t; j < count; j += blockDim.x) {
    float dot = 0;
    for (int i = 0; i < dim; ++i) dot += q[query * dim + i] * k[j * dim + i];
    scores[j] = dot * rsqrtf(static_cast<float>(dim));
  }
  __syncthreads();
  float largest = -INFINITY;
  for (int j = 0; j < count; ++j) largest = fmaxf(largest, scores[j]);
  float sum = 0;
  for (int j = 0; j < count; ++j) sum += expf(scores[j] - largest);
  for (int i = t; i < dim; i += blockDim.x) {
    float value = 0;
    for (int j = 0; j < count; ++j) value += expf(scores[j] - largest) * v[j * dim + i];
    out[query * dim + i] = value / sum;
  }
}
bool Test(int tokens, int dim) {
  Random random(tokens);
  const std::vector<float> q = random.Values(tokens * dim), k = random.Values(tokens * dim),
                           v = random.Values(tokens * dim);
  std::vector<double> expected(tokens * dim);
  for (int i = 0; i < tokens; ++i) {
    std::vector<double> weights(i + 1);
    double sum = 0;
    for (int j = 0; j <= i; ++j) {
      double dot = 0;
      for (int d = 0; d < dim; ++d) dot += double(q[i * dim + d]) * k[j * dim + d];
      sum += weights[j] = std::exp(dot / std::sqrt(double(dim)));
    }
    for (int j = 0; j <= i; ++j)
      for (int d = 0; d < dim; ++d) expected[i * dim + d] += weights[j] / sum * v[j * dim + d];
  }
  Device<float> dq(q), dk(k), dv(v), out(tokens * dim);
  Attention<<<tokens, 32, tokens * sizeof(float)>>>(dq, dk, dv, out, dim);
  return Equal(out.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1, 3) && Test(7, 20) && Test(50, 33);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
