// SPDX-License-Identifier: Apache-2.0
// kill -9 at random moments of a run over HTTP, 64 requests at once, then --resume. The server counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "eval/journal/journal.h"
#include "eval/plan/cell.h"
#include "support/loopback_server.h"
#include "support/subprocess.h"
#include "util/hash.h"
#include "util/json.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr int kCases = 15;
constexpr int kRounds = 20;
constexpr std::size_t kCells = 2ULL * kCases * kRounds;
constexpr std::size_t kParallel = 64;
constexpr int kRuns = 50;
constexpr milliseconds kLatency{10};

// Answers after a fixed time and counts how often each body came: cells differ in their system prompt, message or seed.
class CountingServer {
 public:
  CountingServer() : server_([this](const loopback::Request& request) { return Answer(request); }) {}

  std::string url() const { return server_.url(); }
  std::size_t requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  std::size_t repeated() const {
    const std::lock_guard lock(mutex_);
    return requests_ - times_.size();
  }
  std::size_t different() const {
    const std::lock_guard lock(mutex_);
    return times_.size();
  }

 private:
  loopback::Script Answer(const loopback::Request& request) {
    {
      const std::lock_guard lock(mutex_);
      ++requests_;
      ++times_[Sha256Hex(request.body)];
    }
    loopback::Script script = loopback::ChatCompletion("ok");
    script.insert(script.begin(), loopback::Wait(kLatency));
    return script;
  }

  mutable std::mutex mutex_;  // guards the counts
  std::size_t requests_ = 0;
  std::map<std::string, int> times_;
  loopback::Server server_;  // last: its thread uses what is above
};

std::vector<std::string> EvalCommand(const CountingServer& server, bool resume) {
  std::vector<std::string> command = {
      "eval", "s", "-m", "generic.m", "--base-url", server.url(), "-j", std::to_string(kParallel), "-q"};
  if (resume) {
    command.emplace_back("--resume");
  } else {
    command.insert(command.end(), {"--runs", std::to_string(kRounds), "--no-cache"});
  }
  return command;
}

void WriteSuite(const TempFolder& folder) {
  folder.Write("s/SKILL.md", "---\nname: s\ndescription: For the test.\n---\n\nSay ok.\n");
  Json cases = Json::array();
  for (int i = 0; i < kCases; ++i) {
    cases.push_back({{"id", "case-" + std::to_string(i)},
                     {"input", "Question " + std::to_string(i)},
                     {"expected", {{"contains", {"ok"}}}}});
  }
  folder.Write("s/skill_meta.json", DumpJson({{"tests", cases}}));
}

// The only run of the folder, or an empty path if the process was killed before creating it.
fs::path OnlyRun(const TempFolder& folder) {
  const std::vector<fs::path> runs = FindRuns(folder.path() / "runs");
  EXPECT_LE(runs.size(), 1U);
  return runs.empty() ? fs::path() : runs.front();
}

std::size_t AnswersIn(const fs::path& run) {
  const Result<JournalContent> content = ReadJournal(run);
  EXPECT_TRUE(content.ok());
  return content ? content->samples.size() : 0;
}

// Starts or resumes the run, and kills it after `delay` unless it has ended by then. Returns whether it was killed.
bool RunAndKill(const TempFolder& folder, const CountingServer& server, milliseconds delay) {
  const pid_t pid = StartUpskill(EvalCommand(server, !OnlyRun(folder).empty()), folder.path());
  std::this_thread::sleep_for(delay);
  ::kill(pid, SIGKILL);
  return WaitFor(pid) == 128 + SIGKILL;
}

