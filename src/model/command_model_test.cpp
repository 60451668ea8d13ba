// SPDX-License-Identifier: Apache-2.0
#include "model/command_model.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <utility>

#include "model/structured_answer.h"
#include "support/model_answers.h"
#include "util/child_environment.h"
#include "util/error_cause.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

std::unique_ptr<Model> Command(const std::string& command, int parallel = 1,
                               std::chrono::milliseconds limit = std::chrono::seconds(60)) {
  CommandModelOptions options;
  options.command = command;
  options.environment = ChildEnvironment();
  options.parallel = parallel;
  options.time_limit = limit;
  options.output_limit = 1'000'000;
  return MakeCommandModel(std::move(options));
}

Error ErrorOf(Model& model, ChatRequest request) {
  const Result<ChatResponse> response = Generate(model, std::move(request));
  EXPECT_FALSE(response.ok());
  return response ? Error{} : response.error();
}

TEST(CommandModel, GetsThePromptAndGivesTheAnswer) {
  const auto model = Command("cat");
  EXPECT_EQ(model->info().name, "cmd:cat");
  EXPECT_FALSE(model->info().local);
  EXPECT_FALSE(model->info().price.has_value());
  ChatRequest request = Ask("What is 2 + 2?");
  request.system = "Be brief.";
  const Result<ChatResponse> response = Generate(*model, request);
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->text, "Be brief.\n\nWhat is 2 + 2?");
  EXPECT_FALSE(response->cost_usd.has_value());
  EXPECT_GT(response->seconds, 0.0);
}

TEST(CommandModel, AStructuredAnswerIsValidatedAndAskedForAgain) {
  const TempFolder folder;
  const std::string seen = (folder.path() / "seen").string();
  const auto model = Command("cat >>'" + seen + "'; if grep -q 'earlier answer' '" + seen +
                             "'; then echo 'So: {\"legs\": 4}'; else echo four; fi");
  ChatRequest request = Ask("How many legs has a dog?");
  request.answer_schema =
      Json::parse(R"({"type":"object","properties":{"legs":{"type":"integer"}},"required":["legs"]})");
  const Result<ChatResponse> response = GenerateStructured(*model, request);
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->parsed, (Json{{"legs", 4}}));
  const Result<std::string> prompts = ReadFile(seen);
  ASSERT_TRUE(prompts.ok());
  EXPECT_THAT(*prompts, AllOf(HasSubstr("fit this JSON schema"), HasSubstr("# Your earlier answer\n\nfour"),
                              HasSubstr("can't be used")));
}

TEST(CommandModel, ErrorsNameCommandStatusAndTheLastLine) {
  const auto failing = Command("echo first >&2; echo not logged in >&2; exit 5");
  const Error error = ErrorOf(*failing, Ask("Hi."));
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_THAT(error.message, AllOf(HasSubstr("exit 5` failed with exit status 5"),
                                   HasSubstr("standard error: not logged in"), Not(HasSubstr("first\n"))));
  const Error missing = ErrorOf(*Command("upskill-no-such-command -p"), Ask("Hi."));
  EXPECT_EQ(missing.kind, ErrorKind::kPermanent);
  EXPECT_THAT(missing.message, AllOf(HasSubstr("exit status 127"), HasSubstr("not found")));
  EXPECT_THAT(ErrorOf(*Command("echo Not logged in; exit 1"), Ask("Hi.")).message, HasSubstr("Not logged in"));
  EXPECT_THAT(ErrorOf(*Command("cat >/dev/null"), Ask("Hi.")).message, HasSubstr("it printed no answer"));
}

TEST(CommandModel, LimitsEndTheCommand) {
  const Error late = ErrorOf(*Command("sleep 60", 1, std::chrono::milliseconds(100)), Ask("Hi."));
  EXPECT_EQ(late.kind, ErrorKind::kUnavailable);
  EXPECT_THAT(late.message, HasSubstr("no answer within 0.1 s"));
  const Error large = ErrorOf(*Command("yes"), Ask("Hi."));
  EXPECT_EQ(large.kind, ErrorKind::kPermanent);
  EXPECT_EQ(large.cause, ErrorCause::kTooLong) << "so that it counts towards limits";
  EXPECT_THAT(large.message, HasSubstr("its output exceeds 1.0 MB"));
}

TEST(CommandModel, GetsNoKeys) {
  ASSERT_EQ(::setenv("ANTHROPIC_API_KEY", "sk-secret", 1), 0);
  const Result<ChatResponse> response = Generate(*Command("cat >/dev/null; env"), Ask("Hi."));
  ::unsetenv("ANTHROPIC_API_KEY");
  ASSERT_TRUE(response.ok());
  EXPECT_THAT(response->text, AllOf(HasSubstr("PATH="), Not(HasSubstr("sk-secret"))));
}

TEST(CommandModel, CancelReachesTheRunningAndTheWaiting) {
  const auto model = Command("sleep 60", 2);
  Answers answers(5);
  for (std::size_t i = 0; i < 5; ++i) model->Start(Ask("Hi."), answers.Expect(i));
  model->Cancel(Model::CancelScope::kRunning);
  answers.WaitFor(5);
  EXPECT_THAT(answers.kinds(), Each("cancelled"));
  EXPECT_THAT(answers.calls(), Each(1));
}

TEST(CommandModel, ItsEndCancelsEverything) {
  Answers answers(3);
  {
    const auto model = Command("sleep 60", 1);
    for (std::size_t i = 0; i < 3; ++i) model->Start(Ask("Hi."), answers.Expect(i));
  }
  EXPECT_THAT(answers.kinds(), Each("cancelled"));
}

TEST(CommandModel, RequestsWithToolsAreErrors) {
  ChatRequest request = Ask("Hi.");
  request.tools.push_back({"get", "", Json::object()});
  EXPECT_EQ(ErrorOf(*Command("cat"), request).kind, ErrorKind::kPermanent);
}

TEST(CommandModel, NeedsAShellOnlyForItsSyntax) {
  EXPECT_EQ(ShellCommandOf("claude -p"), "exec claude -p");
  EXPECT_EQ(ShellCommandOf(" claude -p 'be brief' "), "exec claude -p 'be brief'");
  for (const char* command : {"A=1 claude -p", "claude -p | head", "cd /tmp && claude", "echo $HOME", "if true"}) {
    EXPECT_EQ(ShellCommandOf(command), command);
  }
}

}  // namespace
}  // namespace upskill
