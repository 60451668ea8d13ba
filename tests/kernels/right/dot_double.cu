// SPDX-License-Identifier: Apache-2.0
// Dot product in double precision with atomics on doubles in shared and global memory.
#include "program.cuh"

__global__ void Dot(const double* a, const double* b, double* out, int n) {
  __shared__ double sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  double v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += a[i] * b[i];
  atomicAdd(&sum, v);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, sum);
}
bool Test(int n) {
  Random random(n);
  std::vector<double> a(n), b(n), expected(1);
  for (int i = 0; i < n; ++i) {
    a[i] = random.Uniform();
    b[i] = random.Uniform();
    expected[0] += a[i] * b[i];
  }
  Device<double> da(a), db(b), out(std::vector<double>(1, 0.0));
  Dot<<<5, 64>>>(da, db, out, n);
  return Equal(out.Host(), expected, 1e-12);
}
int main() {
  const bool ok = Test(1) && Test(321) && Test(4000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
