// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime.h"

namespace upskill_runtime {
namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int connection = -1;
__thread cudaError_t last_error = cudaSuccess;
cudaError_t failed = cudaSuccess;
__thread bool unread = false;

void Transfer(bool sending, void* bytes, uint64_t size) {
  char* at = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t done = sending ? send(connection, at, size, MSG_NOSIGNAL) : read(connection, at, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) Fail("the process that runs the kernels has ended");
    at += done;
    size -= static_cast<uint64_t>(done);
  }
}

// Device memory isn't mapped in the host's process, so that using it there ends the program. Managed memory is fetched.
void OnBadAddress(int number, siginfo_t* info, void*) {
  if (number == SIGSEGV && FetchManagedPage(info->si_addr)) return;
  char text[200];
  const int size =
      snprintf(text, sizeof(text), "host code accessed the address 0x%llx, which isn't the host's memory%s\n",
               reinterpret_cast<unsigned long long>(info->si_addr),
               WasFreed(info->si_addr)                                  ? ": it was freed"
               : reinterpret_cast<uint64_t>(info->si_addr) >= 0x1000 ? " (device memory must be copied first)"
                                                                      : "");
  if (size > 0 && write(STDERR_FILENO, text, static_cast<size_t>(size)) < 0) _exit(139);
  signal(number, SIG_DFL);
  raise(number);
}

void Connect() {
  if (connection >= 0) return;
  const char* number = getenv(UPSKILL_DEVICE_SOCKET);
  if (number == nullptr) Fail("this program only runs under `upskill kernel run` and the checks of `upskill`");
  connection = atoi(number);
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_sigaction = OnBadAddress;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace

void Fail(const char* message) {
  fprintf(stderr, "CUDA runtime of upskill: %s\n", message);
  fflush(nullptr);
  _exit(125);
}

UpskillReply Ask(UpskillRequest request, const void* sent, void* received, uint64_t capacity) {
  pthread_mutex_lock(&lock);
  Connect();
  Transfer(true, &request, sizeof(request));
  Transfer(true, const_cast<void*>(sent), request.bytes);
  UpskillReply reply;
  Transfer(false, &reply, sizeof(reply));
  const uint64_t wanted = reply.bytes < capacity ? reply.bytes : capacity;
  Transfer(false, received, wanted);
  for (uint64_t left = reply.bytes - wanted; left > 0;) {
    char dropped[4096];
    const uint64_t now = left < sizeof(dropped) ? left : sizeof(dropped);
    Transfer(false, dropped, now);
    left -= now;
  }
  pthread_mutex_unlock(&lock);
  return reply;
}

UpskillRequest Request(uint32_t operation, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4) {
  UpskillRequest request;
  memset(&request, 0, sizeof(request));
  request.operation = operation;
  request.a[0] = a0;
  request.a[1] = a1;
  request.a[2] = a2;
  request.a[3] = a3;
  request.a[4] = a4;
  return request;
}

cudaError_t AskFor(const UpskillRequest& request) {
  if (failed != cudaSuccess) return Note(failed);
  return Note(static_cast<cudaError_t>(Ask(request, nullptr, nullptr, 0).error));
}

cudaError_t Note(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t LastError(bool forget) {
  const cudaError_t error = last_error;
  ErrorsRead();
  if (forget && failed == cudaSuccess) last_error = cudaSuccess;
  return error;
}

void ErrorsRead() {
  if (unread) Ask(Request(kUpskillErrorsRead), nullptr, nullptr, 0);
  unread = false;
}

cudaError_t NoteUnread(uint64_t kernel, const char* what, cudaError_t error, cudaError_t cause) {
  unread = false;  // so that cudaGetErrorName below doesn't count as the program looking at it
  char text[400];
  const int size = snprintf(text, sizeof(text), "%s failed with %s (%s%s%s)", what, cudaGetErrorName(error),
                            cudaGetErrorString(error), cause == cudaSuccess ? "" : ": ",
                            cause == cudaSuccess ? "" : cudaGetErrorName(cause));
  UpskillRequest request = Request(kUpskillCallFailed, kernel);
  request.bytes = size < 0 ? 0 : static_cast<uint64_t>(size);
  Ask(request, text, nullptr, 0);
  unread = true;
  return Note(error);
}

void SetFailed(cudaError_t error) { failed = error; }
cudaError_t Failed() { return failed; }

}  // namespace upskill_runtime
