// SPDX-License-Identifier: Apache-2.0
// y = A x for a sparse matrix in CSR, a warp a row, rows of any length.
#include "program.cuh"

__global__ void Spmv(const int* starts, const int* columns, const float* values, const float* x, float* y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += values[i] * x[columns[i]];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (lane == 0) y[row] = sum;
}
bool Test(int rows, int cols) {
  Random random(rows);
  std::vector<int> starts(1, 0), columns;
  for (int r = 0; r < rows; ++r) {
    for (int i = r % 3 == 0 ? 0 : random.Below(r % 7 == 1 ? 150 : 10); i > 0; --i)
      columns.push_back(random.Below(cols));
    starts.push_back(static_cast<int>(columns.size()));
  }
  columns.push_back(0);  // never empty
  const std::vector<float> values = random.Values(columns.size()), x = random.Values(cols);
  std::vector<double> expected(rows);
  for (int r = 0; r < rows; ++r)
    for (int i = starts[r]; i < starts[r + 1]; ++i) expected[r] += double(values[i]) * x[columns[i]];
  Device<int> dstarts(starts), dcolumns(columns);
  Device<float> dvalues(values), dx(x), y(rows);
  Spmv<<<(rows + 3) / 4, 128>>>(dstarts, dcolumns, dvalues, dx, y, rows);
  return Equal(y.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1, 1) && Test(50, 33) && Test(203, 1000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
