// SPDX-License-Identifier: Apache-2.0
// kill -9, Ctrl-C and a closed terminal in the middle of a run of the real binary, then --resume.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "eval/journal/journal.h"
#include "eval/plan/cell.h"
#include "eval/verdict/summary.h"
#include "support/source_dir.h"
#include "support/subprocess.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

const fs::path kExample = SourceDir() / "examples/skills/kernel-builder-cuda-kernels";

std::size_t LinesIn(const fs::path& run) {
  std::size_t lines = 0;
  const Result<std::size_t> read = VisitJournalLines(run, [&](const JournalLine&) { ++lines; });
  return read ? lines : 0;
}

// Waits until the journal of the only run has `lines` lines. Returns its folder, or an empty path if the process ended
// first.
fs::path WaitForLines(const fs::path& runs, std::size_t lines, pid_t pid) {
  for (int i = 0; i < 60000 && ::kill(pid, 0) == 0; ++i) {
    const std::vector<fs::path> found = FindRuns(runs);
    if (!found.empty() && LinesIn(found.front()) >= lines) return found.front();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return {};
}

std::map<std::string, int> CellCounts(const fs::path& run) {
  std::map<std::string, int> counts;
  const Result<JournalContent> content = ReadJournal(run);
  if (!content) return counts;
  for (const Sample& sample : content->samples) {
    if (sample.ok()) ++counts[CellName(sample)];
  }
  return counts;
}

RunSummary SummaryOf(const fs::path& run) {
  const Result<RunData> data = RunData::Read(run);
  CHECK(data.ok());
  return Summarize(*data);
}

TEST(Crash, KilledSimulatedRunResumesToTheSameCounts) {
  const std::string model = "sim:base=0.4,skill=0.85,latency-ms=20";
  const TempFolder undisturbed;
  ASSERT_EQ(
      RunUpskill({"eval", kExample.string(), "-m", model, "--runs", "10", "-j", "4"}, undisturbed.path()).exit_code, 0);
  const RunSummary expected = SummaryOf(FindRuns(undisturbed.path() / "runs").front());

  const TempFolder folder;
  const pid_t pid = StartUpskill({"eval", kExample.string(), "-m", model, "--runs", "10", "-j", "4"}, folder.path());
  const fs::path run = WaitForLines(folder.path() / "runs", 40, pid);
  ASSERT_FALSE(run.empty());
  ::kill(pid, SIGKILL);
  ASSERT_EQ(WaitFor(pid), 128 + SIGKILL);
  const std::size_t before = LinesIn(run);
  ASSERT_LT(before, expected.cells);
  // A crash may tear the last line; the reader and the next writer must cope.
  ASSERT_EQ(
      RunShell("printf '{\"schema\":1,\"key\":\"torn' >>'" + (run / "samples.jsonl").string() + "'", folder.path())
          .exit_code,
      0);

  const ProcessOutcome resumed = RunUpskill({"eval", kExample.string(), "--resume"}, folder.path());
  ASSERT_EQ(resumed.exit_code, 0) << resumed.error;
  EXPECT_THAT(resumed.out,
              HasSubstr(std::to_string(before) + " of " + std::to_string(expected.cells) + " cells from this run"));
  const std::map<std::string, int> counts = CellCounts(run);
  EXPECT_EQ(counts.size(), expected.cells);
  for (const auto& [cell, count] : counts) EXPECT_EQ(count, 1) << cell;
  const RunSummary actual = SummaryOf(run);
  for (const Arm arm : {Arm::kBaseline, Arm::kSkill}) {
    EXPECT_EQ(actual.students[0].arms.at(arm).passed, expected.students[0].arms.at(arm).passed);
    EXPECT_EQ(actual.students[0].arms.at(arm).answered, expected.students[0].arms.at(arm).answered);
  }
}

TEST(Crash, KilledRunOfTheEmbeddedModelResumes) {
  const TempFolder folder;
  const std::vector<std::string> command = {"eval", kExample.string(), "--max-tokens", "24", "-j", "4"};
  const pid_t pid = StartUpskill(command, folder.path());
  const fs::path run = WaitForLines(folder.path() / "runs", 6, pid);
  ASSERT_FALSE(run.empty());
  ::kill(pid, SIGKILL);
  ASSERT_EQ(WaitFor(pid), 128 + SIGKILL);
  const std::map<std::string, int> before = CellCounts(run);

  const ProcessOutcome resumed =
      RunUpskill({"eval", kExample.string(), "-j", "4", "--resume", "latest"}, folder.path());
  ASSERT_EQ(resumed.exit_code, 0) << resumed.error;
  const RunSummary summary = SummaryOf(run);
  EXPECT_TRUE(summary.complete());
  for (const auto& [cell, count] : CellCounts(run))
    EXPECT_EQ(count, 1) << cell << ": saved answers are not requested again";
  EXPECT_GE(before.size(), 6U);
}

TEST(Crash, InterruptDrainsSavesAndSaysHowToGoOn) {
  const TempFolder folder;
  const ProcessOutcome outcome = RunShell("$UPSKILL eval " + kExample.string() +
                                              " -m sim:base=0.5,skill=0.5,latency-ms=50 -j 4 --runs 50 & pid=$!; "
                                              "while [ $(cat runs/*/samples.jsonl 2>/dev/null | wc -l) -lt 20 ]; do "
                                              "sleep 0.01; done; kill -INT $pid; wait $pid",
                                          folder.path());
  EXPECT_EQ(outcome.exit_code, 130) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("stopping: finishing "));
  EXPECT_THAT(outcome.error, HasSubstr("--resume"));
  const fs::path run = FindRuns(folder.path() / "runs").front();
  const std::size_t saved = LinesIn(run);
  EXPECT_EQ(CellCounts(run).size(), saved);
  EXPECT_GE(saved, 20U);
}

