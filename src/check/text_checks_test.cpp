// SPDX-License-Identifier: Apache-2.0
#include "check/text_checks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <thread>
#include <vector>

#include "support/check_cases.h"
#include "util/text.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

CheckSpec Contains(std::vector<std::string> values) { return {"contains", std::move(values), ""}; }
CheckSpec Regex(std::string pattern) { return {"regex", {}, std::move(pattern)}; }

TEST(ContainsCheck, NeedsEveryValueIgnoringCase) {
  EXPECT_TRUE(Passes(Contains({"edition = 5"}), "[general]\nEDITION = 5\n"));
  EXPECT_TRUE(Passes(Contains({"a", "B"}), "b A"));
  EXPECT_FALSE(Passes(Contains({"a", "c"}), "b A"));
  EXPECT_FALSE(Passes(Contains({"a"}), ""));
  EXPECT_TRUE(Passes(Contains({"two\nlines"}), "xx Two\nLines yy"));
}

TEST(ContainsCheck, FoldsOtherScripts) {
  EXPECT_TRUE(Passes(Contains({"größe"}), "GRÖßE"));
  EXPECT_TRUE(Passes(Contains({"МОСКВА"}), "москва"));
  EXPECT_TRUE(Passes(Contains({"ΣΑΣ"}), "σας"));  // final sigma
  EXPECT_FALSE(Passes(Contains({"é"}), "e"));
}

TEST(ContainsCheck, ValuesAreNotPatterns) {
  const std::string special = "a.*[b](c){2}|^$\\d?+\\E\\Q\t\x01";
  EXPECT_TRUE(Passes(Contains({special}), "x" + special + "y"));
  EXPECT_FALSE(Passes(Contains({"a.c"}), "abc"));
  EXPECT_TRUE(Passes(Contains({std::string("\0", 1)}), std::string_view("a\0b", 3)));
  EXPECT_FALSE(Passes(Contains({std::string("a\0b", 3)}), "a"));
}

TEST(ContainsCheck, AnswersThatAreNotUtf8) {
  EXPECT_TRUE(Passes(Contains({"after"}), "\xFF\xFE before \xC3 AFTER \x80"));
  EXPECT_TRUE(Passes(Contains({"\uFFFD"}), "\xFF"));
  EXPECT_TRUE(Passes(Contains({"a\xFF"}), "A\xFF"));
}

TEST(ContainsCheck, NameAndDetail) {
  const CheckResult failed = ResultOf(Contains({"edition = 5", "x"}), "X");
  EXPECT_EQ(failed.name, "contains \"edition = 5\", \"x\"");
  EXPECT_EQ(failed.outcome, Outcome::kFail);
  EXPECT_EQ(failed.detail, "missing \"edition = 5\"");
  const CheckResult hostile = ResultOf(Contains({"\x1b[2J\n" + std::string(1000, 'x')}), "");
  EXPECT_THAT(hostile.name, AllOf(StartsWith("contains \"\x1b[2J xxx"), Not(HasSubstr("\n"))));
  EXPECT_LT(hostile.name.size(), 110U);
}

TEST(ContainsCheck, LongValuesAndAnswers) {
  std::string folding;
  for (int i = 0; i < 8192; ++i) folding += "ſ";  // folds to s, which is shorter
  EXPECT_FALSE(Passes(Contains({folding}), "no"));
  EXPECT_TRUE(Passes(Contains({folding}), std::string(8192, 'S')));
  EXPECT_TRUE(Passes(Contains({std::string(1000, 'k')}), "x" + std::string(1000, 'K')));
  std::string value;
  for (int i = 0; value.size() < 16000; ++i) value += "line " + std::to_string(i) + "\n";
  EXPECT_TRUE(Passes(Contains({value}), "before\n" + value + "after"));
  EXPECT_FALSE(Passes(Contains({value}), std::string(2000000, 'b')));
  EXPECT_THAT(ErrorOf(Contains({std::string(16385, 'a')})), HasSubstr("longer than 16 KiB"));
}

TEST(ContainsCheck, NameAndDetailOfManyValues) {
  std::vector<std::string> values;
  for (int i = 0; i < 2000; ++i) values.push_back("value " + std::to_string(i));
  const CheckResult failed = ResultOf(Contains(values), "");
  EXPECT_THAT(failed.name, AllOf(StartsWith("contains \"value 0\", "), HasSubstr("\"value 19\" and 1,980 more")));
  EXPECT_THAT(failed.detail, HasSubstr("\"value 19\" and 1,980 more"));
  EXPECT_TRUE(Passes(Contains(values), fmt::format("{}", fmt::join(values, ", "))));
}

TEST(NotContainsCheck, AllowsNoValue) {
  const CheckSpec spec = {"not_contains", {"pybind11", "setup.py"}, ""};
  EXPECT_TRUE(Passes(spec, ""));
  EXPECT_TRUE(Passes(spec, "nothing"));
  const CheckResult failed = ResultOf(spec, "use PyBind11");
  EXPECT_EQ(failed.name, "not_contains \"pybind11\", \"setup.py\"");
  EXPECT_EQ(failed.detail, "found \"pybind11\"");
  EXPECT_EQ(ResultOf(spec, "setup.py pybind11").detail, "found \"pybind11\", \"setup.py\"");
}

