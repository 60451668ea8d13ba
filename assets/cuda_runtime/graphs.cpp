// SPDX-License-Identifier: Apache-2.0
// Graphs captured from streams: each launch does what was asked of the streams.
#include "runtime.h"

using namespace upskill_runtime;

namespace upskill_runtime {
namespace {

constexpr uint32_t kJoin = UINT32_MAX;  // not a request: the stream waits for another one

struct Node {
  UpskillRequest request;  // a copy has: to, from, size, cudaMemcpyKind; a host function: its address and argument
  void* bytes;
  size_t after[2];  // nodes that must come first, counted from 1; 0: none
};

struct Graph {
  Node* nodes;  // in the order of the calls
  size_t count;
};

struct Executable {
  const Graph* graph;
};

constexpr unsigned kMostBranches = 64;

// A stream that is being captured, and the last node of its work.
struct Branch {
  uint64_t stream;
  bool blocking;  // the default stream waits for it
  size_t last;
};

}  // namespace

// A capture, from its begin to its end on the same stream. Never freed: events may refer to it.
struct Sequence {
  Graph* graph;
  Branch branches[kMostBranches];  // the first one is the stream where it began
  unsigned count;
  cudaStreamCaptureMode mode;
  pthread_t thread;
  cudaError_t invalidated_by;  // cudaSuccess: it is still valid
  Sequence* next;
};

namespace {

Sequence* active = nullptr;

Branch* Find(cudaStream_t stream, Sequence** sequence) {
  const uint64_t number = StreamNumber(stream);
  for (*sequence = active; *sequence != nullptr; *sequence = (*sequence)->next) {
    for (unsigned i = 0; i < (*sequence)->count; ++i) {
      if ((*sequence)->branches[i].stream == number) return &(*sequence)->branches[i];
    }
  }
  return nullptr;
}

bool IsActive(const Sequence* sequence) {
  for (const Sequence* each = active; each != nullptr; each = each->next) {
    if (each == sequence) return true;
  }
  return false;
}

Branch* AddBranch(Sequence* sequence, cudaStream_t stream) {
  if (sequence->count == kMostBranches) Fail("a capture has more than 64 streams");
  Branch* const added = &sequence->branches[sequence->count++];
  *added = {StreamNumber(stream), WaitsForDefault(stream), 0};
  return added;
}

// A forbidden call invalidates the capture.
cudaError_t Refuse(Sequence* sequence, cudaError_t error) {
  if (sequence->invalidated_by == cudaSuccess) sequence->invalidated_by = error;
  return Note(error);
}

cudaError_t AddNode(Graph* graph, Branch* branch, const UpskillRequest& request, const void* bytes, size_t joined) {
  Node* const nodes = static_cast<Node*>(realloc(graph->nodes, (graph->count + 1) * sizeof(Node)));
  void* const copy = malloc(request.bytes + 1);
  if (nodes == nullptr || copy == nullptr) Fail("out of memory");
  if (request.bytes > 0) memcpy(copy, bytes, request.bytes);
  nodes[graph->count++] = {request, copy, {branch->last, joined}};
  graph->nodes = nodes;
  branch->last = graph->count;
  return cudaSuccess;
}

// Whether the stream where the capture began has waited for all work of the others.
bool AllJoined(const Sequence& sequence) {
  const Graph& graph = *sequence.graph;
  bool* const reached = static_cast<bool*>(calloc(graph.count + 1, sizeof(bool)));
  if (reached == nullptr) Fail("out of memory");
  reached[sequence.branches[0].last] = true;
  bool all = true;
  for (size_t i = graph.count; i > 0; --i) {
    const Node& node = graph.nodes[i - 1];
    if (reached[i]) reached[node.after[0]] = reached[node.after[1]] = true;
    all = all && (reached[i] || node.request.operation == kJoin);
  }
  free(reached);
  return all;
}

cudaError_t Run(const Node& node, cudaStream_t stream) {
  UpskillRequest request = node.request;
  const uint64_t* const a = request.a;
  switch (request.operation) {
    case kUpskillLaunch:
      request.a[8] = StreamNumber(stream);
      return SendLaunch(request, node.bytes);
    case kUpskillFill:
      request.a[4] = StreamNumber(stream);
      return AskFor(request);
    case kUpskillCopy:
      return Transfer(reinterpret_cast<void*>(a[0]), reinterpret_cast<const void*>(a[1]), a[2],
                      static_cast<cudaMemcpyKind>(a[3]), stream, false);
    case kHostFunction:
      RunOnHost([&] { reinterpret_cast<cudaHostFn_t>(a[0])(reinterpret_cast<void*>(a[1])); });
      return cudaSuccess;
    default:
      return cudaSuccess;
  }
}

}  // namespace

cudaError_t CheckUse(cudaStream_t stream) {
  if (Failed() != cudaSuccess) return Note(Failed());
  Sequence* sequence = nullptr;
  if (Find(stream, &sequence) != nullptr && sequence->invalidated_by != cudaSuccess)
    return Note(cudaErrorStreamCaptureInvalidated);
  cudaError_t error = cudaSuccess;
  for (Sequence* each = active; each != nullptr && StreamNumber(stream) == kUpskillDefaultStream; each = each->next) {
    for (unsigned i = 0; i < each->count; ++i) {
      if (each->branches[i].blocking) error = Refuse(each, cudaErrorStreamCaptureImplicit);
    }
  }
  return error;
}

cudaError_t CheckUncapturedUse(cudaStream_t stream) {
  Sequence* sequence = nullptr;
  return Find(stream, &sequence) != nullptr ? Refuse(sequence, cudaErrorStreamCaptureUnsupported) : CheckUse(stream);
}

cudaError_t CheckWait(const CapturedPoint& point) {
  if (point.sequence == nullptr) return cudaSuccess;
  return Refuse(point.sequence, cudaErrorCapturedEvent);
}

cudaError_t CheckCallWithoutStream(bool allowed_if_relaxed) {
  cudaError_t error = cudaSuccess;
  for (Sequence* each = active; each != nullptr; each = each->next) {
    const bool other_thread = pthread_equal(each->thread, pthread_self()) == 0;
    if (allowed_if_relaxed && (each->mode == cudaStreamCaptureModeRelaxed ||
                       (each->mode == cudaStreamCaptureModeThreadLocal && other_thread)))
      continue;
    error = Refuse(each, cudaErrorStreamCaptureUnsupported);
  }
  return error;
}

bool Capturing(cudaStream_t stream) {
  Sequence* sequence = nullptr;
  return Find(stream, &sequence) != nullptr;
}

cudaError_t Capture(cudaStream_t stream, const UpskillRequest& request, const void* bytes) {
  Sequence* sequence = nullptr;
  Branch* const branch = Find(stream, &sequence);
  return AddNode(sequence->graph, branch, request, bytes, 0);
}

CapturedPoint LastCaptured(cudaStream_t stream) {
  Sequence* sequence = nullptr;
  const Branch* const branch = Find(stream, &sequence);
  return {sequence, branch == nullptr ? 0 : branch->last};
}

bool WaitCaptured(cudaStream_t stream, const CapturedPoint& point, bool recorded, cudaError_t* error) {
  Sequence* own = nullptr;
  Branch* branch = Find(stream, &own);
  *error = cudaSuccess;
  if (!IsActive(point.sequence)) {
    if (own != nullptr && recorded) *error = Refuse(own, cudaErrorStreamCaptureIsolation);
    return own != nullptr;
  }
  if (point.sequence->invalidated_by != cudaSuccess) {
    *error = Note(cudaErrorStreamCaptureInvalidated);
  } else if (own != nullptr && own != point.sequence) {
    Refuse(own, cudaErrorStreamCaptureMerge);
    *error = Refuse(point.sequence, cudaErrorStreamCaptureMerge);
  } else if (StreamNumber(stream) == kUpskillDefaultStream) {
    *error = Refuse(point.sequence, cudaErrorStreamCaptureUnsupported);
  } else {
    if (branch == nullptr) branch = AddBranch(point.sequence, stream);
    AddNode(point.sequence->graph, branch, Request(kJoin), nullptr, point.node);
  }
  return true;
}

}  // namespace upskill_runtime

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (Capturing(stream) || StreamNumber(stream) == kUpskillDefaultStream)
    return Note(cudaErrorStreamCaptureUnsupported);
  Sequence* const begun = static_cast<Sequence*>(calloc(1, sizeof(Sequence)));
  Graph* const graph = static_cast<Graph*>(calloc(1, sizeof(Graph)));
  if (begun == nullptr || graph == nullptr) return Note(cudaErrorMemoryAllocation);
  begun->graph = graph;
  begun->mode = mode;
  begun->thread = pthread_self();
  AddBranch(begun, stream);
  begun->next = active;
  active = begun;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (graph == nullptr) return Note(cudaErrorInvalidValue);
  Sequence* ended = nullptr;
  const Branch* const branch = Find(stream, &ended);
  *graph = nullptr;
  if (branch == nullptr) return Note(cudaErrorInvalidValue);
  if (branch != ended->branches) return Refuse(ended, cudaErrorStreamCaptureUnmatched);
  Sequence** at = &active;
  while (*at != ended) at = &(*at)->next;
  *at = ended->next;
  const cudaError_t error = ended->invalidated_by != cudaSuccess ? cudaErrorStreamCaptureInvalidated
                            : AllJoined(*ended)           ? cudaSuccess
                                                          : cudaErrorStreamCaptureUnjoined;
  if (error != cudaSuccess) return NoteUnread(kUpskillNoKernel, "cudaStreamEndCapture", error, ended->invalidated_by);
  *graph = reinterpret_cast<cudaGraph_t>(ended->graph);
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  if (status == nullptr) return Note(cudaErrorInvalidValue);
  Sequence* sequence = nullptr;
  *status = Find(stream, &sequence) == nullptr ? cudaStreamCaptureStatusNone
            : sequence->invalidated_by != cudaSuccess ? cudaStreamCaptureStatusInvalidated
                                               : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = nullptr;
  if (graph == nullptr) return Note(cudaErrorInvalidValue);
  Executable* const made = static_cast<Executable*>(malloc(sizeof(Executable)));
  if (made == nullptr) return Note(cudaErrorMemoryAllocation);
  made->graph = reinterpret_cast<const Graph*>(graph);
  *executable = reinterpret_cast<cudaGraphExec_t>(made);
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (executable == nullptr) return Note(cudaErrorInvalidValue);
  cudaError_t error = CheckUse(stream);
  const Graph& graph = *reinterpret_cast<const Executable*>(executable)->graph;
  const bool captured = Capturing(stream);
  SendManaged();
  for (size_t i = 0; i < graph.count && error == cudaSuccess && Failed() == cudaSuccess; ++i) {
    const Node& node = graph.nodes[i];
    if (node.request.operation == kJoin) continue;
    error = captured ? Capture(stream, node.request, node.bytes) : Run(node, stream);
  }
  return error;
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  if (executable == nullptr || graph == nullptr || info == nullptr) return Note(cudaErrorInvalidValue);
  Executable* const updated = reinterpret_cast<Executable*>(executable);
  const Graph& before = *updated->graph;
  const Graph& now = *reinterpret_cast<const Graph*>(graph);
  info->result = before.count == now.count ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
  info->errorNode = info->errorFromNode = nullptr;
  for (size_t i = 0; i < now.count && info->result == cudaGraphExecUpdateSuccess; ++i) {
    if (before.nodes[i].request.operation != now.nodes[i].request.operation)
      info->result = cudaGraphExecUpdateErrorNodeTypeChanged;
  }
  if (info->result != cudaGraphExecUpdateSuccess) return Note(cudaErrorGraphExecUpdateFailure);
  updated->graph = &now;
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (graph == nullptr || count == nullptr) return Note(cudaErrorInvalidValue);
  const Graph& all = *reinterpret_cast<const Graph*>(graph);
  size_t found = 0;
  for (size_t i = 0; i < all.count; ++i) {
    if (all.nodes[i].request.operation == kJoin) continue;
    if (nodes != nullptr && found < *count) nodes[found] = reinterpret_cast<cudaGraphNode_t>(&all.nodes[i]);
    ++found;
  }
  if (nodes == nullptr || *count > found) *count = found;
  return cudaSuccess;
}
// Graphs never change and are never freed, so a clone can be the graph itself.
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  *clone = graph;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  free(executable);
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }

}  // extern "C"
