// SPDX-License-Identifier: Apache-2.0
// What a capture forbids fails with CUDA's error and invalidates the capture; what it allows succeeds. The program looks
// at all errors.
#include "program.cuh"

__global__ void AddOne(float* value) { ++*value; }

bool ok = true;

void Expect(const char* what, cudaError_t got, cudaError_t expected) {
  ok = ok && got == expected;
  if (got != expected) std::printf("%s: %s instead of %s\n", what, cudaGetErrorName(got), cudaGetErrorName(expected));
  cudaGetLastError();
}

class Capture {
 public:
  explicit Capture(cudaStream_t stream, cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed) : stream_(stream) {
    CHECK(cudaStreamBeginCapture(stream, mode));
  }
  void Ends(const char* what, cudaError_t expected) {
    cudaGraph_t graph = nullptr;
    Expect(what, cudaStreamEndCapture(stream_, &graph), expected);
    ok = ok && (graph == nullptr) == (expected != cudaSuccess);
  }
  void Refuses(const char* what, cudaError_t got, cudaError_t expected) {
    Expect(what, got, expected);
    cudaStreamCaptureStatus state;
    CHECK(cudaStreamIsCapturing(stream_, &state));
    ok = ok && state == cudaStreamCaptureStatusInvalidated;
    Ends(what, cudaErrorStreamCaptureInvalidated);
  }

 private:
  cudaStream_t stream_;
};

int main() {
  Device<float> value(std::vector<float>{1});
  float* more = nullptr;
  float host = 0;
  cudaStream_t stream, other, non_blocking;
  cudaEvent_t event, before;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamCreate(&other));
  CHECK(cudaStreamCreateWithFlags(&non_blocking, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&event));
  CHECK(cudaEventCreate(&before));
  CHECK(cudaEventRecord(before, other));

  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal})
    Capture(stream, mode).Refuses("cudaMalloc", cudaMalloc(&more, 4), cudaErrorStreamCaptureUnsupported);
  Capture relaxed(stream);
  Expect("cudaMalloc, relaxed", cudaMalloc(&more, 4), cudaSuccess);
  Expect("another stream", cudaStreamSynchronize(other), cudaSuccess);
  relaxed.Ends("cudaMalloc, relaxed", cudaSuccess);
  Capture(stream).Refuses("cudaStreamSynchronize", cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  Capture(stream).Refuses("cudaStreamQuery", cudaStreamQuery(stream), cudaErrorStreamCaptureUnsupported);
  Capture(stream).Refuses("cudaDeviceSynchronize", cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  Capture(stream).Refuses("cudaMemcpy", cudaMemcpy(&host, value, 4, cudaMemcpyDeviceToHost),
                          cudaErrorStreamCaptureImplicit);
  Capture legacy(stream);
  AddOne<<<1, 1>>>(value);
  legacy.Refuses("the default stream", cudaGetLastError(), cudaErrorStreamCaptureImplicit);
  Capture alone(non_blocking);
  AddOne<<<1, 1>>>(value);
  Expect("beside a stream that doesn't block", cudaGetLastError(), cudaSuccess);
  alone.Ends("beside a stream that doesn't block", cudaSuccess);

  Capture(stream).Refuses("earlier event", cudaStreamWaitEvent(stream, before, 0), cudaErrorStreamCaptureIsolation);
  Capture waits(stream);
  CHECK(cudaEventRecord(event, stream));
  waits.Refuses("captured event", cudaEventSynchronize(event), cudaErrorCapturedEvent);
  Capture two(stream), merged(other);
  CHECK(cudaEventRecord(event, stream));
  Expect("two captures", cudaStreamWaitEvent(other, event, 0), cudaErrorStreamCaptureMerge);
  two.Ends("two captures", cudaErrorStreamCaptureInvalidated);
  merged.Ends("two captures", cudaErrorStreamCaptureInvalidated);
  Capture forked(stream);
  CHECK(cudaEventRecord(event, stream));
  CHECK(cudaStreamWaitEvent(other, event, 0));
  AddOne<<<1, 1, 0, other>>>(value);
  forked.Ends("not joined", cudaErrorStreamCaptureUnjoined);

  CHECK(cudaMemcpy(&host, value, 4, cudaMemcpyDeviceToHost));
  ok = ok && host == 2;
  CHECK(cudaFree(more));
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
