// SPDX-License-Identifier: Apache-2.0
// Batcher's network: sorts keys with their values in one block, without divergence between equal keys.
#include "program.cuh"

__global__ void Sort(int* keys, int* values, int n) {
  extern __shared__ int shared[];
  int* k = shared;
  int* v = shared + n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) k[i] = keys[i], v[i] = values[i];
  __syncthreads();
  for (int p = 1; p < n; p *= 2) {
    for (int q = p; q > 0; q /= 2) {
      for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int first = q % p, partner = i + q;
        const bool compares = i >= first && (i - first) / q % 2 == 0 && i / (2 * p) == partner / (2 * p);
        if (compares && partner < n && k[i] > k[partner]) {
          const int key = k[i], value = v[i];
          k[i] = k[partner], v[i] = v[partner];
          k[partner] = key, v[partner] = value;
        }
      }
      __syncthreads();
    }
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x) keys[i] = k[i], values[i] = v[i];
}
bool Test(int n) {
  Random random(n);
  std::vector<int> keys(n), values(n);
  for (int i = 0; i < n; ++i) keys[i] = random.Below(10000), values[i] = keys[i] * 3 + 1;
  std::vector<int> expected = keys, expected_values(n);
  std::sort(expected.begin(), expected.end());
  for (int i = 0; i < n; ++i) expected_values[i] = expected[i] * 3 + 1;
  Device<int> dkeys(keys), dvalues(values);
  Sort<<<1, 64, 2 * n * sizeof(int)>>>(dkeys, dvalues, n);
  return Equal(dkeys.Host(), expected, 0) && Equal(dvalues.Host(), expected_values, 0);
}
int main() {
  const bool ok = Test(1) && Test(2) && Test(77) && Test(256);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
