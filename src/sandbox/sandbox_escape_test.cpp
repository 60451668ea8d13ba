// SPDX-License-Identifier: Apache-2.0
// What a hostile command must not be able to do. Each test first shows, where that is possible, that the attempt works
// outside of the sandbox.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sandbox/sandbox.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using Ending = SandboxOutcome::Ending;

class SandboxEscape : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status available = sandbox_.Available(); !available.ok()) GTEST_SKIP() << available.error().message;
    command_.limits.time = std::chrono::seconds(20);
    // Anybody may read and write here: only the sandbox is in the way.
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
    secret_ = folder_.Write("secret.txt", "sesame").string();
    ASSERT_EQ(::chmod(secret_.c_str(), 0666), 0);
  }

  SandboxOutcome Run(const std::string& text) {
    command_.command = text;
    Result<SandboxOutcome> outcome = sandbox_.Run(command_);
    EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.error().message);
    return outcome.ok() ? std::move(outcome).value() : SandboxOutcome{};
  }

  std::string Secret() const {
    std::ifstream file(secret_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Whether a process with such a command line runs on this machine.
  static bool Runs(const std::string& words, const std::string& further = "") {
    std::error_code code;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", code)) {
      std::ifstream file(entry.path() / "cmdline");
      std::string line;
      std::getline(file, line, '\x04');  // unlike an iterator, it throws nothing where the process ends meanwhile
      std::replace(line.begin(), line.end(), '\0', ' ');
      if (line.starts_with(words) && line.find(further) != std::string::npos) return true;
    }
    return false;
  }

  // Whether no such process runs any more, soon: the kernel may need a moment to end one.
  static bool Ends(const std::string& words, const std::string& further = "") {
    constexpr int kLooks = 200;
    for (int look = 0; look < kLooks; ++look) {
      if (!Runs(words, further)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }

  // A command that this test program can tell from those of others.
  static std::string Sleep(int seconds) {
    return "sleep " + std::to_string(seconds) + "." + std::to_string(::getpid());
  }

  const Sandbox sandbox_{SandboxOptions{}};
  const TempFolder folder_;
  std::string secret_;
  SandboxCommand command_;
};

TEST_F(SandboxEscape, HomesAndSettingsCannotBeRead) {
  const char* home = std::getenv("HOME");
  const SandboxOutcome outcome =
      Run("ls -d /root /home /etc/passwd /etc/shadow /etc/ssh /etc/hostname /var /run /sys /boot /mnt " + secret_ +
          " " + (home == nullptr ? "" : home) + " 2>/dev/null; cat " + secret_);
  EXPECT_EQ(outcome.output, "");
  EXPECT_NE(outcome.exit_code, 0);
}

TEST_F(SandboxEscape, NothingOutsideCanBeWritten) {
  const SandboxOutcome outcome =
      Run("for f in /x /usr/x /usr/bin/x /etc/x /dev/x /proc/sys/kernel/hostname " + secret_ +
          "; do (echo hostile > $f) 2>/dev/null && echo $f; done; rm -f /usr/bin/env /bin/sh 2>/dev/null; "
          "ls /bin/sh");
  EXPECT_EQ(outcome.output, "/bin/sh\n");
  EXPECT_EQ(Secret(), "sesame");
}

TEST_F(SandboxEscape, LinksAndRenamesLeadNowhere) {
  const SandboxOutcome outcome = Run("ln -s " + secret_ + " a; cat a; echo hostile > a; ln -s / root; cat root" +
                                     secret_ + "; mv a /usr/a; ln /usr/bin/env e; cat /proc/1/root" + secret_ +
                                     "; cat /proc/self/cwd/../.." + secret_ + "; cd /proc/1/cwd && ls");
  EXPECT_EQ(outcome.output.find("sesame"), std::string::npos) << outcome.output;
  EXPECT_EQ(Secret(), "sesame");
}

TEST_F(SandboxEscape, AFileFromTheAnswerCannotLeadOutside) {
  // The path of a file is a folder and a link at once: unpacking must not follow it.
  command_.files = {{"a", "x"}, {"a/b", "y"}};
  EXPECT_EQ(Run("true").exit_code, 125);
}

TEST_F(SandboxEscape, ThereIsNoNetwork) {
  // A server of this machine, which a process outside reaches.
  const Fd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_TRUE(server.valid());
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(server.get(), 1), 0);
  ASSERT_EQ(::getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const Fd outside(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_TRUE(outside.valid());
  ASSERT_EQ(::connect(outside.get(), reinterpret_cast<sockaddr*>(&address), size), 0);

  const std::string connect =
      "import socket\n"
      "def tried(*a):\n"
      "  try: return a[0](*a[1:])\n"
      "  except OSError as e: return type(e).__name__\n"
      "print(tried(socket.create_connection, ('127.0.0.1', " +
      std::to_string(ntohs(address.sin_port)) +
      "), 2))\n"
      "print(tried(socket.create_connection, ('1.1.1.1', 53), 2))\n"
      "print(tried(socket.socket, socket.AF_VSOCK))\n"
      "print(tried(socket.socket, socket.AF_PACKET, socket.SOCK_RAW))\n"
      "print(sorted(n for _, n in socket.if_nameindex()))\n";
  command_.files = {{"connect.py", connect}};
  const SandboxOutcome outcome = Run("python3 connect.py");
  EXPECT_EQ(outcome.output, "ConnectionRefusedError\nOSError\nPermissionError\nPermissionError\n['lo']\n")
      << outcome.error;
}

TEST_F(SandboxEscape, OtherProcessesCannotBeSeenOrSignalled) {
  const SandboxOutcome outcome = Run("ls /proc | grep -c '^[0-9]'; kill -0 " + std::to_string(::getpid()) +
                                     " 2>/dev/null && echo signalled; kill -9 -1; echo alive");
  const int seen = std::atoi(outcome.output.c_str());
  EXPECT_GT(seen, 0);
  EXPECT_LT(seen, 10);
  EXPECT_EQ(outcome.output.find("signalled"), std::string::npos);
}

TEST_F(SandboxEscape, AForkBombIsHarmless) {
  command_.limits.processes = 64;
  command_.limits.time = std::chrono::seconds(3);
  Run(": " + std::to_string(::getpid()) + "; bomb() { bomb | bomb & }; bomb; sleep 1.5; echo over");
  EXPECT_FALSE(Runs("sh -c : " + std::to_string(::getpid()) + "; bomb()"));
  // Others are not affected: their limit is their own.
  EXPECT_EQ(Run("(true | true) && echo fine").output, "fine\n");
}

TEST_F(SandboxEscape, TenGigabytesOfFilesDoNotFit) {
  command_.limits.disk_bytes = std::uint64_t{32} << 20U;
  const SandboxOutcome outcome =
      Run("for f in /workspace/a /tmp/b /dev/shm/c; do dd if=/dev/zero of=$f bs=1M count=10000 2>/dev/null; done; "
          "for i in 1 2 3 4; do head -c 20000000 /dev/zero > /workspace/more$i; done 2>/dev/null; "
          "du -sm /workspace /tmp /dev/shm | cut -f1 | tr '\\n' ' '");
  EXPECT_EQ(outcome.output, "32 32 32 ") << outcome.output;
}

// Each takes memory of the kernel, though it is empty.
TEST_F(SandboxEscape, EmptyFilesWithoutEndEndTheCommand) {
  command_.limits.files = 3000;
  command_.files = {{"make.py",
                     "import itertools, os, sys\n"
                     "for i in itertools.islice(itertools.count(), int(sys.argv[2]) or None):\n"
                     "  os.symlink('x', sys.argv[1] + '/' + str(i))\n"}};
  for (const char* folder : {"/workspace", "/tmp", "/dev/shm"}) {
    const std::string make = std::string("python3 make.py ") + folder + " ";
    EXPECT_EQ(Run(make + "0; sleep 20").ending, Ending::kFileLimit) << folder;
    EXPECT_EQ(Run(make + "2000; sleep 0.2; echo done").output, "done\n") << folder;
  }
}

TEST_F(SandboxEscape, ThereAreNoFilesOutsideOfFolders) {
  const std::string make = "python3 -c 'import os; os.memfd_create(\"x\")' 2>&1 | tail -1";
  EXPECT_EQ(Run(make).output, "OSError: [Errno 38] Function not implemented\n");
}

TEST_F(SandboxEscape, TenGigabytesOfMemoryAreNotGiven) {
  command_.limits.memory_bytes = std::uint64_t{256} << 20U;
  // One process.
  EXPECT_EQ(Run("python3 -c 'b = bytearray(10 * 2**30)' 2>&1 | tail -1").output, "MemoryError\n");
  // Many, each below the limit.
  const SandboxOutcome outcome =
      Run("for i in 1 2 3 4 5 6; do python3 -c '\nimport time\nb = b\"x\" * (100 * 2**20)\n"
          "time.sleep(15)' & done; wait");
  EXPECT_EQ(outcome.ending, Ending::kMemoryLimit);
}

TEST_F(SandboxEscape, SharedMemoryCountsOnce) {
  command_.limits.time = std::chrono::seconds(60);
  command_.limits.memory_bytes = std::uint64_t{256} << 20U;
  const std::string shared =
      "import mmap, os, sys, time\nm = mmap.mmap(-1, int(sys.argv[1]) << 20)\n"
      "for i in range(0, len(m), 1 << 20): m[i:i + (1 << 20)] = b'x' * (1 << 20)\n";
  command_.files = {
      {"one.py", shared + "time.sleep(15)\n"},
      {"many.py", shared + "for i in range(8):\n  if os.fork() == 0: m[::4096]; time.sleep(1); os._exit(0)\n"
                           "for i in range(8): os.wait()\nprint('done')\n"}};
  EXPECT_EQ(Run("python3 one.py 400").ending, Ending::kMemoryLimit);
  EXPECT_EQ(Run("python3 many.py 60").output, "done\n") << "one mapping of eight processes";
}

TEST_F(SandboxEscape, NothingIsLeftOfASandboxThatIsEndedWhileItIsMade) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int ms = 1; ms <= 25; ++ms) {
        SandboxCommand command;
        command.limits.time = std::chrono::milliseconds(ms);
        command.command = Sleep(14142 + i);
        EXPECT_TRUE(sandbox_.Run(command).ok());
      }
    });
  }
  threads.clear();
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(Ends(Sleep(14142 + i)));
    EXPECT_TRUE(Ends("bwrap", Sleep(14142 + i)));
  }
}

