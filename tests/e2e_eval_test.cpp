// SPDX-License-Identifier: Apache-2.0
// The main job through the real binary: the default model on the example skill, determinism, the cache.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "eval/journal/journal.h"
#include "support/source_dir.h"
#include "support/subprocess.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

const fs::path kCudaSkill = SourceDir() / "examples/skills/kernel-builder-cuda-kernels";

// Answers by cell of the newest run in `runs`.
std::map<std::string, std::string> AnswersOf(const fs::path& runs) {
  std::map<std::string, std::string> answers;
  const Result<fs::path> run = ResolveRun(runs, "latest");
  if (!run) return answers;
  const Result<JournalContent> content = ReadJournal(*run);
  if (!content) return answers;
  for (const Sample& sample : content->samples) answers[CellName(sample)] = sample.response.text;
  return answers;
}

TEST(Eval, EmbeddedModelAnswersAndRepeats) {
  const TempFolder folder;
  const std::vector<std::string> command = {"eval", kCudaSkill.string(), "--max-tokens", "12", "--seed",
                                            "7",    "--no-cache"};
  const ProcessOutcome first = RunUpskill(command, folder.path());
  ASSERT_EQ(first.exit_code, 0) << first.error;
  EXPECT_THAT(first.out, AllOf(HasSubstr("smollm2-135m"), HasSubstr("baseline"), HasSubstr("with skill"),
                               HasSubstr("the default model is used")));
  const auto answers = AnswersOf(folder.path() / "runs");
  ASSERT_GE(answers.size(), 24U);

  const TempFolder other;
  ASSERT_EQ(RunUpskill(command, other.path()).exit_code, 0);
  EXPECT_EQ(AnswersOf(other.path() / "runs"), answers) << "the same seed at the same parallelism";
}

TEST(Eval, SecondRunAsksNothing) {
  const TempFolder folder;
  const std::vector<std::string> command = {
      "eval", kCudaSkill.string(), "-m", "sim:base=0.3,skill=0.9,seed=3", "--runs", "3"};
  const ProcessOutcome first = RunUpskill(command, folder.path());
  ASSERT_EQ(first.exit_code, 0) << first.error;
  const ProcessOutcome second = RunUpskill(command, folder.path());
  EXPECT_EQ(second.exit_code, 0);
  EXPECT_THAT(second.out, HasSubstr("no requests were sent"));
  const auto result = [](const std::string& text) {
    const std::size_t from = text.find("  baseline");
    return text.substr(from, text.find("\nrun ") - from);
  };
  EXPECT_EQ(result(first.out), result(second.out));
}

TEST(Eval, BaselineIsReusedForAnotherSkill) {
  const TempFolder folder;
  ASSERT_EQ(RunUpskill({"eval", kCudaSkill.string(), "-m", "sim:base=0.3,skill=0.9"}, folder.path()).exit_code, 0);
  fs::copy(kCudaSkill, folder.path() / "kernel-builder-cuda-kernels", fs::copy_options::recursive);
  ASSERT_EQ(RunShell("echo 'One more rule.' >>kernel-builder-cuda-kernels/SKILL.md", folder.path()).exit_code, 0);
  const ProcessOutcome outcome =
      RunUpskill({"eval", "kernel-builder-cuda-kernels", "-m", "sim:base=0.3,skill=0.9", "--json"}, folder.path());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  const Result<Json> json = ParseJson(outcome.out, "stdout");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ((*json)["students"][0]["cells_from_cache"], (*json)["cases"]) << "the baseline arm, one round";
}

TEST(Eval, TheEmbeddedModelEndsWhenDecided) {
  const TempFolder folder;
  const ProcessOutcome outcome = RunUpskill(
      {"eval", kCudaSkill.string(), "--runs", "20", "--max-tokens", "24", "--stop-when-decided", "-q", "--json"},
      folder.path());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  const Result<Json> json = ParseJson(outcome.out, "stdout");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ((*json)["students"][0]["verdict"], "helps");
  EXPECT_GT((*json)["students"][0]["cells_skipped"], 0);
}

// Evaluates a small skill (16 cells) with the default model, which must come to its end by itself; exit code 124: it
// doesn't.
ProcessOutcome EvalWithLimit(const std::string& limit, const TempFolder& folder) {
  folder.Write("s/SKILL.md", "---\nname: s\ndescription: For the test.\n---\n\nSay ok.\n");
  std::string tests;
  for (int i = 0; i < 8; ++i) {
    tests += i == 0 ? "" : ",";
    tests += R"({"input": "Question )" + std::to_string(i) + R"(", "expected": {"contains": ["ok"]}})";
  }
  folder.Write("s/skill_meta.json", R"({"tests": [)" + tests + "]}");
  return RunShell("timeout 300 \"$UPSKILL\" eval s --max-tokens 4 -q --no-cache " + limit, folder.path());
}

TEST(Eval, LimitsThatAreNotReachedChangeNothingForTheEmbeddedModel) {
  const TempFolder folder;
  for (const char* limit : {"--max-tokens-total 1000000", "--max-cost 1"}) {
    const ProcessOutcome outcome = EvalWithLimit(limit, folder);
    EXPECT_EQ(outcome.exit_code, 0) << limit << outcome.error;
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(AnswersOf(folder.path() / "runs").size(), 16U);
  }
}

TEST(Eval, TheEmbeddedModelStopsAtItsTokenLimit) {
  const TempFolder folder;
  const ProcessOutcome outcome = EvalWithLimit("--max-tokens-total 400", folder);
  EXPECT_EQ(outcome.exit_code, 3) << outcome.error;
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("stopped: "), HasSubstr(" of 400 tokens used, and the next answer may"),
                                   HasSubstr("--resume")));
  const std::size_t answers = AnswersOf(folder.path() / "runs").size();
  EXPECT_GT(answers, 0U);
  EXPECT_LT(answers, 16U);
  const ProcessOutcome none = EvalWithLimit("--max-tokens-total 50", folder);
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.error, HasSubstr("stopped: 0 of 50 tokens used, and the next answer may take"));
}

TEST(Eval, LibraryMessagesGoToTheLog) {
  const TempFolder folder;
  const ProcessOutcome outcome = RunUpskill(
      {"--log", "log.txt", "eval", kCudaSkill.string(), "--max-tokens", "1", "--no-baseline", "-q"}, folder.path());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(RunShell("cat log.txt", folder.path()).out, HasSubstr("llama.cpp: "));
}

TEST(Eval, VersionAndHelp) {
  const TempFolder folder;
  EXPECT_THAT(RunUpskill({"--version"}, folder.path()).out, HasSubstr("upskill "));
  EXPECT_THAT(RunUpskill({"--help"}, folder.path()).out,
              AllOf(HasSubstr("eval"), HasSubstr("runs"), HasSubstr("list")));
}

}  // namespace
}  // namespace upskill
