// SPDX-License-Identifier: Apache-2.0
// Two streams with kernels and asynchronous copies; an event makes one wait for the other.
#include "program.cuh"

__global__ void AddTo(const float* in, float* out, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += factor * in[i];
}
bool Test(int n) {
  Random random(n);
  const std::vector<float> a = random.Values(n), b = random.Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = (a[i] + 2.0 * b[i]) * 4.0;
  Device<float> da(n), db(n);
  cudaStream_t first, second;
  cudaEvent_t copied, added;
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreate(&second));
  CHECK(cudaEventCreate(&copied));
  CHECK(cudaEventCreate(&added));
  CHECK(cudaMemcpyAsync(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice, first));
  CHECK(cudaMemcpyAsync(db, b.data(), n * sizeof(float), cudaMemcpyHostToDevice, second));
  CHECK(cudaEventRecord(copied, second));
  CHECK(cudaStreamWaitEvent(first, copied));
  AddTo<<<(n + 63) / 64, 64, 0, first>>>(db, da, 2.0f, n);
  CHECK(cudaEventRecord(added, first));
  CHECK(cudaStreamWaitEvent(second, added));
  AddTo<<<(n + 63) / 64, 64, 0, second>>>(da, da, 3.0f, n);
  std::vector<float> got(n);
  CHECK(cudaMemcpyAsync(got.data(), da, n * sizeof(float), cudaMemcpyDeviceToHost, second));
  CHECK(cudaStreamSynchronize(second));
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, copied, added));
  CHECK(cudaEventDestroy(copied));
  CHECK(cudaEventDestroy(added));
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
  return milliseconds >= 0 && Equal(got, expected, 1e-6);
}
int main() {
  const bool ok = Test(1) && Test(100) && Test(2000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