// A process that is killed can end nothing itself.
TEST_F(SandboxEscape, NothingIsLeftOfSandboxesWhoseUserIsKilled) {
  const std::string sleep = Sleep(17320);
  for (int ms = 1; ms <= 60; ms += 2) {
    const pid_t user = ::fork();
    ASSERT_GE(user, 0);
    if (user == 0) {
      SandboxCommand command;
      command.limits.time = std::chrono::seconds(20);
      command.command = sleep;
      std::vector<std::jthread> threads;
      for (int i = 0; i < 3; ++i) threads.emplace_back([&] { (void)sandbox_.Run(command); });
      threads.clear();
      ::_exit(0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    EXPECT_EQ(::kill(user, SIGKILL), 0);
    EXPECT_EQ(::waitpid(user, nullptr, 0), user);
  }
  EXPECT_TRUE(Ends(sleep));
  EXPECT_TRUE(Ends("bwrap", sleep));
}

TEST_F(SandboxEscape, ADaemonEndsWithTheCommand) {
  const SandboxOutcome outcome =
      Run("(setsid " + Sleep(31415) + " > /dev/null 2>&1 < /dev/null &) ; sleep 0.2; echo over");
  EXPECT_EQ(outcome.ending, Ending::kExited);
  EXPECT_EQ(outcome.output, "over\n");
  EXPECT_FALSE(Runs(Sleep(31415)));
  // One that keeps the output open doesn't keep the command alive.
  const SandboxOutcome open = Run("setsid " + Sleep(27182) + " & echo over");
  EXPECT_EQ(open.output, "over\n");
  EXPECT_LT(open.seconds, 10.0);
  EXPECT_FALSE(Runs(Sleep(27182)));
}

// Signals to a process group also reach members of it that are outside of the name space.
TEST_F(SandboxEscape, ItsProcessGroupAndSessionAreItsOwn) {
  EXPECT_EQ(Run("trap '' TERM; kill -TERM 0; echo alive").output, "alive\n");
  EXPECT_EQ(Run("cut -d ' ' -f 7 /proc/self/stat; (: < /dev/tty) 2>/dev/null || echo none").output, "0\nnone\n");
  command_.limits.time = std::chrono::milliseconds(400);
  EXPECT_EQ(Run("kill -STOP 0; " + Sleep(22360)).ending, Ending::kTimeLimit);
  EXPECT_FALSE(Runs(Sleep(22360)));
}

TEST_F(SandboxEscape, IgnoringSignalsDoesNotHelp) {
  command_.limits.time = std::chrono::milliseconds(400);
  EXPECT_EQ(Run("trap '' TERM INT HUP; while :; do " + Sleep(16180) + "; done").ending, Ending::kTimeLimit);
  EXPECT_FALSE(Runs(Sleep(16180)));
}

TEST_F(SandboxEscape, NoProcessCanBeTraced) {
  command_.files = {{"trace.py",
                     "import ctypes, os\n"
                     "libc = ctypes.CDLL(None, use_errno=True)\n"
                     "for call in (101, 165, 155, 272, 321, 425):\n"  // ptrace, mount, pivot_root, unshare, …
                     "  print(libc.syscall(call, 0, 0, 0, 0), ctypes.get_errno())\n"}};
#if defined(__x86_64__)
  EXPECT_EQ(Run("python3 trace.py").output, "-1 1\n-1 1\n-1 1\n-1 1\n-1 1\n-1 1\n");
#else
  GTEST_SKIP() << "the numbers of the calls are those of x86-64";
#endif
}

TEST_F(SandboxEscape, ThereAreNoFurtherUserNameSpaces) {
  EXPECT_NE(Run("unshare -Ur id -u").exit_code, 0);
  EXPECT_EQ(Run("id -u").output, "1000\n");
  EXPECT_EQ(Run("grep -E '^(CapEff|CapBnd|CapPrm|CapInh|CapAmb)' /proc/self/status | grep -vc 0000000000000000").output,
            "0\n");
}

TEST_F(SandboxEscape, TheProgramsOfTheSandboxLeaveNoDescriptors) {
  EXPECT_EQ(Run("ls /proc/self/fd | tr '\\n' ' '").output, "0 1 2 3 ");
  // The report of the end can't be forged.
  EXPECT_EQ(Run("(echo '{\"exit-code\": 0}' >&4) 2>/dev/null; exit 3").exit_code, 3);
}

TEST_F(SandboxEscape, OutputArrivesAsItIs) {
  EXPECT_EQ(Run("printf '\\033]0;title\\007\\033[2J\\000\\377'").output,
            std::string("\x1B]0;title\x07\x1B[2J\0\xFF", 16));
}

TEST_F(SandboxEscape, ThirtyTwoAtOnceKeepTheirOwnTime) {
  constexpr int kCommands = 32;
  std::vector<SandboxOutcome> outcomes(kCommands);
  {
    std::vector<std::jthread> threads;
    threads.reserve(kCommands);
    for (int i = 0; i < kCommands; ++i) {
      threads.emplace_back([&, i] {
        SandboxCommand command;
        // Every other one is over its limit.
        command.limits.time = std::chrono::milliseconds(i % 2 == 0 ? 20'000 : 700);
        command.command = i % 2 == 0 ? "echo " + std::to_string(i) : "sleep infinity";
        Result<SandboxOutcome> outcome = sandbox_.Run(command);
        if (outcome.ok()) outcomes[static_cast<std::size_t>(i)] = std::move(outcome).value();
      });
    }
  }
  for (int i = 0; i < kCommands; ++i) {
    const SandboxOutcome& outcome = outcomes[static_cast<std::size_t>(i)];
    if (i % 2 == 0) {
      EXPECT_EQ(outcome.output, std::to_string(i) + "\n");
      EXPECT_EQ(outcome.exit_code, 0);
    } else {
      EXPECT_EQ(outcome.ending, Ending::kTimeLimit);
      EXPECT_GE(outcome.seconds, 0.7);
    }
  }
}

}  // namespace
}  // namespace upskill
