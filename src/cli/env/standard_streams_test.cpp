// SPDX-License-Identifier: Apache-2.0
#include "cli/env/standard_streams.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <thread>

#include "support/file_fixture.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;

struct Pipe {
  explicit Pipe(int flags) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | flags), 0);
    reader = Fd(ends[0]);
    writer = Fd(ends[1]);
  }
  Fd reader;
  Fd writer;
};

// All of it, until the other end is closed. Waits where the descriptor doesn't block.
std::string ReadAll(const Fd& fd) {
  ::fcntl(fd.get(), F_SETFL, 0);
  std::string text;
  std::array<char, 4096> block{};
  for (ssize_t got = 1; got > 0;) {
    got = ::read(fd.get(), block.data(), block.size());
    if (got > 0) text.append(block.data(), static_cast<std::size_t>(got));
  }
  return text;
}

class OutputStreamTest : public testing::Test {
 protected:
  OutputStreamTest() : handler_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~OutputStreamTest() override { static_cast<void>(std::signal(SIGPIPE, handler_)); }

  StopFlag stop_ = 0;

 private:
  void (*handler_)(int);
};

TEST_F(OutputStreamTest, ASlowReaderOfAPipeThatDoesNotBlockGetsEverything) {
  Pipe pipe(O_NONBLOCK);
  const std::string text(1'000'000, 'x');  // more than a pipe holds
  std::string read;
  {
    const std::jthread reader([&] { read = ReadAll(pipe.reader); });
    OutputStream out(pipe.writer.Release(), stop_);
    out.Write(text);
    out.Write("end");
    EXPECT_TRUE(out.Finish().ok());
  }
  EXPECT_EQ(read, text + "end");
}

TEST_F(OutputStreamTest, AFullDiskIsAnError) {
  OutputStream out(::open("/dev/full", O_WRONLY | O_CLOEXEC), stop_);
  out.Write("text");
  out.Write("more");
  const Status finished = out.Finish();
  ASSERT_FALSE(finished.ok());
  EXPECT_THAT(finished.error().message, HasSubstr("writing standard output: No space left on device"));
}

TEST_F(OutputStreamTest, AReaderThatHasGoneIsNoError) {
  Pipe pipe(0);
  pipe.reader.Close();
  OutputStream out(pipe.writer.Release(), stop_);
  out.Write("text");
  EXPECT_TRUE(out.Finish().ok());
}

TEST_F(OutputStreamTest, ASecondSignalEndsTheWaiting) {
  Pipe pipe(O_NONBLOCK);
  OutputStream out(pipe.writer.Release(), stop_);
  stop_ = 2;
  out.Write(std::string(1'000'000, 'x'));
  EXPECT_FALSE(out.Finish().ok());
}

TEST_F(OutputStreamTest, TheExitCodeOfALostOutputIsNotZero) {
  std::string said;
  Env env;
  env.error = [&](const TerminalText& text) { said += text.text(); };
  for (const auto& [code, after] :
       {std::pair{ExitCode::kSuccess, ExitCode::kUsage}, std::pair{ExitCode::kFailed, ExitCode::kFailed},
        std::pair{ExitCode::kIncomplete, ExitCode::kIncomplete}}) {
    said.clear();
    OutputStream full(::open("/dev/full", O_WRONLY | O_CLOEXEC), stop_);
    full.Write("text");
    EXPECT_EQ(FinishOutput(full, code, env), after);
    EXPECT_EQ(said, "error: writing standard output: No space left on device\n");
  }
  said.clear();
  OutputStream null(::open("/dev/null", O_WRONLY | O_CLOEXEC), stop_);
  null.Write("text");
  EXPECT_EQ(FinishOutput(null, ExitCode::kSuccess, env), ExitCode::kSuccess);
  EXPECT_EQ(said, "");
}

// In a child, whose standard descriptors can be closed.
int WithClosed(const std::vector<int>& closed) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (const int fd : closed) ::close(fd);
    OccupyStandardDescriptors();
    const int next = ::open("/dev/null", O_RDONLY);
    bool sound = next > 2;
    char byte = 'x';
    for (const int fd : closed) sound = sound && (fd == 0 ? ::read(fd, &byte, 1) : ::write(fd, &byte, 1)) < 0;
    ::_exit(sound ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return status;
}

TEST(OccupyStandardDescriptors, FilesGetOtherNumbers) {
  const std::vector<std::vector<int>> closed = {{}, {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}};
  for (const std::vector<int>& descriptors : closed) EXPECT_EQ(WithClosed(descriptors), 0) << descriptors.size();
}

}  // namespace
}  // namespace upskill
