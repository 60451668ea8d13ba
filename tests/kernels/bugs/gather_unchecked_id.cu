// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=7 words=-1 for padding is used as a row
#include "program.cuh"

__global__ void Gather(const float* table, const int* ids, float* out, int dim) {
  const int i = threadIdx.x;
  if (i < dim) out[blockIdx.x * dim + i] = table[ids[blockIdx.x] * dim + i];
}
int main() {
  const std::vector<float> table = Random(5).Values(10 * 20);
  Device<float> dtable(table), out(60);
  Device<int> ids(std::vector<int>{3, -1, 9});
  Gather<<<3, 32>>>(dtable, ids, out, 20);
  const std::vector<float> got = out.Host();
  const bool ok = got[0] == table[60] && got[20] == 0;
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
