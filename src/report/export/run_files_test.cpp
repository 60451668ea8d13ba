// SPDX-License-Identifier: Apache-2.0
#include "report/export/run_files.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "report/export/benchmark_json.h"
#include "support/run_fixture.h"
#include "util/files.h"
#include "util/folder.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

TEST(WriteRunFiles, OneModel) {
  const TempFolder folder;
  const TestRun run;
  const fs::path place = folder.path() / "runs" / run.plan.run;
  ASSERT_TRUE(WriteRunFiles(run.judged(), place).ok());
  for (const char* file :
       {"batch_summary.json", "run_1/run_metadata.json", "run_2/run_result.json", "agentskills/benchmark.json",
        "agentskills/eval-1-easy/with_skill/run-1/grading.json", "../results.csv"}) {
    EXPECT_TRUE(fs::exists(place / file)) << file;
  }
  const Result<std::string> text = ReadFile(place / "agentskills" / "benchmark.json");
  ASSERT_TRUE(text.ok());
  EXPECT_TRUE(BenchmarkFromJson(Json::parse(*text), "benchmark.json").ok());
  ASSERT_TRUE(WriteRunFiles(run.judged(), place).ok());  // again, as after --resume
  std::size_t left = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    left += entry.path().filename().string().starts_with(".") ? 1 : 0;
  EXPECT_EQ(left, 0U);
}

TEST(WriteRunFiles, SeveralModelsAndManyAnswers) {
  const TempFolder folder;
  TestRun run;
  run.plan.students.push_back({"b", "org/an other\nname", "b"});
  run.plan.rounds = 48;
  for (int round = 2; round < 48; ++round) {
    run.Add("easy", Arm::kBaseline, round, "4");
    run.Add("easy", Arm::kSkill, round, "4");
  }
  ASSERT_TRUE(WriteRunFiles(run.judged(), folder.path() / "r").ok());
  EXPECT_TRUE(fs::exists(folder.path() / "r/agentskills/1-student/benchmark.json"));
  EXPECT_TRUE(fs::exists(folder.path() / "r/agentskills/2-org-an-other-name/benchmark.json"));
  EXPECT_TRUE(fs::exists(folder.path() / "r/agentskills/1-student/eval-1-easy"));
  run.plan.rounds = 49;
  run.Add("easy", Arm::kBaseline, 48, "4");
  ASSERT_TRUE(WriteRunFiles(run.judged(), folder.path() / "more").ok());
  EXPECT_TRUE(fs::exists(folder.path() / "more/agentskills/1-student/benchmark.json"));
  EXPECT_FALSE(fs::exists(folder.path() / "more/agentskills/1-student/eval-1-easy"));
  EXPECT_LT(fs::file_size(folder.path() / "more/agentskills/1-student/benchmark.json"), 10'000U);
}

TEST(WriteRunFiles, NothingIsWrittenThroughALinkInTheRun) {
  const TestRun run;
  for (const char* name : {"agentskills", "run_1", "agentskills/eval-1-easy"}) {
    const TempFolder folder;
    const fs::path place = folder.path() / "runs" / run.plan.run;
    const fs::path outside = folder.path() / "outside";
    fs::create_directories((place / name).parent_path());
    fs::create_directory(outside);
    fs::create_directory_symlink(outside, place / name);
    const Status written = WriteRunFiles(run.judged(), place);
    ASSERT_FALSE(written.ok()) << name;
    EXPECT_THAT(written.error().message, testing::HasSubstr("symbolic link"));
    EXPECT_TRUE(fs::is_empty(outside)) << name;
  }
}

TEST(WriteRunFiles, TheTableWaitsForTheOneOfARunThatEndsAtTheSameTime) {
  const TempFolder folder;
  const TestRun run;
  ASSERT_TRUE(WriteRunFiles(run.judged(), folder.path() / "runs/first").ok());
  std::atomic<bool> done = false;
  {
    std::optional<Folder> other = Folder::Open(folder.path() / "runs").value();
    ASSERT_TRUE(other->Lock(std::chrono::milliseconds(0)).ok());
    const std::jthread second([&] {
      EXPECT_TRUE(WriteRunFiles(run.judged(), folder.path() / "runs/second").ok());
      done = true;
    });
    // Without the lock, it would have made the table long before.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_FALSE(done);
    fs::copy(folder.path() / "runs/first", folder.path() / "runs/third", fs::copy_options::recursive);
    other.reset();
  }
  const Result<std::string> table = ReadFile(folder.path() / "runs/results.csv");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(std::count(table->begin(), table->end(), '\n'), 1 + 3 * 2);
}

TEST(WriteRunFiles, AFolderThatCannotBeIsAnError) {
  const TempFolder folder;
  const TestRun run;
  folder.Write("file", "");
  EXPECT_FALSE(WriteRunFiles(run.judged(), folder.path() / "file" / "below").ok());
}

}  // namespace
}  // namespace upskill
