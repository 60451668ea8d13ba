// SPDX-License-Identifier: Apache-2.0
// Merges two sorted arrays: each thread finds its place on the merge path by bisection and merges eight elements.
#include "program.cuh"

__global__ void Merge(const int* a, int na, const int* b, int nb, int* out) {
  const int diagonal = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  if (diagonal >= na + nb) return;
  int low = max(0, diagonal - nb), high = min(diagonal, na);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (a[middle] <= b[diagonal - 1 - middle])
      low = middle + 1;
    else
      high = middle;
  }
  int i = low, j = diagonal - low;
  for (int k = diagonal; k < min(diagonal + 8, na + nb); ++k) {
    const bool from_a = j >= nb || (i < na && a[i] <= b[j]);
    out[k] = from_a ? a[i++] : b[j++];
  }
}
bool Test(int na, int nb) {
  Random random(na + 3 * nb);
  std::vector<int> a(na), b(nb);
  for (int& v : a) v = random.Below(500);
  for (int& v : b) v = random.Below(500);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  std::vector<int> expected = a;
  expected.insert(expected.end(), b.begin(), b.end());
  std::sort(expected.begin(), expected.end());
  Device<int> da(a), db(b), out(na + nb);
  Merge<<<(na + nb + 511) / 512, 64>>>(da, na, db, nb, out);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1, 1) && Test(100, 7) && Test(513, 1000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
