// SPDX-License-Identifier: Apache-2.0
// Graphs that are captured from streams: the requests, sent again at each launch.
#include "runtime.h"

using namespace upskill_runtime;

namespace upskill_runtime {
namespace {

struct Node {
  UpskillRequest request;
  void* bytes;
  Node* next;
};

struct Graph {
  Node* first;
  Node* last;
};
Graph* captured = nullptr;  // while one is

// Where a request has the number of its stream.
void SetStream(UpskillRequest& request, uint64_t stream) {
  if (request.operation == kUpskillLaunch) request.a[8] = stream;
  if (request.operation == kUpskillWrite) request.a[1] = stream;
  if (request.operation == kUpskillCopy) request.a[3] = stream;
  if (request.operation == kUpskillFill) request.a[4] = stream;
}

}  // namespace

bool Capturing() { return captured != nullptr; }

cudaError_t Capture(const UpskillRequest& request, const void* bytes) {
  Node* const node = static_cast<Node*>(calloc(1, sizeof(Node)));
  void* const copy = malloc(request.bytes + 1);
  if (node == nullptr || copy == nullptr) return Note(cudaErrorMemoryAllocation);
  if (request.bytes > 0) memcpy(copy, bytes, request.bytes);
  node->request = request;
  node->bytes = copy;
  (captured->first == nullptr ? captured->first : captured->last->next) = node;
  captured->last = node;
  return cudaSuccess;
}

}  // namespace upskill_runtime

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  if (Capturing()) return Note(cudaErrorStreamCaptureUnsupported);
  captured = static_cast<Graph*>(calloc(1, sizeof(Graph)));
  return Note(captured == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  if (!Capturing()) return Note(cudaErrorInvalidValue);
  *graph = reinterpret_cast<cudaGraph_t>(captured);
  captured = nullptr;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = Capturing() ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = reinterpret_cast<cudaGraphExec_t>(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (Failed() != cudaSuccess) return Note(Failed());
  const uint64_t number = StreamNumber(stream);
  SendManaged();
  for (const Node* each = reinterpret_cast<const Graph*>(executable)->first; each != nullptr; each = each->next) {
    UpskillRequest request = each->request;
    SetStream(request, number);
    const cudaError_t error = request.operation == kUpskillLaunch
                                  ? SendLaunch(request, each->bytes)
                                  : Note(static_cast<cudaError_t>(Ask(request, each->bytes, nullptr, 0).error));
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
// The executable graph is the graph itself, which stays.
cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return cudaSuccess; }
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }

}  // extern "C"
