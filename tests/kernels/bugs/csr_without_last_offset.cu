// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=7 words=there are as many offsets as rows, not one more
#include "program.cuh"

__global__ void Lengths(const int* starts, int* out, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) out[row] = starts[row + 1] - starts[row];
}
int main() {
  std::vector<int> starts(100);
  for (int i = 0; i < 100; ++i) starts[i] = 3 * i;
  Device<int> dstarts(starts), out(100);
  Lengths<<<1, 128>>>(dstarts, out, 100);
  const bool ok = Equal(out.Host(), std::vector<int>(100, 3), 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
