// SPDX-License-Identifier: Apache-2.0
// Transforms of 256 complex values, radix 2, after reordering by reversed bits, in shared memory.
#include "program.cuh"

__global__ void Fft(const float2* in, float2* out) {
  __shared__ float2 x[256];
  const int t = threadIdx.x;
  in += blockIdx.x * 256;
  out += blockIdx.x * 256;
  for (int i = t; i < 256; i += 128) x[__brev(i) >> 24] = in[i];
  __syncthreads();
  for (int half = 1; half < 256; half *= 2) {
    const int k = t % half, i = t / half * 2 * half + k;
    float sine, cosine;
    sincospif(-static_cast<float>(k) / half, &sine, &cosine);
    const float2 a = x[i], b = x[i + half];
    const float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
    x[i] = make_float2(a.x + turned.x, a.y + turned.y);
    x[i + half] = make_float2(a.x - turned.x, a.y - turned.y);
    __syncthreads();
  }
  for (int i = t; i < 256; i += 128) out[i] = x[i];
}
bool Test(int count) {
  Random random(count);
  std::vector<float2> in(count * 256);
  for (float2& v : in) v = make_float2(random.Uniform(), random.Uniform());
  std::vector<double> expected, got;
  for (int b = 0; b < count; ++b)
    for (int k = 0; k < 256; ++k) {
      double re = 0, im = 0;
      for (int i = 0; i < 256; ++i) {
        const double angle = -2 * 3.14159265358979323846 * (k * i % 256) / 256, c = std::cos(angle),
                     s = std::sin(angle);
        re += in[b * 256 + i].x * c - in[b * 256 + i].y * s;
        im += in[b * 256 + i].x * s + in[b * 256 + i].y * c;
      }
      expected.push_back(re);
      expected.push_back(im);
    }
  Device<float2> din(in), out(in.size());
  Fft<<<count, 128>>>(din, out);
  for (const float2& v : out.Host()) got.push_back(v.x), got.push_back(v.y);
  return Equal(got, expected, 1e-4);
}
int main() {
  const bool ok = Test(1) && Test(5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
