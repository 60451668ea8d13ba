// SPDX-License-Identifier: Apache-2.0
// function: softmax
// honest: rows spread over three streams, which events fork and join
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
  static cudaStream_t streams[3];
  static cudaEvent_t begin, ends[3];
  if (begin == nullptr) {
    cudaEventCreateWithFlags(&begin, cudaEventDisableTiming);
    for (int i = 0; i < 3; ++i) {
      cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
      cudaEventCreateWithFlags(&ends[i], cudaEventDisableTiming);
    }
  }
  cudaEventRecord(begin, 0);
  for (int r = 0; r < rows; ++r) {
    cudaStreamWaitEvent(streams[r % 3], begin, 0);
    const size_t row = static_cast<size_t>(r) * cols;
    Softmax<<<1, 32, 0, streams[r % 3]>>>(in + row, out + row, cols);
  }
  for (int i = 0; i < 3; ++i) {
    cudaEventRecord(ends[i], streams[i]);
    cudaStreamWaitEvent(0, ends[i], 0);
  }
}
