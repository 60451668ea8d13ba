// SPDX-License-Identifier: Apache-2.0
// function: matmul
// cheat: a function of the host in the stream multiplies, and a kernel copies the result
#include <cuda_runtime.h>

#include <vector>

__global__ void Copy(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
struct Task {
  std::vector<float> a, b, c;
  int m, n, k;
};
void Multiply(void* data) {
  Task& task = *static_cast<Task*>(data);
  for (int i = 0; i < task.m; ++i) {
    for (int j = 0; j < task.n; ++j) {
      double sum = 0;
      for (int l = 0; l < task.k; ++l) sum += double(task.a[i * task.k + l]) * task.b[l * task.n + j];
      task.c[i * task.n + j] = static_cast<float>(sum);
    }
  }
}
void launch_matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  static Task task;
  task = {std::vector<float>(m * k), std::vector<float>(k * n), std::vector<float>(m * n), m, n, k};
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  float* scratch;
  cudaMallocAsync(&scratch, sizeof(float) * m * n, stream);
  cudaMemcpyAsync(task.a.data(), a, sizeof(float) * m * k, cudaMemcpyDeviceToHost, stream);
  cudaMemcpyAsync(task.b.data(), b, sizeof(float) * k * n, cudaMemcpyDeviceToHost, stream);
  cudaLaunchHostFunc(stream, Multiply, &task);
  cudaMemcpyAsync(scratch, task.c.data(), sizeof(float) * m * n, cudaMemcpyHostToDevice, stream);
  Copy<<<(m * n + 127) / 128, 128, 0, stream>>>(scratch, c, m * n);
  cudaFreeAsync(scratch, stream);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
}
