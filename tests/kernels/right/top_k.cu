// SPDX-License-Identifier: Apache-2.0
// The four largest values of each row with their columns: four rounds of a block-wide maximum, the winner struck out.
#include "program.cuh"

__global__ void TopK(const float* in, float* values, int* indices, int cols) {
  extern __shared__ float row[];
  __shared__ float best[64];
  __shared__ int where[64];
  const int t = threadIdx.x;
  for (int i = t; i < cols; i += 64) row[i] = in[blockIdx.x * cols + i];
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    best[t] = -INFINITY;
    where[t] = cols;
    for (int i = t; i < cols; i += 64)
      if (row[i] > best[t]) best[t] = row[i], where[t] = i;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
      if (t < half && (best[t + half] > best[t] || (best[t + half] == best[t] && where[t + half] < where[t]))) {
        best[t] = best[t + half];
        where[t] = where[t + half];
      }
      __syncthreads();
    }
    if (t == 0) {
      values[blockIdx.x * 4 + k] = best[0];
      indices[blockIdx.x * 4 + k] = where[0];
      row[where[0]] = -INFINITY;
    }
    __syncthreads();
  }
}
bool Test(int rows, int cols) {
  const std::vector<float> in = Random(cols).Values(rows * cols);
  std::vector<float> values;
  std::vector<int> indices;
  for (int r = 0; r < rows; ++r) {
    std::vector<float> row(in.begin() + r * cols, in.begin() + (r + 1) * cols);
    for (int k = 0; k < 4; ++k) {
      const auto best = std::max_element(row.begin(), row.end());
      values.push_back(*best);
      indices.push_back(static_cast<int>(best - row.begin()));
      *best = -INFINITY;
    }
  }
  Device<float> din(in), dvalues(rows * 4);
  Device<int> dindices(rows * 4);
  TopK<<<rows, 64, cols * sizeof(float)>>>(din, dvalues, dindices, cols);
  return Equal(dvalues.Host(), values, 0) && Equal(dindices.Host(), indices, 0);
}
int main() {
  const bool ok = Test(1, 4) && Test(3, 63) && Test(2, 1000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
