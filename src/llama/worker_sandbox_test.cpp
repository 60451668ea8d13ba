// SPDX-License-Identifier: Apache-2.0
#include "llama/worker_sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <string>

#include "llama/engine_plugins.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

// Whether `holds` is true in a process that is confined like a worker.
bool HoldsInWorker(const std::function<bool()>& holds) {
  EXPECT_TRUE(LoadEnginePlugins().ok());
  const pid_t pid = ::fork();
  if (pid == 0) {
    DetachWorker();
    ConfineWorker();
    ::_exit(holds() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool IsDenied(long result) { return result == -1 && (errno == EPERM || errno == EACCES); }

TEST(WorkerSandbox, LeavesNoCoreDump) {
  EXPECT_TRUE(HoldsInWorker([] {
    rlimit limit{1, 1};
    return ::getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == 0 && ::prctl(PR_GET_DUMPABLE) == 0;
  }));
}

TEST(WorkerSandbox, EndsWithItsParent) {
  EXPECT_TRUE(HoldsInWorker([] {
    int signal = 0;
    return ::prctl(PR_GET_PDEATHSIG, &signal) == 0 && signal == SIGKILL;
  }));
}

TEST(WorkerSandbox, ReachesNoNetworkAndStartsNoProgram) {
  if (::prctl(PR_GET_SECCOMP) < 0) GTEST_SKIP() << "this kernel has no seccomp";
  EXPECT_TRUE(HoldsInWorker([] { return IsDenied(::socket(AF_INET, SOCK_STREAM, 0)); }));
  EXPECT_TRUE(HoldsInWorker([] { return IsDenied(::socket(AF_UNIX, SOCK_STREAM, 0)); }));
  EXPECT_TRUE(HoldsInWorker([] { return IsDenied(::execl("/bin/true", "true", nullptr)); }));
  EXPECT_TRUE(HoldsInWorker([] { return IsDenied(::kill(::getppid(), 0)); }));
}

TEST(WorkerSandbox, WritesNoFiles) {
  if (::syscall(__NR_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) < 1) {
    GTEST_SKIP() << "this kernel has no Landlock";
  }
  const TempFolder folder;
  const std::string file = folder.Write("file", "text").string();
  const std::string other = (folder.path() / "new").string();
  EXPECT_TRUE(HoldsInWorker([&] { return ::open(file.c_str(), O_RDONLY) >= 0; }));
  EXPECT_TRUE(HoldsInWorker([&] { return IsDenied(::open(file.c_str(), O_WRONLY)); }));
  EXPECT_TRUE(HoldsInWorker([&] { return IsDenied(::open(other.c_str(), O_WRONLY | O_CREAT, 0600)); }));
  EXPECT_TRUE(HoldsInWorker([&] { return IsDenied(::unlink(file.c_str())); }));
}

#if !defined(UPSKILL_SANITIZED)
TEST(WorkerSandbox, GetsNoMoreMemoryThanThereIs) {
  EXPECT_TRUE(HoldsInWorker([] {
    rlimit limit{};
    return ::getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  }));
}
#endif

}  // namespace
}  // namespace upskill
