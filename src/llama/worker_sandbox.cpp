// SPDX-License-Identifier: Apache-2.0
#include "llama/worker_sandbox.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <string_view>
#include <vector>

#include "llama/engine_plugins.h"
#include "llama/worker_process.h"
#include "util/files.h"
#include "util/memory.h"
#include "util/seccomp_filter.h"

namespace upskill {
namespace {

// A file of /proc that has to be written in one piece.
void WriteSetting(const char* file, std::string_view value) {
  const Fd fd(::open(file, O_WRONLY | O_CLOEXEC));
  if (fd.valid() && ::write(fd.get(), value.data(), value.size()) < 0) return;
}

// RLIMIT_DATA counts private memory that can be written: the heap, the KV cache, llama.cpp's buffers. A limit on the
// address space would count the model file, which is mapped and may be larger than the memory. Without a limit, a
// request for too much would succeed at first, and slow down the whole machine before it fails. Sanitizers reserve
// terabytes.
void LimitMemory() {
#if !defined(UPSKILL_SANITIZED)
  constexpr std::uint64_t kUntouched = 1ULL << 30U;  // stacks and buffers that are reserved, but hardly used
  const std::uint64_t spare = AvailableMemory();
  if (spare == 0) return;
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, spare + kUntouched);
  limit.rlim_max = limit.rlim_cur;
  ::setrlimit(RLIMIT_DATA, &limit);
#endif
}

// Landlock: files can be read, but not written, created, renamed or removed.
void ForbidWritingFiles() {
#if defined(__NR_landlock_create_ruleset)
  landlock_ruleset_attr rules{};
  rules.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                            LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                            LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                            LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
  constexpr long kVersionWithTruncate = 3;
  constexpr std::uint64_t kTruncate = 1ULL << 14U;
  const long version = ::syscall(__NR_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version >= kVersionWithTruncate) rules.handled_access_fs |= kTruncate;
  const Fd fd(static_cast<int>(::syscall(__NR_landlock_create_ruleset, &rules, sizeof(rules), 0)));
  if (fd.valid()) ::syscall(__NR_landlock_restrict_self, fd.get(), 0);
#endif
}

constexpr std::array kForbiddenCalls = {
    __NR_socket,           __NR_connect,           __NR_execve,         __NR_execveat, __NR_ptrace,
    __NR_process_vm_readv, __NR_process_vm_writev, __NR_io_uring_setup, __NR_kill,
};

void ForbidSystemCalls() {
  RefusedCalls refused;
  refused.calls = kForbiddenCalls;
  std::vector<sock_filter> filter = RefuseSystemCalls(refused);
  if (filter.empty()) return;
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

}  // namespace

void DetachWorker() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  WriteSetting("/proc/self/oom_score_adj", "500");
  ::prctl(PR_SET_DUMPABLE, 0);  // where a program collects the dumps, RLIMIT_CORE doesn't prevent them
#if defined(__NR_close_range)
  ::syscall(__NR_close_range, kWorkerSocket + 1, ~0U, 0);
#endif
}

void ConfineWorker() {
  if (EngineUsesGpu()) return;
  LimitMemory();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  ForbidWritingFiles();
  ForbidSystemCalls();
}

}  // namespace upskill
