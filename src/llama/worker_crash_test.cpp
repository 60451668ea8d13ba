// SPDX-License-Identifier: Apache-2.0
// Workers that crash or hang, and files that make them do so.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "llama/worker_model.h"
#include "support/changed_model.h"
#include "support/child_pids.h"
#include "support/model_answers.h"
#include "util/rng.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Long enough to load the model on a busy machine.
constexpr std::chrono::seconds kPatience{2};

Result<std::unique_ptr<Model>> OpenFile(const fs::path& file,
                                        std::chrono::milliseconds patience = WorkerOptions().patience) {
  LlamaOptions options;
  options.path = file;
  options.parallel = 2;
  options.threads = 1;
  WorkerOptions worker;
  worker.patience = patience;
  return OpenWorkerModel(options, worker);
}

void KillWorker(int signal) {
  const std::vector<pid_t> workers = ChildrenOf(::getpid());
  ASSERT_THAT(workers, SizeIs(1));
  ASSERT_EQ(::kill(workers[0], signal), 0);
}

// Long requests, of which none can be finished before the worker is killed.
void StartLong(Model& model, Answers& answers) {
  for (std::size_t i = 0; i < answers.calls().size(); ++i) {
    model.Start(Ask("Count from one to a thousand.", 2000, 0.0), answers.Expect(i));
  }
}

TEST(WorkerCrash, TheFirstRestartsTheWorkerTheSecondEndsTheModel) {
  auto model = OpenFile(UPSKILL_TINY_MODEL);
  ASSERT_TRUE(model.ok()) << model.error().message;
  const Result<ChatResponse> before = Generate(**model, Ask("Name a colour.", 8));
  Answers first(3);
  StartLong(**model, first);
  KillWorker(SIGKILL);
  first.WaitFor(3);
  EXPECT_THAT(first.kinds(), Each("unavailable"));
  EXPECT_THAT(first.calls(), Each(1));
  EXPECT_THAT(first.message(0), AllOf(HasSubstr("signal 9 (Killed"), HasSubstr("restarted")));

  const Result<ChatResponse> again = Generate(**model, Ask("Name a colour.", 8));
  ASSERT_TRUE(before.ok());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->text, before->text);

  Answers second(3);
  StartLong(**model, second);
  KillWorker(SIGABRT);  // unlike SIGSEGV, sanitizers don't handle it
  second.WaitFor(3);
  EXPECT_THAT(second.kinds(), Each("permanent"));
  EXPECT_THAT(second.message(2), AllOf(HasSubstr("again"), HasSubstr("signal 6 (Aborted)")));
  const Result<ChatResponse> later = Generate(**model, Ask("Name a colour.", 8));
  ASSERT_FALSE(later.ok());
  EXPECT_EQ(later.error().kind, ErrorKind::kPermanent);
  EXPECT_EQ(later.error().message, second.message(2));
  EXPECT_EQ((*model)->CountTokens("not counted before"), std::nullopt);
}

// Its answers would be stored as those of the first file.
TEST(WorkerCrash, ARestartNeedsTheSameFile) {
  const TempFolder folder;
  std::string bytes = TinyModelBytes();
  const fs::path file = folder.Write("model.gguf", bytes);
  auto model = OpenFile(file);
  ASSERT_TRUE(model.ok()) << model.error().message;
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  fs::rename(folder.Write("other.gguf", bytes), file);
  Answers answers(1);
  StartLong(**model, answers);
  KillWorker(SIGKILL);
  answers.WaitFor(1);
  EXPECT_THAT(answers.kinds(), Each("unavailable"));
  const Result<ChatResponse> later = Generate(**model, Ask("Name a colour.", 8));
  ASSERT_FALSE(later.ok());
  EXPECT_EQ(later.error().kind, ErrorKind::kPermanent);
  EXPECT_THAT(later.error().message, HasSubstr("model.gguf has changed meanwhile"));
}

TEST(WorkerCrash, CountingEndsWithTheWorker) {
  auto model = OpenFile(UPSKILL_TINY_MODEL, kPatience);
  ASSERT_TRUE(model.ok()) << model.error().message;
  KillWorker(SIGSTOP);
  EXPECT_EQ((*model)->CountTokens(" the"), std::nullopt);
  EXPECT_EQ((*model)->CountTokens(" the"), 1U);
}

TEST(WorkerCrash, AWorkerThatHangsIsRestarted) {
  auto model = OpenFile(UPSKILL_TINY_MODEL, kPatience);
  ASSERT_TRUE(model.ok()) << model.error().message;
  Answers first(2);
  StartLong(**model, first);
  KillWorker(SIGSTOP);
  first.WaitFor(2);
  EXPECT_THAT(first.kinds(), Each("unavailable"));
  EXPECT_THAT(first.message(0), HasSubstr("no sign of life for 2 s"));
  EXPECT_TRUE(Generate(**model, Ask("Name a colour.", 2)).ok());
  // The second Ctrl-C ends even a request that hangs.
  KillWorker(SIGSTOP);
  Answers second(1);
  StartLong(**model, second);
  (*model)->Cancel(Model::CancelScope::kRunning);
  EXPECT_THAT(second.kinds(), Each("cancelled"));
}

// Random bytes in the header make llama.cpp refuse the file, allocate too much or crash. The error says which.
TEST(WorkerCrash, DamagedFilesAreErrors) {
  const TempFolder folder;
  const std::string whole = DefaultModelBytes(std::size_t{2} << 20U);
  Rng random(7);
  for (int i = 0; i < 12; ++i) {
    std::string bytes = whole;
    for (int flips = 0; flips < 20; ++flips) {
      // A few in the counts at the start, most anywhere in the metadata and the tensors' descriptions.
      const std::size_t range = flips < 2 ? 64 : bytes.size();
      bytes[8 + random.Next() % (range - 8)] = static_cast<char>(random.Next());
    }
    const auto model = OpenFile(folder.Write("damaged.gguf", bytes));
    ASSERT_FALSE(model.ok());
    EXPECT_THAT(model.error().message, HasSubstr("damaged.gguf: "));
  }
}

}  // namespace
}  // namespace upskill
