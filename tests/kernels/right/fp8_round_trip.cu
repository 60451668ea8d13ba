// SPDX-License-Identifier: Apache-2.0
// Floats to e4m3 and back: each must come out as one of the nearest of the format's values.
#include "program.cuh"
#include <cuda_fp8.h>

__global__ void RoundTrip(const float* in, unsigned char* codes, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __nv_fp8_e4m3 q(in[i]);
  codes[i] = q.__x;
  out[i] = static_cast<float>(q);
}
double Decode(int code) {
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  const double magnitude =
      exponent == 0 ? mantissa / 8.0 * std::pow(2, -6) : (1 + mantissa / 8.0) * std::pow(2, exponent - 7);
  return code & 128 ? -magnitude : magnitude;
}
bool Test(int n) {
  std::vector<float> in = Random(n).Values(n);
  for (int i = 0; i < n; ++i) in[i] *= i % 3 == 0 ? 440.0f : i % 3 == 1 ? 1.0f : 0.01f;
  Device<float> din(in), out(n);
  Device<unsigned char> codes(n);
  RoundTrip<<<(n + 63) / 64, 64>>>(din, codes, out, n);
  const std::vector<float> got = out.Host();
  const std::vector<unsigned char> code = codes.Host();
  std::vector<double> decoded(n), distance(n), nearest(n, INFINITY);
  for (int i = 0; i < n; ++i) {
    decoded[i] = Decode(code[i]);
    distance[i] = std::fabs(in[i] - decoded[i]);
    for (int c = 0; c < 256; ++c)
      if ((c & 127) != 127) nearest[i] = std::fmin(nearest[i], std::fabs(in[i] - Decode(c)));
  }
  return Equal(got, decoded, 0) && Equal(distance, nearest, 0);
}
int main() {
  const bool ok = Test(1) && Test(65) && Test(900);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
