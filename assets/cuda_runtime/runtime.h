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
// Reports a failure whose error the program may never look at: a launch with <<<>>> returns none, and the error of
// another call (kUpskillNoKernel) may be ignored. Asking for the last error, or for the name or text of one, counts as
// looking. Returns the error.
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
// Runs a host function of a stream, which sees what earlier work has written. The host should wait for it afterwards, but
// a missing wait isn't found any more, because the memory has been fetched.
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
void* MapManaged(uint64_t address, size_t bytes, bool pinned = false);
// `registered`: memory of the program itself, which stays.
bool UnmapManaged(void* memory, bool registered);
bool WasFreed(const void* address);  // it was in managed memory

uint64_t StreamNumber(cudaStream_t stream);
bool WaitsForDefault(cudaStream_t stream);

// Requests on a captured stream become nodes of a graph and aren't sent. What a capture doesn't allow is an error, and
// invalidates the capture. During a capture, calls that use no stream are refused, unless `allowed_if_relaxed` is set and
// each capture is relaxed, or thread-local and another thread's.
struct Sequence;
struct CapturedPoint {  // where an event was recorded
  Sequence* sequence;   // null: not in a capture
  size_t node;
};
constexpr uint32_t kHostFunction = 1000;  // an operation that only nodes have. a0: cudaHostFn_t, a1: its argument
cudaError_t CheckUse(cudaStream_t stream);
cudaError_t CheckUncapturedUse(cudaStream_t stream);  // for calls that can't become nodes
cudaError_t CheckWait(const CapturedPoint& point);
cudaError_t CheckCallWithoutStream(bool allowed_if_relaxed);  // for calls that use no stream
bool Capturing(cudaStream_t stream);
cudaError_t Capture(cudaStream_t stream, const UpskillRequest& request, const void* bytes);
CapturedPoint LastCaptured(cudaStream_t stream);
// Returns false if neither the stream nor the event belongs to a capture.
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
