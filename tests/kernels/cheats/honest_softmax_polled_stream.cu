// SPDX-License-Identifier: Apache-2.0
// function: softmax
// honest: the host asks for the end of its stream until it is there
#include <cuda_runtime.h>

__global__ void Softmax(const float* in, float* out, int cols) {
  in += static_cast<size_t>(blockIdx.x) * cols;
  out += static_cast<size_t>(blockIdx.x) * cols;
  float largest = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < cols; i += 32) largest = fmaxf(largest, in[i]);
  for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
  for (int i = threadIdx.x; i < cols; i += 32) sum += expf(in[i] - largest);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  for (int i = threadIdx.x; i < cols; i += 32) out[i] = expf(in[i] - largest) / sum;
}
void launch_softmax(const float* in, float* out, int rows, int cols) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEvent_t done;
  cudaEventCreate(&done);
  Softmax<<<rows, 32, 0, stream>>>(in, out, cols);
  cudaEventRecord(done, stream);
  while (cudaEventQuery(done) == cudaErrorNotReady) {
  }
  if (cudaStreamQuery(stream) != cudaSuccess) cudaStreamSynchronize(stream);
  cudaEventDestroy(done);
  cudaStreamDestroy(stream);
}
