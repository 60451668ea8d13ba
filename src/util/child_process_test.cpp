// SPDX-License-Identifier: Apache-2.0
#include "util/child_process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "util/child_environment.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;

std::string ReadAll(int fd) {
  std::string text;
  std::array<char, 256> buffer{};
  while (true) {
    pollfd polled{fd, POLLIN, 0};
    if (::poll(&polled, 1, 10'000) <= 0) return text + " (nothing for 10 s)";
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

std::string ReadLine(int fd) {
  std::string line;
  pollfd polled{fd, POLLIN, 0};
  char next = 0;
  while (!line.ends_with('\n') && ::poll(&polled, 1, 10'000) == 1 && ::read(fd, &next, 1) == 1) line += next;
  return line;
}

TEST(ChildProcess, StreamsAndExitCode) {
  Result<ChildProcess> child =
      ChildProcess::Start("read line; echo \"got $line\"; echo oops >&2; exit 7", ChildEnvironment());
  ASSERT_TRUE(child.ok());
  ASSERT_EQ(::send(child->input(), "a\n", 2, MSG_NOSIGNAL), 2);
  EXPECT_EQ(ReadAll(child->output()), "got a\n");
  EXPECT_EQ(ReadAll(child->error()), "oops\n");
  EXPECT_EQ(child->End(milliseconds(10'000)), 7);
  EXPECT_EQ(child->End(milliseconds(0)), 7);
}

TEST(ChildProcess, EndsWithItsInput) {
  Result<ChildProcess> child = ChildProcess::Start("exec cat", ChildEnvironment());
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(child->End(milliseconds(10'000)), 0);
}

TEST(ChildProcess, TheWholeGroupEnds) {
  Result<ChildProcess> child = ChildProcess::Start("sleep 600 & echo $!; wait", ChildEnvironment());
  ASSERT_TRUE(child.ok());
  std::array<char, 32> buffer{};
  pollfd polled{child->output(), POLLIN, 0};
  ASSERT_EQ(::poll(&polled, 1, 10'000), 1);
  ASSERT_GT(::read(child->output(), buffer.data(), buffer.size() - 1), 0);
  const pid_t sleeper = std::stoi(buffer.data());
  EXPECT_EQ(child->End(milliseconds(0)), 128 + SIGTERM);
  EXPECT_EQ(ReadAll(child->output()), "") << "the sleeper " << sleeper << " still holds it";
}

// A daemon has left the group and its parent.
constexpr const char* kDaemon = "(setsid sh -c \"trap '' TERM; echo ready; sleep 600; echo late\" &)";

TEST(ChildProcess, ADaemonEndsWithTheCommand) {
  Result<ChildProcess> child = ChildProcess::Start(kDaemon, ChildEnvironment());
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(ReadLine(child->output()), "ready\n");
  EXPECT_EQ(child->End(milliseconds(10'000)), 0);
  EXPECT_EQ(ReadAll(child->output()), "") << "the daemon still holds it";
}

TEST(ChildProcess, OnlyItsOwnDaemonsEnd) {
  Result<ChildProcess> other = ChildProcess::Start(kDaemon + std::string("; cat"), ChildEnvironment());
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(ReadLine(other->output()), "ready\n");
  Result<ChildProcess> child = ChildProcess::Start(kDaemon, ChildEnvironment());
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(ReadLine(child->output()), "ready\n");
  child->End(milliseconds(10'000));
  ASSERT_EQ(::send(other->input(), "a\n", 2, MSG_NOSIGNAL), 2);
  EXPECT_EQ(ReadLine(other->output()), "a\n");
  pollfd polled{other->output(), POLLIN, 0};
  EXPECT_EQ(::poll(&polled, 1, 0), 0) << "its daemon has ended";
}

TEST(ChildProcess, OneThatIgnoresSignalsIsKilled) {
  Result<ChildProcess> child =
      ChildProcess::Start("trap '' TERM; echo ready; while :; do sleep 0.1; done", ChildEnvironment());
  ASSERT_TRUE(child.ok());
  pollfd polled{child->output(), POLLIN, 0};
  ASSERT_EQ(::poll(&polled, 1, 10'000), 1);
  EXPECT_EQ(child->End(milliseconds(0)), 128 + SIGKILL);
}

// A process that is killed can't end its children itself.
TEST(ChildProcess, TheWholeGroupEndsWithThisProcess) {
  std::array<int, 2> report{-1, -1};
  ASSERT_EQ(::pipe(report.data()), 0);  // the command inherits its write end: no more writers means that all have ended
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    ::close(report[0]);
    const Result<ChildProcess> child =
        ChildProcess::Start("trap '' TERM; sleep 600 & " + std::string(kDaemon) + "; wait", ChildEnvironment());
    if (child.ok() && ReadLine(child->output()) == "ready\n") (void)::write(report[1], "ready\n", 6);
    ::pause();
    ::_exit(0);
  }
  ::close(report[1]);
  EXPECT_EQ(ReadLine(report[0]), "ready\n");
  ::kill(parent, SIGKILL);
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  EXPECT_EQ(ReadAll(report[0]), "");
  ::close(report[0]);
}

// The watcher isn't a child of the command, which may wait for all its children.
TEST(ChildProcess, ACommandMayWaitForItsChildren) {
  Result<ChildProcess> child = ChildProcess::Start("true & wait; echo done", ChildEnvironment());
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(ReadAll(child->output()), "done\n");
  EXPECT_EQ(child->End(milliseconds(10'000)), 0);
}

TEST(ChildProcess, AMissingCommand) {
  Result<ChildProcess> child = ChildProcess::Start("exec /none/there 2>/dev/null", ChildEnvironment());
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(child->End(milliseconds(10'000)), 127);
}

}  // namespace
}  // namespace upskill
