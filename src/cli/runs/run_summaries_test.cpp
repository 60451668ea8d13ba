// SPDX-License-Identifier: Apache-2.0
// `runs` over many runs, with summaries kept beside them and without.
#include "report/export/run_summaries.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "eval/journal/journal.h"
#include "support/command_line.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ManyRuns : public CommandLineTest {
 protected:
  static constexpr int kRuns = 40;

  // Runs that differ in their names, skills and pass rates.
  ManyRuns() {
    folder.Write("skills/one/SKILL.md", "---\nname: one\ndescription: d\n---\nBody.\n");
    Json cases = Json::array();
    for (int i = 0; i < 8; ++i)
      cases.push_back({{"input", fmt::format("question {}", i)}, {"expected", {{"contains", "x"}}}});
    folder.Write("skills/one/tests.json", DumpJson(cases));
    EXPECT_EQ(
        Run({"eval", (folder.path() / "skills/one").string(), "-q", "--runs-dir", (folder.path() / "first").string(),
             "-m", "sim:base=0,skill=1", "-m", "sim:base=0.4,skill=0.5,cost=0.01"}),
        0)
        << error;
    const fs::path first = FindRuns(folder.path() / "first").front();
    const std::string plan = ReadFile(first / "plan.json").value();
    const std::string samples = ReadFile(first / "samples.jsonl").value();
    const std::string name = first.filename().string();
    for (int i = 0; i < kRuns; ++i) {
      const std::string run = fmt::format("2020_01_{:02}_00_00_00-{:04x}", i % 28 + 1, i);
      std::string own = plan;
      own.replace(own.find(name), name.size(), run);
      folder.Write("runs/" + run + "/plan.json", own);
      folder.Write("runs/" + run + "/samples.jsonl", i % 3 == 0 ? samples.substr(0, samples.size() / 2) : samples);
      Settle(runs() / run);
      names_.push_back(run);
    }
  }

  // As if it had been written long ago.
  static void Settle(const fs::path& run) {
    const auto before = fs::file_time_type::clock::now() - std::chrono::hours(24 * 3650);
    for (const char* name : {"plan.json", "samples.jsonl"}) fs::last_write_time(run / name, before);
  }

  std::vector<std::string> Views() {
    std::vector<std::string> views;
    for (const std::vector<std::string>& options :
         std::vector<std::vector<std::string>>{{},
                                               {"--all"},
                                               {"--metric", "tokens"},
                                               {"--metric", "cost"},
                                               {"--metric", "time"},
                                               {"--csv", "-"},
                                               {"-m", "sim:base=0,skill=1", "--all"},
                                               {"-s", "other"}}) {
      std::vector<std::string> arguments = {"runs", "-d", runs().string()};
      arguments.insert(arguments.end(), options.begin(), options.end());
      EXPECT_EQ(Run(arguments), 0) << error;
      views.push_back(out + error);
    }
    return views;
  }

  fs::path file() const { return runs() / kSummariesFile; }
  bool Knows(const std::string& run) { return RunSummaries(runs(), clock).Find(runs() / run).has_value(); }

  std::vector<std::string> names_;
};

TEST_F(ManyRuns, LookTheSameFromTheirSummaries) {
  const std::vector<std::string> judged = Views();
  ASSERT_TRUE(fs::exists(file()));
  for (const std::string& run : names_) EXPECT_TRUE(Knows(run)) << run;
  EXPECT_EQ(Views(), judged);
  fs::remove(file());
  EXPECT_EQ(Views(), judged);
  EXPECT_THAT(judged[1], HasSubstr("0027"));
}

TEST_F(ManyRuns, AChangedRunIsJudgedAgain) {
  const std::vector<std::string> before = Views();
  const fs::path run = runs() / names_[0];  // half of its samples
  const std::string whole = ReadFile(runs() / names_[1] / "samples.jsonl").value();
  folder.Write("runs/" + names_[0] + "/samples.jsonl", whole);
  Settle(run);
  EXPECT_FALSE(Knows(names_[0]));
  const std::vector<std::string> after = Views();
  EXPECT_NE(after[1], before[1]);
  EXPECT_TRUE(Knows(names_[0]));
  fs::remove(file());
  EXPECT_EQ(Views(), after);
}

TEST_F(ManyRuns, ADamagedFileIsAsGoodAsNone) {
  const std::vector<std::string> judged = Views();
  const std::string whole = ReadFile(file()).value();
  for (const std::string& text : {std::string("not json\n\"\n{\"run\":\"\n"), whole.substr(0, whole.size() / 2),
                                  std::string(1000, '\0'), whole + whole}) {
    folder.Write("runs/" + std::string(kSummariesFile), text);
    EXPECT_EQ(Views(), judged);
  }
  // A summary of the wrong shape.
  std::string wrong = whole;
  for (std::size_t at = wrong.find("\"rows\":["); at != std::string::npos; at = wrong.find("\"rows\":[", at + 1))
    wrong.replace(at, 8, "\"rows\":[7,");
  folder.Write("runs/" + std::string(kSummariesFile), wrong);
  EXPECT_EQ(Views(), judged);
}

TEST_F(ManyRuns, ForgetsRunsThatAreGone) {
  static_cast<void>(Views());
  fs::remove_all(runs() / names_[5]);
  Settle(runs() / names_[6]);  // its times have changed
  static_cast<void>(Views());
  EXPECT_THAT(ReadFile(file()).value(), ::testing::Not(HasSubstr(names_[5])));
  EXPECT_THAT(ReadFile(file()).value(), HasSubstr(names_[6]));
}

}  // namespace
}  // namespace upskill
