// SPDX-License-Identifier: Apache-2.0
#include "teach/case_split.h"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "teach/write_cases.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSubsetOf;
using ::testing::SizeIs;

// One case per letter: t(rain), h(eld out), or neither.
std::vector<Case> CasesOf(const std::string& splits) {
  std::vector<Case> cases;
  for (const char split : splits) {
    Case& one = cases.emplace_back();
    one.input = "Question " + std::to_string(cases.size());
    one.split = split == 't' ? Split::kTrain : split == 'h' ? Split::kTest : Split::kUnknown;
  }
  return cases;
}

TEST(TestCases, KeepTheirSplitWhateverTheSeed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_THAT(TestCases(CasesOf("thtthhtt"), 0.5, seed), ElementsAre(1, 4, 5)) << seed;
}

TEST(TestCases, NewOnesFillUp) {
  // Four of eight are wanted; one is marked.
  const std::vector<std::size_t> test = TestCases(CasesOf("ht......"), 0.5, 7);
  EXPECT_THAT(test, SizeIs(4));
  EXPECT_EQ(test[0], 0U);
  EXPECT_THAT(std::vector<std::size_t>(test.begin() + 1, test.end()), IsSubsetOf({2U, 3U, 4U, 5U, 6U, 7U}));
  EXPECT_THAT(TestCases(CasesOf("tttt."), 0.5, 7), ElementsAre(4));
  EXPECT_THAT(TestCases(CasesOf("hhh."), 0.5, 7), ElementsAre(0, 1, 2));
}

TEST(TestCases, NothingIsLeftOfCasesThatWereAllUsed) { EXPECT_THAT(TestCases(CasesOf("ttt"), 0.5, 7), IsEmpty()); }

TEST(TestCases, WithoutMarksSomeAreDrawn) {
  EXPECT_THAT(TestCases(CasesOf("........"), 0.25, 7), SizeIs(2));
  EXPECT_THAT(TestCases(CasesOf("."), 0.5, 7), ElementsAre(0));
}

TEST(HeldOut, HasItsShareOfEachKind) {
  std::vector<Case> cases = CasesOf("............");
  const std::vector<std::string> kinds = {"file", "function", "answer"};
  for (std::size_t i = 0; i < cases.size(); ++i) cases[i].tags = {i < 2 ? kinds[0] : i < 8 ? kinds[1] : kinds[2]};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::map<std::string, int> of_kind;
    for (const std::size_t i : HeldOut(cases, 0.5, seed)) ++of_kind[cases[i].tags[0]];
    EXPECT_EQ(of_kind, (std::map<std::string, int>{{"file", 1}, {"function", 3}, {"answer", 2}})) << seed;
  }
}

TEST(TakeSplits, GoesByTheInput) {
  std::vector<Case> cases = CasesOf("...h");
  cases[0].input = "question   2\n";
  cases[1].input = "Question 1";
  TakeSplits(CasesOf("ht.t"), cases);
  EXPECT_EQ(cases[0].split, Split::kTrain);
  EXPECT_EQ(cases[1].split, Split::kTest);
  EXPECT_EQ(cases[2].split, Split::kUnknown);
  EXPECT_EQ(cases[3].split, Split::kTest) << "a case's own mark counts";
}

}  // namespace
}  // namespace upskill
