// SPDX-License-Identifier: Apache-2.0
// Rows of a table by index, with 64-bit offsets, and the gradient scattered back by atomics.
#include "program.cuh"

__global__ void Gather(const float* table, const int64_t* ids, float* out, int dim) {
  const int64_t row = ids[blockIdx.x];
  for (int i = threadIdx.x; i < dim; i += blockDim.x)
    out[static_cast<int64_t>(blockIdx.x) * dim + i] = row < 0 ? 0 : table[row * dim + i];
}
__global__ void Scatter(const float* gradient, const int64_t* ids, float* table, int dim) {
  const int64_t row = ids[blockIdx.x];
  if (row < 0) return;
  for (int i = threadIdx.x; i < dim; i += blockDim.x)
    atomicAdd(&table[row * dim + i], gradient[static_cast<int64_t>(blockIdx.x) * dim + i]);
}
bool Test(int rows, int dim, int count) {
  Random random(rows);
  const std::vector<float> table = random.Values(rows * dim);
  std::vector<int64_t> ids(count);
  std::vector<double> gathered(count * dim), sums(rows * dim);
  for (int i = 0; i < count; ++i) {
    ids[i] = i % 5 == 4 ? -1 : random.Below(rows);
    for (int d = 0; d < dim && ids[i] >= 0; ++d) {
      gathered[i * dim + d] = table[ids[i] * dim + d];
      sums[ids[i] * dim + d] += table[ids[i] * dim + d];
    }
  }
  Device<float> dtable(table), out(count * dim), back(std::vector<float>(rows * dim, 0.0f));
  Device<int64_t> dids(ids);
  Gather<<<count, 64>>>(dtable, dids, out, dim);
  Scatter<<<count, 64>>>(out, dids, back, dim);
  return Equal(out.Host(), gathered, 0) && Equal(back.Host(), sums, 1e-5);
}
int main() {
  const bool ok = Test(1, 1, 1) && Test(10, 65, 12) && Test(100, 32, 60);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