// The shell and the kernel may both send SIGHUP, to the worker too.
TEST(Crash, AClosedTerminalDrainsSavesAndCanBeResumed) {
  const TempFolder folder;
  const std::vector<std::string> command = {"eval", kExample.string(), "--max-tokens", "8", "-j", "4", "-q"};
  OnTerminal started = StartUpskillOnTerminal(command, folder.path());
  const fs::path run = WaitForLines(folder.path() / "runs", 4, started.pid);
  ASSERT_FALSE(run.empty());
  ::kill(started.pid, SIGHUP);
  started.terminal.Close();
  EXPECT_EQ(WaitFor(started.pid), 130);
  const std::size_t saved = LinesIn(run);
  EXPECT_EQ(CellCounts(run).size(), saved) << "requests in flight were answered";

  const ProcessOutcome resumed = RunUpskill({"eval", kExample.string(), "-j", "4", "--resume"}, folder.path());
  EXPECT_EQ(resumed.exit_code, 0) << resumed.error;
  EXPECT_THAT(resumed.out, HasSubstr(std::to_string(saved) + " of " + std::to_string(SummaryOf(run).cells)));
}

TEST(Crash, AHangUpEndsTheCommandsOfACheck) {
  const TempFolder folder;
  const fs::path file = folder.path() / "pid";
  const std::string check = R"({"type": "command", "command": "echo $$ >)" + file.string() + R"(; exec sleep 60"})";
  folder.Write("tests.json", R"([{"id": "a", "input": "q", "reference": "x", "checks": [)" + check + "]}]");
  const pid_t pid = StartUpskill({"check", "tests.json", "--no-sandbox"}, folder.path());
  std::string command;
  for (int i = 0; i < 10000 && !command.ends_with('\n'); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (const Result<std::string> content = ReadFile(file)) command = *content;
  }
  ASSERT_FALSE(command.empty());
  ::kill(pid, SIGHUP);
  EXPECT_EQ(WaitFor(pid), 130);
  EXPECT_NE(::kill(std::stoi(command), 0), 0) << "it still runs";
}

}  // namespace
}  // namespace upskill
