// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=10,12 words=a digit count of 11 doesn't fit into the array
#include "program.cuh"

__global__ void Digits(const int* in, int* out, int base, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int digits[4];
  int count = 0;
  for (int v = in[i]; v > 0; v /= base) digits[count++] = v % base;
  int sum = 0;
  for (int j = 0; j < count; ++j) sum += digits[j] * (j + 1);
  out[i] = sum;
}
int main() {
  const int n = 100;
  Random random(n);
  std::vector<int> in(n), expected(100);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    for (int v = in[i], j = 1; v > 0; v /= 2, ++j) expected[i] += v % 2 * j;
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Digits<<<1, 128>>>(din, out, 2, n);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
