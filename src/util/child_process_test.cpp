// SPDX-License-Identifier: Apache-2.0
#include "util/child_process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

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

TEST(ChildProcess, StreamsAndExitCode) {
  Result<ChildProcess> child = ChildProcess::Start("read line; echo \"got $line\"; echo oops >&2; exit 7");
  ASSERT_TRUE(child.ok());
  ASSERT_EQ(::send(child->input(), "a\n", 2, MSG_NOSIGNAL), 2);
  EXPECT_EQ(ReadAll(child->output()), "got a\n");
  EXPECT_EQ(ReadAll(child->error()), "oops\n");
  EXPECT_EQ(child->End(milliseconds(10'000)), 7);
  EXPECT_EQ(child->End(milliseconds(0)), 7);
}

TEST(ChildProcess, EndsWithItsInput) {
  Result<ChildProcess> child = ChildProcess::Start("exec cat");
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(child->End(milliseconds(10'000)), 0);
}

TEST(ChildProcess, TheWholeGroupEnds) {
  Result<ChildProcess> child = ChildProcess::Start("sleep 600 & echo $!; wait");
  ASSERT_TRUE(child.ok());
  std::array<char, 32> buffer{};
  pollfd polled{child->output(), POLLIN, 0};
  ASSERT_EQ(::poll(&polled, 1, 10'000), 1);
  ASSERT_GT(::read(child->output(), buffer.data(), buffer.size() - 1), 0);
  const pid_t sleeper = std::stoi(buffer.data());
  EXPECT_EQ(child->End(milliseconds(0)), 128 + SIGTERM);
  EXPECT_EQ(ReadAll(child->output()), "") << "the sleeper " << sleeper << " still holds it";
}

TEST(ChildProcess, OneThatIgnoresSignalsIsKilled) {
  Result<ChildProcess> child = ChildProcess::Start("trap '' TERM; echo ready; while :; do sleep 0.1; done");
  ASSERT_TRUE(child.ok());
  pollfd polled{child->output(), POLLIN, 0};
  ASSERT_EQ(::poll(&polled, 1, 10'000), 1);
  EXPECT_EQ(child->End(milliseconds(0)), 128 + SIGKILL);
}

TEST(ChildProcess, ACommandThatIsNotThere) {
  Result<ChildProcess> child = ChildProcess::Start("exec /none/there 2>/dev/null");
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(child->End(milliseconds(10'000)), 127);
}

}  // namespace
}  // namespace upskill
