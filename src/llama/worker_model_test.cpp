// SPDX-License-Identifier: Apache-2.0
#include "llama/worker_model.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "llama/llama_model.h"
#include "support/changed_model.h"
#include "support/child_pids.h"
#include "support/model_answers.h"
#include "util/files.h"
#include "util/json_schema.h"
#include "util/log.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

LlamaOptions TinyModel(int parallel = 2) {
  LlamaOptions options;
  options.path = UPSKILL_TINY_MODEL;
  options.parallel = parallel;
  options.threads = 1;
  return options;
}

std::unique_ptr<Model> Open(const LlamaOptions& options) {
  Result<std::unique_ptr<Model>> model = OpenWorkerModel(options, {});
  EXPECT_TRUE(model.ok()) << model.error().message;
  CHECK(model.ok());
  return std::move(model).value();
}

std::unique_ptr<Model> Load(const LlamaOptions& options) {
  Result<std::unique_ptr<Model>> model = LoadLlamaModel(options);
  CHECK(model.ok());
  return std::move(model).value();
}

TEST(WorkerModel, IsLikeTheEngine) {
  LlamaOptions options = TinyModel(3);
  for (const char* name : {"", "small"}) {
    options.name = name;
    const auto engine = Load(options);
    const auto worker = Open(options);
    EXPECT_EQ(worker->info().name, engine->info().name);
    EXPECT_EQ(worker->info().identity, engine->info().identity);
    EXPECT_EQ(worker->info().detail, engine->info().detail);
    EXPECT_GT(worker->info().tokens_per_second, 0.0);
    EXPECT_EQ(worker->info().in_process, engine->info().in_process);
    EXPECT_EQ(worker->info().local, engine->info().local);
    EXPECT_EQ(worker->info().warm_up, engine->info().warm_up);
    EXPECT_FALSE(worker->info().price.has_value());
    EXPECT_EQ(worker->Window(), engine->Window());
    for (const std::string text : {"", "hello", "hello hello", "<|im_start|>", "hello"}) {
      EXPECT_EQ(worker->CountTokens(text), engine->CountTokens(text));
    }
  }
}

TEST(WorkerModel, AnswersAreThoseOfTheEngine) {
  std::vector<ChatRequest> requests = SomeRequests(0.9);
  requests[1].answer_schema = Json::parse(R"({"type":"object","properties":{"legs":{"type":"integer","maximum":99}},)"
                                          R"("required":["legs"],"additionalProperties":false})");
  requests[1].sampling.max_tokens = 40;
  requests[2].sampling.temperature.reset();
  requests[3].messages = {{Role::kUser, "Hi."}, {Role::kAssistant, "Hello."}, {Role::kUser, "Again."}};
  const std::vector<ChatResponse> expected = AskAll(*Load(TinyModel(4)), requests);
  const std::vector<ChatResponse> answers = AskAll(*Open(TinyModel(4)), requests);
  ASSERT_THAT(answers, SizeIs(expected.size()));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].text, expected[i].text);
    EXPECT_EQ(answers[i].stop, expected[i].stop);
    EXPECT_EQ(answers[i].usage.input, expected[i].usage.input);
    EXPECT_EQ(answers[i].usage.cache_read, expected[i].usage.cache_read);
    EXPECT_EQ(answers[i].usage.output, expected[i].usage.output);
    EXPECT_GT(answers[i].seconds, 0.0);
  }
  const Result<Json> json = ParseJson(answers[1].text, "answer");
  ASSERT_TRUE(json.ok()) << answers[1].text;
  EXPECT_TRUE(CheckJsonSchema(*requests[1].answer_schema, *json).ok());
}

