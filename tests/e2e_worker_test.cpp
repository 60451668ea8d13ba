// SPDX-License-Identifier: Apache-2.0
// The worker process of models in process: killed, hanging, interrupted in the middle of a run of the real binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "eval/journal/journal.h"
#include "eval/journal/run_data.h"
#include "eval/verdict/summary.h"
#include "support/changed_model.h"
#include "support/child_pids.h"
#include "support/source_dir.h"
#include "support/subprocess.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const fs::path kExampleSkill = SourceDir() / "examples/skills/kernel-builder-cuda-kernels";

std::vector<Sample> SamplesIn(const fs::path& runs) {
  const std::vector<fs::path> found = FindRuns(runs);
  if (found.empty()) return {};
  const Result<JournalContent> content = ReadJournal(found.front());
  return content ? content->samples : std::vector<Sample>();
}

std::size_t AnswersIn(const fs::path& runs) {
  const std::vector<Sample> samples = SamplesIn(runs);
  return static_cast<std::size_t>(
      std::count_if(samples.begin(), samples.end(), [](const Sample& s) { return s.ok(); }));
}

std::vector<std::string> ErrorsIn(const fs::path& runs) {
  std::vector<std::string> errors;
  for (const Sample& sample : SamplesIn(runs)) {
    if (sample.error) errors.push_back(std::string(ErrorKindName(sample.error->kind)) + ": " + sample.error->message);
  }
  return errors;
}

