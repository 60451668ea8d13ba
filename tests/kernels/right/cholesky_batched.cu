// SPDX-License-Identifier: Apache-2.0
// Factors many small positive definite matrices, a warp each, in shared memory.
#include "program.cuh"

constexpr int kSize = 12;
__global__ void Cholesky(const float* in, float* out, int count) {
  __shared__ float all[4][kSize][kSize + 1];
  const int lane = threadIdx.x, which = blockIdx.x * 4 + threadIdx.y;
  if (which >= count) return;
  float(*m)[kSize + 1] = all[threadIdx.y];
  for (int i = lane; i < kSize * kSize; i += 32) m[i / kSize][i % kSize] = in[which * kSize * kSize + i];
  __syncwarp();
  for (int k = 0; k < kSize; ++k) {
    const float pivot = sqrtf(m[k][k]);
    __syncwarp();
    if (lane == k) m[k][k] = pivot;
    if (lane > k && lane < kSize) m[lane][k] /= pivot;
    __syncwarp();
    for (int i = lane; i < kSize * kSize; i += 32) {
      const int r = i / kSize, c = i % kSize;
      if (c > k && r >= c) m[r][c] -= m[r][k] * m[c][k];
    }
    __syncwarp();
  }
  for (int i = lane; i < kSize * kSize; i += 32)
    out[which * kSize * kSize + i] = i / kSize >= i % kSize ? m[i / kSize][i % kSize] : 0;
}
bool Test(int count) {
  Random random(count);
  std::vector<float> in;
  std::vector<double> expected;
  for (int b = 0; b < count; ++b) {
    const std::vector<float> g = random.Values(kSize * kSize);
    double l[kSize][kSize] = {};
    std::vector<float> a(kSize * kSize);
    for (int i = 0; i < kSize * kSize; ++i) {
      double sum = i / kSize == i % kSize ? 2 : 0;
      for (int k = 0; k < kSize; ++k) sum += double(g[i / kSize * kSize + k]) * g[i % kSize * kSize + k];
      a[i] = static_cast<float>(sum);
    }
    for (int r = 0; r < kSize; ++r)
      for (int c = 0; c <= r; ++c) {
        double sum = a[r * kSize + c];
        for (int k = 0; k < c; ++k) sum -= l[r][k] * l[c][k];
        l[r][c] = r == c ? std::sqrt(sum) : sum / l[c][c];
      }
    in.insert(in.end(), a.begin(), a.end());
    expected.insert(expected.end(), &l[0][0], &l[0][0] + kSize * kSize);
  }
  Device<float> din(in), out(in.size());
  Cholesky<<<(count + 3) / 4, dim3(32, 4)>>>(din, out, count);
  return Equal(out.Host(), expected, 1e-4);
}
int main() {
  const bool ok = Test(1) && Test(5) && Test(20);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
