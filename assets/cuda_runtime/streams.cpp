// SPDX-License-Identifier: Apache-2.0
// Streams and events. Work is done at once, in the order of the calls; which work the host has waited for is told to
// the other process.
#include "runtime.h"

using namespace upskill_runtime;

namespace upskill_runtime {
namespace {

struct Stream {
  uint64_t number;
  unsigned flags;
  int priority;
};

struct Event {
  uint64_t number;
  uint64_t instructions;
  bool recorded;
  bool timed;
  CapturedPoint captured;  // where in a capture it was last recorded, if at all
};
uint64_t event_count = 0;

// What an event's time stands for: instructions of the emulated device, as if it ran a thousand million in a second (in
// trials, a hundred for each thread that is launched).
constexpr double kInstructionsPerMillisecond = 1e6;

}  // namespace

uint64_t StreamNumber(cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy) return kUpskillDefaultStream;
  if (stream == cudaStreamPerThread) return kUpskillFirstStream - 1;
  return reinterpret_cast<const Stream*>(stream)->number;
}

bool WaitsForDefault(cudaStream_t stream) {
  const uint64_t number = StreamNumber(stream);
  return number < kUpskillFirstStream || (reinterpret_cast<const Stream*>(stream)->flags & cudaStreamNonBlocking) == 0;
}

namespace {

cudaError_t Synchronize(uint64_t scope, uint64_t number) {
  SendManaged();
  const cudaError_t error = AskFor(Request(kUpskillSynchronize, scope, number));
  if (error == cudaSuccess) FetchManaged();
  return error;
}

// A program that asks once and goes on hasn't waited.
cudaError_t Query(uint64_t scope, uint64_t number) {
  if (Failed() != cudaSuccess) return Note(Failed());
  SendManaged();
  const UpskillReply reply = Ask(Request(kUpskillSynchronize, scope, number, 1), nullptr, nullptr, 0);
  if (reply.error != 0) return Note(static_cast<cudaError_t>(reply.error));
  if (reply.r[0] != 0) return cudaErrorNotReady;
  FetchManaged();
  return cudaSuccess;
}

cudaError_t MakeStream(cudaStream_t* stream, unsigned flags, int priority) {
  Stream* const made = static_cast<Stream*>(malloc(sizeof(Stream)));
  if (made == nullptr) return Note(cudaErrorMemoryAllocation);
  const UpskillReply reply =
      Ask(Request(kUpskillMakeStream, (flags & cudaStreamNonBlocking) != 0 ? 1 : 0), nullptr, nullptr, 0);
  *made = {reply.r[0], flags, priority};
  *stream = reinterpret_cast<cudaStream_t>(made);
  return Note(static_cast<cudaError_t>(reply.error));
}

}  // namespace
}  // namespace upskill_runtime

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return MakeStream(stream, 0, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) { return MakeStream(stream, flags, 0); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return MakeStream(stream, flags, priority);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream != nullptr && stream != cudaStreamLegacy && stream != cudaStreamPerThread) free(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const cudaError_t error = CheckUncapturedUse(stream);
  return error != cudaSuccess ? error : Synchronize(kUpskillOneStream, StreamNumber(stream));
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const cudaError_t error = CheckUncapturedUse(stream);
  return error != cudaSuccess ? error : Query(kUpskillOneStream, StreamNumber(stream));
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  if (event == nullptr) return Note(cudaErrorInvalidResourceHandle);
  const Event* const awaited = reinterpret_cast<const Event*>(event);
  cudaError_t error = CheckUse(stream);
  if (error != cudaSuccess || flags == cudaEventWaitExternal) return error;
  if (WaitCaptured(stream, awaited->captured, awaited->recorded, &error)) return error;
  return AskFor(Request(kUpskillWaitEvent, StreamNumber(stream), awaited->number));
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  *flags = StreamNumber(stream) < kUpskillFirstStream ? 0 : reinterpret_cast<const Stream*>(stream)->flags;
  return cudaSuccess;
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  *priority = StreamNumber(stream) < kUpskillFirstStream ? 0 : reinterpret_cast<const Stream*>(stream)->priority;
  return cudaSuccess;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned) {
  const cudaError_t error = Capturing(stream) ? CheckUncapturedUse(stream) : cudaSuccess;
  if (error != cudaSuccess) return error;
  RunOnHost([&] { callback(stream, Failed(), data); });
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (const cudaError_t error = CheckUse(stream)) return error;
  if (Capturing(stream)) {
    return Capture(stream,
                   Request(kHostFunction, reinterpret_cast<uint64_t>(function), reinterpret_cast<uint64_t>(data)),
                   nullptr);
  }
  RunOnHost([&] { function(data); });
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  Event* const made = static_cast<Event*>(calloc(1, sizeof(Event)));
  if (made == nullptr) return Note(cudaErrorMemoryAllocation);
  made->number = ++event_count;
  made->timed = (flags & cudaEventDisableTiming) == 0;
  *event = reinterpret_cast<cudaEvent_t>(made);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  free(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (event == nullptr) return Note(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = CheckUse(stream)) return error;
  Event* const recorded = reinterpret_cast<Event*>(event);
  recorded->captured = LastCaptured(stream);
  if (recorded->captured.sequence != nullptr) return cudaSuccess;
  const UpskillReply reply =
      Ask(Request(kUpskillRecordEvent, recorded->number, StreamNumber(stream)), nullptr, nullptr, 0);
  recorded->instructions = reply.r[0];
  recorded->recorded = true;
  return Note(static_cast<cudaError_t>(reply.error));
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (event == nullptr) return Note(cudaErrorInvalidResourceHandle);
  const Event* const awaited = reinterpret_cast<const Event*>(event);
  const cudaError_t error = CheckWait(awaited->captured);
  return error != cudaSuccess ? error : Synchronize(kUpskillOneEvent, awaited->number);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (event == nullptr) return Note(cudaErrorInvalidResourceHandle);
  const Event* const asked = reinterpret_cast<const Event*>(event);
  const cudaError_t error = CheckWait(asked->captured);
  return error != cudaSuccess ? error : Query(kUpskillOneEvent, asked->number);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const Event* const first = reinterpret_cast<const Event*>(start);
  const Event* const last = reinterpret_cast<const Event*>(end);
  if (first == nullptr || last == nullptr || !first->recorded || !last->recorded || !first->timed || !last->timed)
    return Note(cudaErrorInvalidResourceHandle);
  *milliseconds =
      static_cast<float>((static_cast<double>(last->instructions) - static_cast<double>(first->instructions)) /
                         kInstructionsPerMillisecond);
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void) {
  const cudaError_t error = CheckCallWithoutStream(false);
  return error != cudaSuccess ? error : Synchronize(kUpskillWholeDevice, 0);
}
#if CUDART_VERSION < 13000
cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
#endif

cudaError_t cudaGetLastError(void) { return LastError(true); }
cudaError_t cudaPeekAtLastError(void) { return LastError(false); }

}  // extern "C"
