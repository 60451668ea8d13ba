// SPDX-License-Identifier: Apache-2.0
#include "eval/run_index.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "eval/cell.h"
#include "support/plan_fixture.h"
#include "util/json.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

// A run of two students with answers, errors, judgments and an open cell.
class IndexedRun : public testing::Test {
 protected:
  IndexedRun() : plan_(MakeTestPlan(3, 2, {"a", "b"})) {
    plan_.run = "r";
    folder_.Write("r/plan.json", DumpJson(PlanToJson(plan_)));
    std::string lines = "damaged\n";
    for (const Cell& cell : CellsOf(plan_)) {
      if (cell.student == 1 && cell.round == 1 && cell.case_index == 2) continue;
      lines += LineOf(cell) + "\n";
    }
    folder_.Write("r/samples.jsonl", lines);
    Settle();
  }

  std::string LineOf(const Cell& cell) const {
    Sample sample;
    sample.key = std::string(64, 'a');
    sample.student = plan_.students[cell.student].spec;
    sample.arm = cell.arm;
    sample.case_id = plan_.suite.cases[cell.case_index].id;
    sample.round = cell.round;
    sample.response.text = CellName(sample);
    sample.response.usage = {100 + cell.round, 20, 3, 7, 0};
    sample.response.seconds = 0.25;
    sample.response.cost_usd = 0.001;
    sample.checks = {{"one", cell.round == 0 ? Outcome::kPass : Outcome::kFail, ""}, {"two", Outcome::kPass, ""}};
    StoredJudgment judged;
    judged.key = "k";
    judged.cost_usd = 0.5;
    if (cell.case_index == 1) sample.judgments = {judged};
    if (cell.student == 1 && cell.round == 0 && cell.case_index == 0) {
      sample.error = Error{ErrorKind::kUnavailable, "slow"};
      sample.error->cause = ErrorCause::kTimeout;
    }
    return DumpJson(SampleToJson(sample));
  }

  // As if the files had been written some time ago.
  void Settle() const {
    const auto before = fs::file_time_type::clock::now() - std::chrono::minutes(1);
    for (const char* name : {"plan.json", "samples.jsonl"}) fs::last_write_time(run() / name, before);
  }

  RunData Read() const {
    Result<RunData> data = RunData::Read(run(), {.indexed_from_bytes = 0});
    CHECK(data.ok());
    return std::move(data).value();
  }
  std::optional<RunData> Load() const {
    const Result<Fd> journal = OpenRegularFile(run() / "samples.jsonl");
    CHECK(journal.ok());
    return RunIndex(run(), *journal, std::chrono::system_clock::now()).Load(plan_);
  }
  std::string IndexBytes() const { return ReadFile(run() / kIndexFile).value(); }

  fs::path run() const { return folder_.path() / "r"; }

  TempFolder folder_;
  Plan plan_;
};

std::vector<std::string> CellsIn(const RunData& data) {
  std::vector<std::string> cells;
  for (const Cell& cell : CellsOf(data.plan())) {
    const FinalSample sample = data.at(cell.student, cell.arm, cell.case_index, cell.round);
    if (sample.figures == nullptr) {
      cells.emplace_back("open");
      continue;
    }
    const SampleFigures& figures = *sample.figures;
    cells.push_back(fmt::format("{} {} {} {} {} {} {} {} {}", sample.answered, sample.passed, figures.prompt_tokens(),
                                figures.cache_read_tokens(), figures.output_tokens(), figures.checks_passed(),
                                figures.cost_usd().value_or(-1.0), figures.text(), figures.place()));
  }
  return cells;
}

TEST_F(IndexedRun, SaysWhatTheJournalSays) {
  const RunData read = Read();
  ASSERT_TRUE(fs::exists(run() / kIndexFile));
  const std::optional<RunData> known = Load();
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(CellsIn(*known), CellsIn(read));
  EXPECT_EQ(known->skipped_lines(), 1U);
  EXPECT_EQ(known->sample_count(), read.sample_count());
  EXPECT_EQ(known->judged().answers, 8U);
  EXPECT_EQ(known->judged().requests, read.judged().requests);
  EXPECT_TRUE(known->has_lost_answers());
  EXPECT_THAT(known->attempts(1, Arm::kSkill).errors, ElementsAre(std::pair(ErrorCause::kTimeout, 1U)));
  const RunData again = Read();  // through the index
  EXPECT_EQ(again.Load(0, Arm::kSkill, 2, 1)->response.text, "a\nskill\ncase-3\n1");
}

TEST_F(IndexedRun, AnotherJournalHasNone) {
  static_cast<void>(Read());
  ASSERT_TRUE(Load().has_value());
  std::ofstream(run() / "samples.jsonl", std::ios::app) << LineOf({1, Arm::kSkill, 2, 1, ""}) << '\n';
  Settle();
  EXPECT_FALSE(Load().has_value());
  EXPECT_TRUE(Read().at(1, Arm::kSkill, 2, 1).answered);
  EXPECT_TRUE(Load().has_value()) << "it is made again";
}

TEST_F(IndexedRun, AnotherPlanHasNone) {
  static_cast<void>(Read());
  folder_.Write("r/plan.json", DumpJson(PlanToJson(plan_)));
  Settle();
  EXPECT_FALSE(Load().has_value());
}

// A copy, or an archive from elsewhere, doesn't bring its own index.
TEST_F(IndexedRun, ACopiedIndexIsNone) {
  static_cast<void>(Read());
  const std::string index = IndexBytes();
  const std::string journal = ReadFile(run() / "samples.jsonl").value();
  const auto written = fs::last_write_time(run() / "samples.jsonl");
  fs::remove(run() / "samples.jsonl");
  folder_.Write("r/samples.jsonl", journal);
  fs::last_write_time(run() / "samples.jsonl", written);
  EXPECT_EQ(IndexBytes(), index);
  EXPECT_FALSE(Load().has_value());
}

TEST_F(IndexedRun, IsNotMadeOfAJournalThatIsBeingWritten) {
  fs::last_write_time(run() / "samples.jsonl", fs::file_time_type::clock::now());
  EXPECT_EQ(Read().sample_count(), 22U);
  EXPECT_FALSE(fs::exists(run() / kIndexFile));
}

TEST_F(IndexedRun, DamageMakesItWorthless) {
  static_cast<void>(Read());
  const std::string whole = IndexBytes();
  const auto with = [&](const std::string& bytes) {
    folder_.Write(std::string("r/") + kIndexFile, bytes);
    return Load().has_value();
  };
  EXPECT_TRUE(with(whole));
  for (std::size_t at = 0; at < whole.size(); at += 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_FALSE(with(damaged)) << at;
    EXPECT_FALSE(with(whole.substr(0, at))) << at;
  }
  EXPECT_FALSE(with(whole + "x"));
  folder_.Write(std::string("r/") + kIndexFile, whole.substr(0, 100));
  EXPECT_EQ(Read().sample_count(), 22U);
}

TEST_F(IndexedRun, ShortJournalsHaveNone) {
  ASSERT_TRUE(RunData::Read(run()).ok());
  EXPECT_FALSE(fs::exists(run() / kIndexFile));
}

}  // namespace
}  // namespace upskill
