// SPDX-License-Identifier: Apache-2.0
// Causal attention in one pass: keys and values come in tiles of 32, each thread keeps one query's running maximum, sum
// and output.
#include "program.cuh"

constexpr int kDim = 16;
__global__ void Attention(const float* q, const float* k, const float* v, float* out, int tokens) {
  __shared__ float ks[32][kDim], vs[32][kDim];
  const int query = blockIdx.x * 32 + threadIdx.x;
  float own[kDim], value[kDim] = {};
#pragma unroll
  for (int i = 0; i < kDim; ++i) own[i] = query < tokens ? q[query * kDim + i] * 0.25f : 0;
  float largest = -INFINITY, sum = 0;
  for (int first = 0; first <= blockIdx.x * 32; first += 32) {
    for (int i = threadIdx.x; i < 32 * kDim; i += 32) {
      const bool inside = first + i / kDim < tokens;
      ks[i / kDim][i % kDim] = inside ? k[first * kDim + i] : 0;
      vs[i / kDim][i % kDim] = inside ? v[first * kDim + i] : 0;
    }
    __syncthreads();
    for (int j = 0; j < 32 && first + j <= query; ++j) {
      float dot = 0;
#pragma unroll
      for (int i = 0; i < kDim; ++i) dot += own[i] * ks[j][i];
      const float next = fmaxf(largest, dot), factor = expf(largest - next), weight = expf(dot - next);
      sum = sum * factor + weight;
#pragma unroll
      for (int i = 0; i < kDim; ++i) value[i] = value[i] * factor + weight * vs[j][i];
      largest = next;
    }
    __syncthreads();
  }
  if (query >= tokens) return;
#pragma unroll
  for (int i = 0; i < kDim; ++i) out[query * kDim + i] = value[i] / sum;
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
  Attention<<<(tokens + 31) / 32, 32>>>(dq, dk, dv, out, tokens);
  return Equal(out.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1, kDim) && Test(32, kDim) && Test(77, kDim);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
