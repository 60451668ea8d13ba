// SPDX-License-Identifier: Apache-2.0
// Prints from the device in every common format; one thread a block, so that the lines come whole.
#include "program.cuh"

__global__ void Print(const double* values, int* printed, int n) {
  if (threadIdx.x != 0) return;
  const int i = blockIdx.x;
  const int count = printf("value %d of %d: %.3f, %5.1e, %08x, %s, %c, %lld, %%\n", i, n, values[i], values[i],
                           i * 0x1111, i % 2 == 0 ? "even" : "odd", 'a' + i, static_cast<long long>(i) << 40);
  if (count >= 0) atomicAdd(printed, 1);
}
bool Test(int n) {
  std::vector<double> values(n);
  for (int i = 0; i < n; ++i) values[i] = 1.0 / (i + 1);
  Device<double> dvalues(values);
  Device<int> printed(std::vector<int>(1, 0));
  Print<<<n, 32>>>(dvalues, printed, n);
  return Equal(printed.Host(), std::vector<int>(1, n), 0);
}
int main() {
  const bool ok = Test(1) && Test(4);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
