// SPDX-License-Identifier: Apache-2.0
#include "sandbox/served_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <utility>

#include "sandbox/sandbox.h"

namespace upskill {
namespace {

constexpr int kPort = 8080;
// Sends a line to the port, and prints the answer.
constexpr const char* kAsk = "exec bash -c 'exec 4<>/dev/tcp/127.0.0.1/8080 && echo ping >&4 && cat <&4'";

// Answers the first connection with what it has sent, and "pong".
class Answering {
 public:
  void Start(Fd listener) {
    thread_ = std::jthread([listener = std::move(listener)] {
      pollfd wait{listener.get(), POLLIN, 0};
      ::poll(&wait, 1, 10'000);
      const Fd connection(::accept(listener.get(), nullptr, nullptr));
      std::array<char, 100> buffer{};
      const ssize_t got = ::read(connection.get(), buffer.data(), buffer.size());
      std::string answer(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
      answer += "pong\n";
      EXPECT_EQ(::write(connection.get(), answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
    });
  }

 private:
  std::jthread thread_;
};

class ServedPortTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status available = sandbox_.Available(); !available.ok()) GTEST_SKIP() << available.error().message;
  }

  const Sandbox sandbox_{SandboxOptions{}};
  Answering server_;
};

TEST_F(ServedPortTest, AnswersFromTheFirstMomentOn) {
  SandboxCommand command;
  command.command = kAsk;
  command.served_port = kPort;
  command.serve = [&](Fd listener) { server_.Start(std::move(listener)); };
  const Result<SandboxOutcome> outcome = sandbox_.Run(command);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->output, "ping\npong\n") << outcome->error;
}

TEST_F(ServedPortTest, IsNotServedUnlessAskedFor) {
  SandboxCommand command;
  command.command = kAsk;
  const Result<SandboxOutcome> outcome = sandbox_.Run(command);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_NE(outcome->exit_code, 0);
  EXPECT_THAT(outcome->error, testing::HasSubstr("Connection refused"));
}

TEST_F(ServedPortTest, GivesSettingsToRead) {
  SandboxCommand command;
  command.settings = {{"hosts", "127.0.0.1 localhost\n"}, {"passwd", "me:x:1000:1000::/tmp:/bin/sh\n"}};
  command.command = "cat /etc/hosts; id -un; echo more >> /etc/passwd || echo fixed";
  const Result<SandboxOutcome> outcome = sandbox_.Run(command);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->output, "127.0.0.1 localhost\nme\nfixed\n") << outcome->error;
}

TEST_F(ServedPortTest, NeedsAProcessThatIsThere) { EXPECT_FALSE(ListenInNetworkOf(0x3FFFFFFF, kPort).ok()); }

}  // namespace
}  // namespace upskill
