// SPDX-License-Identifier: Apache-2.0
// Three arrays of different types in one piece of dynamic shared memory, more than 48 KiB of it.
#include "program.cuh"

__global__ void Sort(const double* keys, const short* tags, double* out, short* tag_out, int n) {
  extern __shared__ double memory[];
  double* k = memory;
  int* place = reinterpret_cast<int*>(k + n);
  short* g = reinterpret_cast<short*>(place + n);
  for (int i = threadIdx.x; i < n; i += blockDim.x) k[i] = keys[i], g[i] = tags[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int rank = 0;
    for (int j = 0; j < n; ++j) rank += k[j] < k[i] || (k[j] == k[i] && j < i);
    place[rank] = i;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = k[place[i]], tag_out[i] = g[place[i]];
}
bool Test(int n, size_t spare) {
  Random random(n);
  std::vector<double> keys(n);
  std::vector<short> tags(n);
  for (int i = 0; i < n; ++i) keys[i] = random.Below(200), tags[i] = static_cast<short>(i);
  std::vector<short> order = tags;
  std::stable_sort(order.begin(), order.end(), [&](short a, short b) { return keys[a] < keys[b]; });
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = keys[order[i]];
  Device<double> dkeys(keys), out(n);
  Device<short> dtags(tags), tag_out(n);
  const size_t bytes = n * (sizeof(double) + sizeof(int) + sizeof(short)) + spare;
  CHECK(cudaFuncSetAttribute(Sort, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  Sort<<<1, 128, bytes>>>(dkeys, dtags, out, tag_out, n);
  return Equal(out.Host(), expected, 0) && Equal(tag_out.Host(), order, 0);
}
int main() {
  const bool ok = Test(1, 0) && Test(333, 0) && Test(400, 60000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