TEST(WorkerModel, ErrorsAreThoseOfTheEngine) {
  const TempFolder folder;
  LlamaOptions options = TinyModel();
  for (const fs::path& file :
       {folder.path() / "none.gguf", folder.Write("text.gguf", "some text"), folder.Write("magic.gguf", "GGUF"),
        folder.Write("zeros.gguf", std::string("GGUF\3\0\0\0", 8) + std::string(1000, '\0')),
        folder.Write("part.gguf", DefaultModelBytes(std::size_t{1} << 20U))}) {
    options.path = file;
    const auto expected = LoadLlamaModel(options);
    const auto model = OpenWorkerModel(options, {});
    ASSERT_FALSE(expected.ok());
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.error().kind, expected.error().kind);
    EXPECT_EQ(model.error().message, expected.error().message);
  }
  const auto model = Open(TinyModel());
  std::string words;
  for (int i = 0; i < 9000; ++i) words += " word";
  const Result<ChatResponse> response = Generate(*model, Ask(words));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind, ErrorKind::kPermanent);
  EXPECT_THAT(response.error().message, HasSubstr("tokens, but the model's context has only"));
  EXPECT_TRUE(Generate(*model, Ask("Say hello.", 1)).ok());
}

TEST(WorkerModel, ARequestThatIsTooLongIsAnErrorOfItsOwn) {
  const auto model = Open(TinyModel());
  const std::string text(std::size_t{33} << 20U, 'x');
  const Result<ChatResponse> response = Generate(*model, Ask(text));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind, ErrorKind::kPermanent);
  EXPECT_EQ(model->CountTokens(text), std::nullopt);
  EXPECT_TRUE(Generate(*model, Ask("Say hello.", 1)).ok());
}

TEST(WorkerModel, CancelOfTheRunning) {
  const auto model = Open(TinyModel());
  Answers answers(6);
  CancelAfterTheFirst(*model, answers, Model::CancelScope::kRunning, 2000);
  EXPECT_EQ(answers.kinds()[0], "ok");
  EXPECT_THAT(answers.kinds(), Each(AnyOf("ok", "cancelled")));
  EXPECT_EQ(answers.kinds()[5], "cancelled");
  EXPECT_THAT(answers.calls(), Each(1));
  EXPECT_TRUE(Generate(*model, Ask("Say hello.", 2)).ok());
}

TEST(WorkerModel, CancelOfTheWaitingLetsTheOthersFinish) {
  const auto model = Open(TinyModel());
  Answers answers(6);
  CancelAfterTheFirst(*model, answers, Model::CancelScope::kWaiting, 12);
  EXPECT_EQ(answers.kinds()[0], "ok");
  EXPECT_EQ(answers.kinds()[1], "ok");
  EXPECT_THAT(answers.kinds(), Each(AnyOf("ok", "cancelled")));
  EXPECT_THAT(answers.calls(), Each(1));
}

TEST(WorkerModel, CancelDoesNotWaitForTheWorker) {
  const auto model = Open(TinyModel());
  const std::vector<pid_t> workers = ChildrenOf(::getpid());
  ASSERT_THAT(workers, SizeIs(1));
  ASSERT_EQ(::kill(workers[0], SIGSTOP), 0);
  Answers answers(2);
  for (std::size_t i = 0; i < 2; ++i) model->Start(Ask("Say hello.", 2000), answers.Expect(i));
  model->Cancel(Model::CancelScope::kRunning);
  EXPECT_THAT(answers.kinds(), Each("cancelled"));
  ASSERT_EQ(::kill(workers[0], SIGCONT), 0);
  EXPECT_TRUE(Generate(*model, Ask("Say hello.", 2)).ok());
}

// They reach the whole process group of the program, which then waits for the answers in flight.
TEST(WorkerModel, SignalsOfTheTerminalDoNotEndTheWorker) {
  const auto model = Open(TinyModel());
  const std::vector<pid_t> workers = ChildrenOf(::getpid());
  ASSERT_THAT(workers, SizeIs(1));
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) ASSERT_EQ(::kill(workers[0], signal), 0);
  EXPECT_TRUE(Generate(*model, Ask("Say hello.", 2)).ok());
  EXPECT_EQ(ChildrenOf(::getpid()), workers);
}