TEST(AnyOfCheck, OneValueIsEnough) {
  const CheckSpec spec = {"any_of", {"torch/all.h", "ATen/"}, ""};
  EXPECT_TRUE(Passes(spec, "#include <aten/aten.h>"));
  EXPECT_EQ(ResultOf(spec, "x").detail, "none found");
}

TEST(EqualsCheck, TrimmedThenExact) {
  const CheckSpec spec = {"equals", {" 42\n"}, ""};
  EXPECT_TRUE(Passes(spec, "\t42 \r\n"));
  EXPECT_FALSE(Passes(spec, "42."));
  EXPECT_FALSE(Passes(spec, ""));
  EXPECT_FALSE(Passes({"equals", {"Yes"}, ""}, "yes"));
  EXPECT_EQ(ResultOf(spec, " 43 ").detail, "the answer is \"43\"");
  EXPECT_LT(ResultOf(spec, std::string(100000, 'x')).detail.size(), 110U);
}

TEST(RegexCheck, FoundAnywhere) {
  EXPECT_TRUE(Passes(Regex("b+"), "abbbc"));
  EXPECT_FALSE(Passes(Regex("^b"), "ab"));
  EXPECT_FALSE(Passes(Regex("B"), "abc"));
  EXPECT_TRUE(Passes(Regex("(?i)B"), "abc"));
  EXPECT_TRUE(Passes(Regex("(?m)^name\\s*=\\s*\"[a-z-]+\"$"), "x\nname = \"a-b\"\ny"));
  EXPECT_TRUE(Passes(Regex("^.$"), "é"));  // UTF-8, so one character
  EXPECT_TRUE(Passes(Regex("\\p{Cyrillic}"), "Ж"));
  EXPECT_EQ(ResultOf(Regex("^b"), "ab").detail, "no match");
  EXPECT_EQ(ResultOf(Regex("^b"), "b").name, "regex \"^b\"");
}

TEST(RegexCheck, RejectsWithTheReasonFromRe2) {
  EXPECT_THAT(ErrorOf(Regex("a(b")), AllOf(HasSubstr("regex \"a(b\": "), HasSubstr("missing )")));
  EXPECT_THAT(ErrorOf(Regex("(?=a)")), HasSubstr("invalid perl operator"));
  EXPECT_THAT(ErrorOf(Regex("(a)\\1")), HasSubstr("invalid escape sequence"));
  EXPECT_THAT(ErrorOf(Regex("a{1001}")), HasSubstr("invalid repetition size"));
  EXPECT_THAT(ErrorOf(Regex("((a{100}){100}){100}")), HasSubstr("regex \""));
  EXPECT_FALSE(ChecksOf(Regex(std::string(100000, '('))).ok());
  EXPECT_FALSE(ChecksOf(Regex("\xFF")).ok());
}

TEST(RegexCheck, NoPatternTakesExponentialTime) {
  EXPECT_FALSE(Passes(Regex("^(a+)+$"), std::string(100000, 'a') + "b"));
  EXPECT_FALSE(Passes(Regex("(x?){200}y"), std::string(10000, 'x')));
}

TEST(TextChecks, NeedValues) {
  for (const char* type : {"contains", "not_contains", "any_of", "equals"}) {
    EXPECT_FALSE(ChecksOf({type, {}, "pattern"}).ok()) << type;
    EXPECT_THAT(ErrorOf({type, {""}, ""}), HasSubstr("empty value")) << type;
  }
  EXPECT_THAT(ErrorOf({"equals", {" \n"}, ""}), HasSubstr("empty value"));
  EXPECT_THAT(ErrorOf({"equals", {"a", "b"}, ""}), HasSubstr("exactly one value"));
  EXPECT_THAT(ErrorOf(Regex("")), HasSubstr("needs a pattern"));
}

TEST(TextChecks, OneCheckOnManyThreads) {
  const Result<CaseChecks> made = ChecksOf(Contains({"needle"}));
  ASSERT_TRUE(made.ok());
  const CaseChecks& check = *made;
  std::vector<int> passed(4, 0);
  {
    std::vector<std::jthread> threads;
    for (int& count : passed) {
      threads.emplace_back([&check, &count] {
        for (int i = 0; i < 200; ++i) {
          const std::string answer = std::string(static_cast<std::size_t>(i), 'x') + (i % 2 == 0 ? "NEEDLE" : "no");
          if (AllPass(check.Run(answer))) ++count;
        }
      });
    }
  }
  EXPECT_THAT(passed, testing::Each(100));
}

TEST(RegexCheck, LargePatternsAreRefused) {
  EXPECT_THAT(ErrorOf(Regex("[^ab]{900}\\pL{20}")), HasSubstr("instructions, more than the maximum of 10,000"));
  Case test_case;
  test_case.id = "c";
  for (int i = 0; i < 100; ++i) test_case.checks.push_back(Regex(fmt::format("x{}[0-9]{{300}}", i)));
  const Result<CaseChecks> made = CaseChecks::Make(test_case);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("more than 20,000 instructions together"));
}

TEST(RegexCheck, DoesNotSearchForMinutes) {
  const CheckSpec spec = Regex("(a|b){500}c$");
  EXPECT_TRUE(Passes(spec, std::string(1000, 'a') + "c"));
  EXPECT_THAT(ResultOf(spec, std::string(std::size_t{8} << 20U, 'a')).detail,
              HasSubstr("too large a pattern for 8,388,608 bytes"));
}

}  // namespace
}  // namespace upskill
