// SPDX-License-Identifier: Apache-2.0
// [batch][token][head][channel] to [batch][head][token][channel], by indices of 64 bits.
#include "program.cuh"

__global__ void Permute(const float* in, float* out, int tokens, int heads, int channels, int64_t count) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int64_t c = i % channels, t = i / channels % tokens, h = i / channels / tokens % heads,
                b = i / channels / tokens / heads;
  out[i] = in[((b * tokens + t) * heads + h) * channels + c];
}
bool Test(int batch, int tokens, int heads, int channels) {
  const std::vector<float> in = Random(tokens).Values(batch * tokens * heads * channels);
  std::vector<float> expected;
  for (int b = 0; b < batch; ++b)
    for (int h = 0; h < heads; ++h)
      for (int t = 0; t < tokens; ++t)
        for (int c = 0; c < channels; ++c) expected.push_back(in[((b * tokens + t) * heads + h) * channels + c]);
  Device<float> din(in), out(in.size());
  Permute<<<(in.size() + 255) / 256, 256>>>(din, out, tokens, heads, channels, in.size());
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1, 1, 1, 1) && Test(2, 5, 3, 7) && Test(1, 33, 4, 16);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
