// SPDX-License-Identifier: Apache-2.0
// CUDA's runtime for programs whose kernels are run by `upskill`: what its parts share. It is compiled with the
// program, against the CUDA headers that the program is compiled with.
#pragma once

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

namespace upskill_runtime {

// Sends a request and waits for the reply, whose bytes go to `received` (at most `capacity` of them; the rest is
// dropped). Ends the program if the other process is gone.
UpskillReply Ask(UpskillRequest request, const void* sent, void* received, uint64_t capacity);
UpskillRequest Request(uint32_t operation, uint64_t a0 = 0, uint64_t a1 = 0, uint64_t a2 = 0, uint64_t a3 = 0,
                       uint64_t a4 = 0);
cudaError_t AskFor(const UpskillRequest& request);

// Remembers an error for cudaGetLastError, and returns it.
cudaError_t Note(cudaError_t error);
cudaError_t LastError(bool forget);
// Something has failed, and its error may never be looked at: that of a launch isn't given to the program, and it may
// ignore that of another call (kUpskillNoKernel). Asking for errors or their names is looking.
cudaError_t NoteUnread(uint64_t kernel, const char* what, cudaError_t error, cudaError_t cause = cudaSuccess);
void ErrorsRead();
// Of a kernel that has failed: all later calls fail with it.
void SetFailed(cudaError_t error);
cudaError_t Failed();

// Managed and pinned memory, which the host uses too: what the host has changed goes to the device, and what the device
// has changed comes back: all of it, or what begins at `only`.
void SendManaged();
void FetchManaged(const void* only = nullptr);
// After a launch: the next use of managed memory is early, unless the host waits before.
void WatchManaged();
// A function of the host in a stream sees what the work before it has written; the host itself still has to wait.
template <typename Function>
void RunOnHost(const Function& function) {
  SendManaged();
  FetchManaged();
  function();
  SendManaged();
  WatchManaged();
}
// From now on, what the device has changed is fetched page by page when the host looks at it, so that only what the host
// reads counts as read.
void FetchManagedWhenRead();
bool FetchManagedPage(const void* address);  // false: it isn't such a page
void* MapManaged(uint64_t address, size_t bytes);
// `registered`: memory of the program itself, which stays.
bool UnmapManaged(void* memory, bool registered);
bool WasFreed(const void* address);  // it was in managed memory

uint64_t StreamNumber(cudaStream_t stream);
bool WaitsForDefault(cudaStream_t stream);

// Requests on a stream that is captured become nodes of a graph, and aren't sent. What a capture doesn't allow is an
// error, and spoils the graph.
struct Sequence;
struct CapturedPoint {  // where an event was recorded
  Sequence* sequence;   // null: not in a capture
  size_t node;
};
constexpr uint32_t kHostFunction = 1000;  // an operation of nodes alone. a0: cudaHostFn_t, a1: its argument
cudaError_t MayUse(cudaStream_t stream);
cudaError_t MayUseUncaptured(cudaStream_t stream);  // for what can't be a node
cudaError_t MayWaitFor(const CapturedPoint& point);
cudaError_t MayInterruptCaptures(bool if_relaxed);  // what isn't a stream's: never, or if all captures are in relaxed mode
bool Capturing(cudaStream_t stream);
cudaError_t Capture(cudaStream_t stream, const UpskillRequest& request, const void* bytes);
CapturedPoint LastCaptured(cudaStream_t stream);
// False: neither the stream nor the event is captured.
bool WaitCaptured(cudaStream_t stream, const CapturedPoint& point, bool recorded, cudaError_t* error);

[[noreturn]] void Fail(const char* message);

// Found by the address of the function or variable of the host that stands for it.
struct Kernel {
  uint64_t number;
  uint32_t parameters;
  uint32_t sizes[512];
  uint64_t shared_bytes;
  uint64_t most_threads;
  uint64_t constant_bytes;
  uint64_t dynamic_limit;
  bool cooperative;
};
Kernel* FindKernel(const void* host);
cudaError_t FindSymbol(const void* host, uint64_t* address, size_t* bytes);
cudaError_t LaunchKernel(const Kernel* kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                         cudaStream_t stream, bool cooperative, uint64_t cluster);

cudaError_t SendLaunch(const UpskillRequest& request, const void* packed);
cudaError_t Transfer(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool wait);

}  // namespace upskill_runtime
