// SPDX-License-Identifier: Apache-2.0
// A graph captured from two streams, with copies from and to pageable memory and a host function. Everything is done at
// each launch and nothing during the capture; meanwhile, work of a third stream is done at once.
#include "program.cuh"

constexpr int kCount = 1000;

struct Sum {
  const float* values;
  int count;
  double total;
  int calls;
};

__global__ void Scale(const float* in, float* out, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * in[i];
}
__global__ void AddTo(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += in[i];
}
void CUDART_CB AddUp(void* data) {
  Sum* const sum = static_cast<Sum*>(data);
  sum->total = 0;
  for (int i = 0; i < sum->count; ++i) sum->total += sum->values[i];
  ++sum->calls;
}

bool WorksAtOnce(cudaStream_t stream) {
  const std::vector<float> in(kCount, 2);
  std::vector<float> got(kCount);
  Device<float> on_device(kCount);
  CHECK(cudaMemcpyAsync(on_device, in.data(), kCount * sizeof(float), cudaMemcpyHostToDevice, stream));
  AddTo<<<8, 128, 0, stream>>>(on_device, on_device, kCount);
  CHECK(cudaMemcpyAsync(got.data(), on_device, kCount * sizeof(float), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  return Equal(got, std::vector<float>(kCount, 4), 0);
}

int main() {
  cudaStream_t first, second, other;
  cudaEvent_t fork, join;
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreate(&second));
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  std::vector<float> in(kCount), out(kCount, -1);
  Device<float> din(kCount), a(kCount), b(kCount);
  Sum sum{out.data(), static_cast<int>(out.size()), 0, 0};

  CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed));
  CHECK(cudaMemcpyAsync(din, in.data(), kCount * sizeof(float), cudaMemcpyHostToDevice, first));
  CHECK(cudaEventRecord(fork, first));
  CHECK(cudaStreamWaitEvent(second, fork, 0));
  Scale<<<8, 128, 0, first>>>(din, a, 2, kCount);
  CHECK(cudaMemsetAsync(b, 0, kCount * sizeof(float), second));
  AddTo<<<8, 128, 0, second>>>(din, b, kCount);
  CHECK(cudaEventRecord(join, second));
  CHECK(cudaStreamWaitEvent(first, join, 0));
  AddTo<<<8, 128, 0, first>>>(a, b, kCount);
  CHECK(cudaMemcpyAsync(out.data(), b, kCount * sizeof(float), cudaMemcpyDeviceToHost, first));
  CHECK(cudaLaunchHostFunc(first, AddUp, &sum));
  bool ok = WorksAtOnce(other);
  cudaGraph_t graph, clone;
  CHECK(cudaStreamEndCapture(first, &graph));
  CHECK(cudaGraphClone(&clone, graph));
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(clone, nullptr, &nodes));
  cudaGraphExec_t executable;
  CHECK(cudaGraphInstantiate(&executable, clone, 0));
  if (nodes != 7 || sum.calls != 0 || out[0] != -1) {
    std::printf("%zu nodes, %d calls, and %g at capture\n", nodes, sum.calls, out[0]);
    return 1;
  }
  for (int round = 1; round <= 3 && ok; ++round) {
    for (int i = 0; i < kCount; ++i) in[i] = static_cast<float>(round + i);
    CHECK(cudaGraphLaunch(executable, second));
    CHECK(cudaStreamSynchronize(second));
    std::vector<float> expected(kCount);
    double total = 0;
    for (int i = 0; i < kCount; ++i) total += expected[i] = 3 * in[i];
    ok = Equal(out, expected, 0) && sum.calls == round && sum.total == total;
  }
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphDestroy(clone));
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
