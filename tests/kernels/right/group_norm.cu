// SPDX-License-Identifier: Apache-2.0
// Group norm of [batch][channel][pixel]: one block a group of channels.
#include "program.cuh"

__global__ void GroupNorm(const float* in, const float* gamma, const float* beta, float* out, int channels, int pixels,
                          int groups) {
  __shared__ float sums[2];
  const int per_group = channels / groups, count = per_group * pixels;
  const int first_channel = blockIdx.x % groups * per_group;
  in += static_cast<size_t>(blockIdx.x) * count;
  out += static_cast<size_t>(blockIdx.x) * count;
  if (threadIdx.x < 2) sums[threadIdx.x] = 0;
  __syncthreads();
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += in[i], squares += in[i] * in[i];
  atomicAdd(&sums[0], sum);
  atomicAdd(&sums[1], squares);
  __syncthreads();
  const float mean = sums[0] / count, scale = rsqrtf(sums[1] / count - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const int channel = first_channel + i / pixels;
    out[i] = (in[i] - mean) * scale * gamma[channel] + beta[channel];
  }
}
bool Test(int batch, int channels, int pixels, int groups) {
  Random random(channels + pixels);
  const std::vector<float> in = random.Values(batch * channels * pixels), gamma = random.Values(channels),
                           beta = random.Values(channels);
  std::vector<double> expected(in.size());
  const int count = channels / groups * pixels;
  for (int g = 0; g < batch * groups; ++g) {
    double mean = 0, variance = 0;
    for (int i = 0; i < count; ++i) mean += double(in[g * count + i]) / count;
    for (int i = 0; i < count; ++i) variance += (in[g * count + i] - mean) * (in[g * count + i] - mean) / count;
    for (int i = 0; i < count; ++i) {
      const int c = g % groups * (channels / groups) + i / pixels;
      expected[g * count + i] = (in[g * count + i] - mean) / std::sqrt(variance + 1e-5) * gamma[c] + beta[c];
    }
  }
  Device<float> din(in), dgamma(gamma), dbeta(beta), out(in.size());
  GroupNorm<<<batch * groups, 96>>>(din, dgamma, dbeta, out, channels, pixels, groups);
  return Equal(out.Host(), expected, 2e-4);
}
int main() {
  const bool ok = Test(1, 2, 5, 1) && Test(2, 6, 49, 3) && Test(3, 8, 100, 4);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