// Kills the worker of a run that has stored `answers` answers. Returns its PID, 0 if the run ended first.
pid_t KillWorkerAfter(const fs::path& runs, std::size_t answers, pid_t run, pid_t not_this = 0) {
  for (int i = 0; i < 30000 && ::kill(run, 0) == 0; ++i) {
    const std::vector<pid_t> workers = ChildrenOf(run);
    if (workers.size() == 1 && workers[0] != not_this && AnswersIn(runs) >= answers) {
      ::kill(workers[0], SIGKILL);
      return workers[0];
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return 0;
}

bool IsComplete(const fs::path& runs) {
  const Result<RunData> data = RunData::Read(FindRuns(runs).front());
  return data && Summarize(*data).complete();
}

class Worker : public testing::Test {
 protected:
  fs::path runs() const { return folder_.path() / "runs"; }

  // A skill that makes kHangingTemplate hang, and a model with that template.
  void MakeHangingSkill() {
    folder_.Write("demo/SKILL.md", "---\nname: demo\ndescription: A skill for tests.\n---\n\nplease hang\n");
    folder_.Write("demo/skill_meta.json",
                  R"({"tests": [{"input": "Which colour?", "expected": {"contains": ["b"]}}]})");
    folder_.Write("hang.gguf", ModelWithTemplate(kHangingTemplate));
  }

  TempFolder folder_;
  // Answers of some tenths of a second each.
  const std::vector<std::string> command_ = {
      "eval", kExampleSkill.string(), "-m", "llama:" UPSKILL_TINY_MODEL, "--max-tokens", "1000", "-j", "4"};
};

TEST_F(Worker, IsRestartedAfterACrash) {
  const pid_t run = StartUpskill(command_, folder_.path());
  EXPECT_NE(KillWorkerAfter(runs(), 6, run), 0);
  EXPECT_EQ(WaitFor(run), 0);
  EXPECT_TRUE(IsComplete(runs()));
  const std::vector<std::string> errors = ErrorsIn(runs());
  ASSERT_FALSE(errors.empty());  // those in flight
  for (const std::string& error : errors) EXPECT_THAT(error, AllOf(HasSubstr("unavailable: "), HasSubstr("signal 9")));
}

// The answers of a run with these models, by model and cell.
std::map<std::string, std::string> AnswersOf(const fs::path& folder, const std::vector<fs::path>& models) {
  std::vector<std::string> command = {"eval", kExampleSkill.string(), "--max-tokens", "100", "--no-cache"};
  for (const fs::path& model : models) {
    command.emplace_back("-m");
    command.push_back("llama:" + model.string() + "?threads=2&parallel=4");
  }
  fs::create_directories(folder);
  EXPECT_EQ(RunUpskill(command, folder).exit_code, 0);
  std::map<std::string, std::string> answers;
  for (const Sample& sample : SamplesIn(folder / "runs")) answers[CellName(sample)] = sample.response.text;
  return answers;
}

TEST_F(Worker, TwoModelsWorkAtTheSameTimeAndAnswerAsEachDoesAlone) {
  const fs::path other = folder_.Write("other.gguf", ModelWithTemplate(kHangingTemplate));
  const std::vector<fs::path> models = {UPSKILL_TINY_MODEL, other};
  std::map<std::string, std::string> alone;
  for (const fs::path& model : models) alone.merge(AnswersOf(folder_.path() / model.stem(), {model}));
  const fs::path together = folder_.path() / "together";
  EXPECT_EQ(AnswersOf(together, models), alone);
  EXPECT_EQ(alone.size(), 64U);  // 2 models, 16 cases, 2 arms
  const std::vector<Sample> samples = SamplesIn(together / "runs");
  const auto first = [&](bool of_first) {
    return std::find_if(samples.begin(), samples.end(),
                        [&](const Sample& s) { return (s.student == samples[0].student) == of_first; });
  };
  // The one doesn't wait for the other to finish.
  EXPECT_LT(first(false) - samples.begin(), 24);
}

TEST_F(Worker, TwoCrashesLeaveARunThatCanBeResumed) {
  const pid_t run = StartUpskill(command_, folder_.path());
  const pid_t first = KillWorkerAfter(runs(), 4, run);
  ASSERT_NE(first, 0);
  EXPECT_NE(KillWorkerAfter(runs(), 8, run, first), 0);
  EXPECT_EQ(WaitFor(run), 3);
  EXPECT_FALSE(IsComplete(runs()));
  const std::vector<std::string> errors = ErrorsIn(runs());
  ASSERT_FALSE(errors.empty());
  EXPECT_THAT(errors.back(), AllOf(HasSubstr("permanent: "), HasSubstr("failed again"), HasSubstr("signal 9")));

  const ProcessOutcome resumed =
      RunUpskill({"eval", kExampleSkill.string(), "-m", "llama:" UPSKILL_TINY_MODEL, "-j", "4", "--resume", "latest"},
                 folder_.path());
  EXPECT_EQ(resumed.exit_code, 0) << resumed.error;
  EXPECT_TRUE(IsComplete(runs()));
}

TEST_F(Worker, AHangingChatTemplateIsAnErrorOfItsCells) {
#if defined(UPSKILL_SANITIZED)
  GTEST_SKIP() << "this build has the operator new of a sanitizer, so templates have no limit";
#endif
  MakeHangingSkill();
  const ProcessOutcome outcome = RunShell("\"$UPSKILL\" eval demo -m llama:hang.gguf --max-tokens 2", folder_.path());
  EXPECT_EQ(outcome.exit_code, 3) << outcome.error;
  EXPECT_THAT(ErrorsIn(runs()), ElementsAre("permanent: the model's chat template took more than 5 s"));
  EXPECT_EQ(AnswersIn(runs()), 1U);  // without the skill
}

TEST_F(Worker, TheSecondInterruptEndsARunThatHangs) {
  MakeHangingSkill();
  const ProcessOutcome outcome = RunShell(
      "setsid \"$UPSKILL\" eval demo -m llama:hang.gguf --max-tokens 2 & pid=$!; "
      "while [ ! -e runs/*/plan.json ]; do sleep 0.01; done; sleep 0.5; "
      "kill -INT -- -$pid; sleep 0.5; kill -INT -- -$pid; wait $pid",
      folder_.path());
  EXPECT_EQ(outcome.exit_code, 130) << outcome.error;
  EXPECT_THAT(ErrorsIn(runs()), IsEmpty());
}

TEST_F(Worker, TheThirdInterruptEndsAProgramThatWaits) {
  MakeHangingSkill();
  folder_.Write("hang.gguf", ModelWithTemplate("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}"
                                               "{% endfor %}{{ messages[0]['content'] }}"));
  const ProcessOutcome outcome = RunShell(
      "\"$UPSKILL\" eval demo -m llama:hang.gguf & pid=$!; sleep 0.5; "
      "for i in 1 2 3; do kill -INT $pid; sleep 0.2; done; wait $pid",
      folder_.path());
  EXPECT_EQ(outcome.exit_code, 130) << outcome.error;
}

// Ctrl-C reaches every process of the terminal's foreground group.
TEST_F(Worker, InterruptDrainsItsRequests) {
  const ProcessOutcome outcome =
      RunShell("setsid \"$UPSKILL\" eval " + kExampleSkill.string() +
                   " -m llama:" UPSKILL_TINY_MODEL
                   " --max-tokens 500 -j 4 --runs 5 & pid=$!; "
                   "while [ $(cat runs/*/samples.jsonl 2>/dev/null | wc -l) -lt 6 ]; do sleep 0.01; done; "
                   "kill -INT -- -$pid; wait $pid",
               folder_.path());
  EXPECT_EQ(outcome.exit_code, 130) << outcome.error;
  EXPECT_THAT(ErrorsIn(runs()), IsEmpty());
  EXPECT_GE(AnswersIn(runs()), 7U);
}

TEST_F(Worker, ADamagedModelIsAnError) {
  MakeHangingSkill();
  folder_.Write("damaged.gguf", DefaultModelBytes(std::size_t{20} << 20U));
  const ProcessOutcome outcome = RunUpskill({"eval", "demo", "-m", "llama:damaged.gguf"}, folder_.path());
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("error: "), HasSubstr("damaged.gguf")));
}

}  // namespace
}  // namespace upskill
