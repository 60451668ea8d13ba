// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "eval/journal/journal.h"
#include "support/command_line.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;

class RecheckCommand : public CommandLineTest {
 protected:
  RecheckCommand() {
    folder.Write("adding/SKILL.md", "---\nname: adding\ndescription: How to add.\n---\nAdd the numbers.\n");
    WriteCases("number 2", "number 4");
  }

  void WriteCases(const std::string& first, const std::string& second, const std::string& input = "one and one") {
    folder.Write("adding/tests.json", R"([{"id": "one", "input": ")" + input +
                                          R"(", "reference": "number 2", "expected": {"contains": ")" + first +
                                          R"("}}, {"id": "two", "input": "two and two", "reference": "number 4",
      "expected": {"contains": ")" + second +
                                          "\"}}]");
  }

  int Eval() {
    return Run({"eval", (folder.path() / "adding").string(), "--runs-dir", runs().string(), "-m", "sim:base=0,skill=1",
                "--runs", "2"});
  }
  int Recheck(const std::string& run = "latest") { return Run({"recheck", run, "--runs-dir", runs().string()}); }
};

TEST_F(RecheckCommand, SaysWhatIsJudgedDifferently) {
  ASSERT_EQ(Eval(), 0) << error;
  WriteCases("number 2", "number five");
  EXPECT_EQ(Recheck(), 0) << error;
  EXPECT_THAT(out, HasSubstr("rechecked 8 answers of run "));
  EXPECT_THAT(out, HasSubstr(": 2 now fail\n  two: 2 now fail\n"));
  // The other way round, from the run that the recheck has made.
  WriteCases("number 2", "number 4");
  EXPECT_EQ(Recheck(), 0) << error;
  EXPECT_THAT(out, HasSubstr(": 2 now pass\n"));
  EXPECT_EQ(Recheck(), 0) << error;
  EXPECT_THAT(out, HasSubstr("nothing is judged differently"));
}

TEST_F(RecheckCommand, KeepsTheChecksOfACaseThatAsksSomethingElse) {
  ASSERT_EQ(Eval(), 0) << error;
  WriteCases("number three", "number 4", "one and two");
  EXPECT_EQ(Recheck(), 0) << error;
  EXPECT_THAT(error, HasSubstr("case \"one\" asks something else now"));
  EXPECT_THAT(out, HasSubstr("nothing is judged differently"));
}

// As in reports, a cell's first answer is its final sample.
TEST_F(RecheckCommand, CountsACellThatWasWrittenTwiceOnce) {
  ASSERT_EQ(Eval(), 0) << error;
  const std::filesystem::path run = FindRuns(runs()).front();
  const Result<JournalContent> before = ReadJournal(run);
  ASSERT_TRUE(before.ok());
  Result<Journal> journal = Journal::Reopen(run, clock);
  ASSERT_TRUE(journal.ok());
  for (Sample sample : before->samples) {
    sample.response.text = "the second answer to the same request";
    ASSERT_TRUE(journal->Append(sample).ok());
  }
  EXPECT_EQ(Recheck(), 0) << error;
  EXPECT_THAT(out, HasSubstr("rechecked 8 answers of run "));
  EXPECT_THAT(out, HasSubstr("nothing is judged differently"));
}

TEST_F(RecheckCommand, NamesAMissingRun) { EXPECT_NE(Recheck("abcd"), 0); }

}  // namespace
}  // namespace upskill
