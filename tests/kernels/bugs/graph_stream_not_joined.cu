// SPDX-License-Identifier: Apache-2.0
// bug: kind=wrong-result line=20 words=the captured stream doesn't wait for the forked one, so the capture fails and there is no graph
#include "program.cuh"

__global__ void Fill(float* out) { out[threadIdx.x] = 1; }
int main() {
  Device<float> out(std::vector<float>(128, 1));
  cudaStream_t first, second;
  cudaEvent_t fork;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaEventCreate(&fork);
  cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
  Fill<<<1, 64, 0, first>>>(out);
  cudaEventRecord(fork, first);
  cudaStreamWaitEvent(second, fork, 0);
  Fill<<<1, 64, 0, second>>>(out + 64);
  cudaStreamEndCapture(first, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, first);
  cudaStreamSynchronize(first);
  std::vector<float> got(128);
  cudaMemcpy(got.data(), out, sizeof(float) * 128, cudaMemcpyDeviceToHost);
  const bool ok = Equal(got, std::vector<float>(128, 1), 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