TEST(WorkerModel, EndsItsWorkerAndItsRequests) {
  Answers answers(3);
  {
    const auto model = Open(TinyModel());
    for (std::size_t i = 0; i < 3; ++i) model->Start(Ask("Count to a thousand.", 2000), answers.Expect(i));
  }
  EXPECT_THAT(answers.kinds(), Each("cancelled"));
  EXPECT_THAT(answers.calls(), Each(1));
  EXPECT_THAT(ChildrenOf(::getpid()), IsEmpty());
}

TEST(WorkerModel, SendsTheLogOfItsWorker) {
  const TempFolder folder;
  ASSERT_TRUE(SetLogFile(folder.path() / "log"));
  EXPECT_TRUE(Generate(*Open(TinyModel()), Ask("Say hello.", 1)).ok());
  ASSERT_TRUE(SetLogFile("/dev/null"));
  const Result<std::string> log = ReadFile(folder.path() / "log");
  ASSERT_TRUE(log.ok());
  EXPECT_THAT(*log, AllOf(HasSubstr(" llama.cpp: "), HasSubstr("tiny.gguf")));
}

// A program in place of the worker: what it gets, and what becomes of what it sends.
Error ErrorWithProgram(const TempFolder& folder, const std::string& script) {
  const fs::path program = folder.Write("worker.sh", "#!/bin/sh\n" + script + "\n");
  fs::permissions(program, fs::perms::owner_all);
  WorkerOptions worker;
  worker.program = program;
  const auto model = OpenWorkerModel(TinyModel(), worker);
  EXPECT_FALSE(model.ok());
  return model ? Error{} : model.error();
}

TEST(WorkerModel, TheWorkerGetsNoKeys) {
  const TempFolder folder;
  ASSERT_EQ(::setenv("ANTHROPIC_API_KEY", "sk-secret", 1), 0);
  ASSERT_EQ(::setenv("GGML_SOMETHING", "kept", 1), 0);
  ErrorWithProgram(folder, "env >'" + (folder.path() / "env").string() + "'");
  ::unsetenv("ANTHROPIC_API_KEY");
  ::unsetenv("GGML_SOMETHING");
  const Result<std::string> variables = ReadFile(folder.path() / "env");
  ASSERT_TRUE(variables.ok());
  EXPECT_THAT(*variables, AllOf(HasSubstr("GGML_SOMETHING=kept"), HasSubstr("GGML_NO_BACKTRACE=1"),
                                HasSubstr("hugetlb=1"), Not(HasSubstr("sk-secret"))));
}

TEST(WorkerModel, TheErrorNamesTheCause) {
  const TempFolder folder;
  const std::string begin = std::string("model ") + UPSKILL_TINY_MODEL + ": the engine failed with ";
  const std::string end = " while loading it";
  const auto cause = [&](const std::string& script) {
    const Error error = ErrorWithProgram(folder, script);
    EXPECT_EQ(error.kind, ErrorKind::kPermanent);
    EXPECT_THAT(error.message, AllOf(testing::StartsWith(begin), testing::EndsWith(end)));
    return error.message.substr(begin.size(), error.message.size() - begin.size() - end.size());
  };
  EXPECT_EQ(cause("exit 7"), "exit code 7");
  EXPECT_EQ(cause("echo first >&2; echo 'no more memory' >&2; exit 1"), "exit code 1: no more memory");
  EXPECT_EQ(cause("kill -SEGV $$"), "signal 11 (Segmentation fault)");
  EXPECT_EQ(cause("printf 'zzzzzzzz' >&3; sleep 60"), "a message of 2054847098 bytes");
  EXPECT_EQ(cause("printf '\\003\\000\\000\\000abc' >&3; sleep 60"), "an unreadable message");
}

TEST(WorkerModel, AMissingProgramIsAnError) {
  WorkerOptions worker;
  worker.program = "/nonexistent/upskill";
  const auto model = OpenWorkerModel(TinyModel(), worker);
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.error().message, AllOf(HasSubstr("/nonexistent/upskill"), HasSubstr("No such file")));
}

}  // namespace
}  // namespace upskill