TEST(Kill, AtRandomMomentsOfRunsOverHttp) {
  std::mt19937 random(4);  // NOLINT(cert-msc51-cpp): the same moments each time
  int killed_with_answers = 0;
  std::size_t most_repeated = 0;
  std::uniform_int_distribution<int> moment(10, 200);
  for (int i = 0; i < kRuns; ++i) {
    const CountingServer server;
    const TempFolder folder;
    WriteSuite(folder);
    std::size_t kills = 0;
    // Every third run is killed a second time, after it was resumed.
    for (int k = 0; k < (i % 3 == 0 ? 2 : 1); ++k) {
      const milliseconds delay(moment(random));
      if (RunAndKill(folder, server, delay)) ++kills;
      const fs::path run = OnlyRun(folder);
      if (run.empty()) continue;
      const std::size_t saved = AnswersIn(run);
      if (saved > 0 && saved < kCells) ++killed_with_answers;
      // Requests that the server got but the journal lacks were in flight.
      EXPECT_LE(server.different() - saved, kParallel);
    }
    const ProcessOutcome last = RunUpskill(EvalCommand(server, !OnlyRun(folder).empty()), folder.path());
    ASSERT_EQ(last.exit_code, 0) << last.error;

    EXPECT_EQ(server.different(), kCells);
    EXPECT_LE(server.repeated(), kParallel * kills);
    most_repeated = std::max(most_repeated, server.repeated());
    const fs::path run = OnlyRun(folder);
    const Result<JournalContent> content = ReadJournal(run);
    ASSERT_TRUE(content.ok());
    EXPECT_EQ(content->skipped_lines, 0U);
    std::set<std::string> cells;
    for (const Sample& sample : content->samples) {
      EXPECT_TRUE(sample.ok());
      EXPECT_TRUE(cells.insert(CellName(sample)).second) << "twice: " << CellName(sample);
    }
    EXPECT_EQ(cells.size(), kCells);
    EXPECT_TRUE(LoadPlan(run).ok());
    ASSERT_EQ(RunUpskill({"runs", "--json"}, folder.path()).exit_code, 0);
  }
  EXPECT_GT(killed_with_answers, kRuns / 3) << "most kills should hit a running run";
  std::printf("%d runs, %d kills among answers, at most %zu requests repeated\n", kRuns, killed_with_answers,
              most_repeated);
}

// Three skills with the same cases, whose answers without a skill are asked once. The same command goes on.
TEST(Kill, ATableOfSkills) {
  constexpr int kTableRounds = 6;
  constexpr std::size_t kTableCells = 4ULL * kCases * kTableRounds;
  const CountingServer server;
  const TempFolder folder;
  std::vector<std::string> command = {"eval"};
  for (const std::string name : {"first", "second", "third"}) {
    folder.Write("skills/" + name + "/SKILL.md",
                 "---\nname: " + name + "\ndescription: For the test.\n---\n\nSay ok, " + name + ".\n");
    Json cases = Json::array();
    for (int i = 0; i < kCases; ++i)
      cases.push_back({{"input", "Question " + std::to_string(i)}, {"expected", {{"contains", {"ok"}}}}});
    folder.Write("skills/" + name + "/tests.json", DumpJson(cases));
    command.push_back("skills/" + name);
  }
  command.insert(command.end(), {"-m", "generic.m", "--base-url", server.url(), "-j", "8", "--runs",
                                 std::to_string(kTableRounds), "-q", "-o", "table.csv"});
  std::size_t kills = 0;
  std::size_t answered = 0;
  // As soon as some more requests have come: in the first, the second and the third skill.
  for (const std::size_t more : {20U, 100U, 100U, 60U}) {
    const std::size_t until = server.requests() + more;
    const pid_t pid = StartUpskill(command, folder.path());
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (server.requests() < until && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(milliseconds(1));
    ::kill(pid, SIGKILL);
    kills += WaitFor(pid) == 128 + SIGKILL ? 1 : 0;
    std::size_t saved = 0;
    for (const fs::path& run : FindRuns(folder.path() / "runs")) saved += AnswersIn(run);
    EXPECT_GE(saved, answered);
    answered = saved;
  }
  EXPECT_EQ(kills, 4U);
  const ProcessOutcome last = RunUpskill(command, folder.path());
  ASSERT_EQ(last.exit_code, 0) << last.error;
  EXPECT_EQ(server.different(), kTableCells);
  EXPECT_LE(server.repeated(), 8 * kills) << "only what was in flight";
  for (const fs::path& run : FindRuns(folder.path() / "runs"))
    EXPECT_EQ(AnswersIn(run), kTableCells / 2) << "every run that was killed went on: " << run;
  EXPECT_TRUE(fs::exists(folder.path() / "table.csv"));
  const std::size_t before = server.requests();
  ASSERT_EQ(RunUpskill(command, folder.path()).exit_code, 0);
  EXPECT_EQ(server.requests(), before) << "once complete, all is taken from the cache";
}

}  // namespace
}  // namespace upskill
