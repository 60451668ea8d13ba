// SPDX-License-Identifier: Apache-2.0
// Host functions in a stream read managed memory that earlier kernels have written, and write what later kernels
// read.
#include "program.cuh"

constexpr int kCount = 3000;

__managed__ float factor;

__global__ void AddOne(float* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) ++values[i];
}
__global__ void Multiply(float* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) values[i] *= factor;
}
void CUDART_CB Halve(void* data) {
  for (int i = 0; i < kCount; ++i) static_cast<float*>(data)[i] /= 2;
  factor = 5;
}
void CUDART_CB AddHundred(cudaStream_t, cudaError_t status, void* data) {
  if (status == cudaSuccess) *static_cast<float*>(data) += 100;
}

int main() {
  float* values = nullptr;
  CHECK(cudaMallocManaged(&values, kCount * sizeof(float)));
  std::vector<float> expected(kCount);
  for (int i = 0; i < kCount; ++i) {
    values[i] = static_cast<float>(i);
    expected[i] = (i + 1) / 2.0f * 5 + (i == 7 ? 100 : 0) + 1;
  }
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  AddOne<<<24, 128, 0, stream>>>(values);
  CHECK(cudaLaunchHostFunc(stream, Halve, values));
  Multiply<<<24, 128, 0, stream>>>(values);
  CHECK(cudaStreamAddCallback(stream, AddHundred, values + 7, 0));
  AddOne<<<24, 128, 0, stream>>>(values);
  CHECK(cudaGetLastError());
  CHECK(cudaStreamSynchronize(stream));
  const bool ok = Equal(std::vector<float>(values, values + kCount), expected, 0);
  CHECK(cudaFree(values));
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
