// SPDX-License-Identifier: Apache-2.0
// function: layernorm
// honest: a graph captured anew in every call
#include <cuda_runtime.h>

__global__ void LayerNorm(const float* in, const float* gamma, const float* beta, float* out, int cols) {
  in += static_cast<size_t>(blockIdx.x) * cols;
  out += static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < cols; i += 32) sum += in[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  const float mean = sum / cols;
  for (int i = threadIdx.x; i < cols; i += 32) squares += (in[i] - mean) * (in[i] - mean);
  for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(0xffffffff, squares, offset);
  const float scale = rsqrtf(squares / cols + 1e-5f);
  for (int i = threadIdx.x; i < cols; i += 32) out[i] = (in[i] - mean) * scale * gamma[i] + beta[i];
}
void launch_layernorm(const float* in, const float* gamma, const float* beta, float* out, int rows, int cols) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  LayerNorm<<<rows, 32, 0, stream>>>(in, gamma, beta, out, cols);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&replay, graph, 0);
  cudaGraphLaunch(replay, stream);
  cudaStreamSynchronize(stream);
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}
