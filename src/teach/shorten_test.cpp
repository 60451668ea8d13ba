// SPDX-License-Identifier: Apache-2.0
#include "teach/shorten.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/generation_bench.h"
#include "util/rng.h"

namespace upskill {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A part of a draft: what it says, or marks for the simulated student.
struct Part {
  std::string title;
  std::string text;
  std::vector<std::string> cites;
};

Json DraftOf(const std::vector<Part>& parts) {
  Json draft = DraftJson("");
  draft["sections"] = Json::array();
  for (const Part& part : parts)
    draft["sections"].push_back(
        {{"title", part.title}, {"rules", Json::array({{{"text", part.text}, {"cites", part.cites}}})}});
  return draft;
}

FakeTeacher::Script Teaches(const Json& draft) {
  return [draft](const ChatRequest& request, std::size_t) -> Result<std::string> {
    if (AsksFor(request, "cases")) return DumpJson(CasesJson(16));
    if (AsksFor(request, "sections")) return DumpJson(draft);
    return DumpJson({{"description", "Says what is left."}});
  };
}

TEST(AnswersToShow, ByTheMarginAndTheErrorProbability) {
  EXPECT_EQ(AnswersToShow(0.1, 0.05), 29U);  // 0.9^29 = 0.0471, 0.9^28 = 0.0523
  EXPECT_EQ(AnswersToShow(0.05, 0.05), 59U);
  EXPECT_EQ(AnswersToShow(kShorterMargin, kShorterAlpha), 42U);
}

TEST(Shorten, BallastGoesAndWhatSpeaksOfItIsWrittenAgain) {
  Json draft = DraftOf({{"Adding", "[sim 1] what counts, see references/kept.md", {"d1"}},
                        {"Ballast", std::string(400, 'b') + " see references/gone.md", {"d2"}}});
  draft["references"] = {{{"file", "kept.md"}, {"text", "kept"}}, {{"file", "gone.md"}, {"text", "gone"}}};
  GenerationBench bench(Teaches(draft));
  bench.material.items = {{"d1", MaterialKind::kFact, "sums", {"a#1"}}, {"d2", MaterialKind::kFact, "more", {"a#2"}}};
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  const Candidate& chosen = outcome->candidates[outcome->chosen];
  EXPECT_EQ(chosen.kind, "shorter");
  EXPECT_THAT(chosen.skill.body, AllOf(HasSubstr("[sim 1]"), Not(HasSubstr("bbb"))));
  EXPECT_EQ(chosen.skill.description, "Says what is left.");
  ASSERT_EQ(chosen.skill.references.size(), 1U);
  EXPECT_EQ(chosen.skill.references[0].first, "kept.md");
  EXPECT_THAT(outcome->provenance, AllOf(testing::SizeIs(1), Each(HasSubstr("a#1"))));
}

TEST(Shorten, BeginsWithWhatRightAnswersDontUse) {
  std::string used = "[sim 1] Write";
  for (int k = 1; k <= 16; ++k) used += " total-" + std::to_string(k);
  GenerationBench bench(
      Teaches(DraftOf({{"Sums", used + " and nothing else.", {}}, {"Ballast", "Sums were invented long ago.", {}}})));
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  const auto& candidates = outcome->candidates;
  const auto first = std::find_if(candidates.begin(), candidates.end(),
                                  [](const Candidate& candidate) { return candidate.kind == "shorter"; });
  ASSERT_NE(first, candidates.end());
  EXPECT_THAT(first->skill.body, AllOf(HasSubstr("total-1"), Not(HasSubstr("invented"))));
}

// All candidates had 0 %, and a sound skill was cut to a tenth.
TEST(Shorten, NeverAtTheFloor) {
  GenerationBench bench(Teaches(DraftOf({{"Adding", "one", {}}, {"Other", std::string(400, 'b'), {}}})),
                        "base=0,skill=body");
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(outcome->candidates, Each(Field(&Candidate::kind, Not("shorter"))));
  EXPECT_THAT(outcome->candidates[outcome->chosen].skill.body, HasSubstr("bbb"));
}

TEST(Shorten, NotWhereTheSkillDoesNotBeatTheBaseline) {
  GenerationBench bench(Teaches(DraftOf({{"Adding", "[sim 0.8]", {}}, {"Other", std::string(400, 'b'), {}}})),
                        "base=0.8,skill=body,seed=3");
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(outcome->candidates, Each(Field(&Candidate::kind, Not("shorter"))));
}

TEST(Shorten, ATieWithoutPassesReplacesNothing) {
  GenerationBench bench(Teaches(DraftOf({{"Adding", "short", {}}})), "base=0,skill=body");
  bench.material.existing = {"adding", "Adds.", "# Adding\n\n" + std::string(400, 'e'), {}, {}, ""};
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->candidates[outcome->chosen].kind, "existing");
}

// The pass rate of the simulated student for a case, with a skill of the marks below.
double ChanceOf(const std::string& body, int number, double base) {
  const std::string words = ": sum number " + std::to_string(number) + "?]";
  double best = -1.0;
  for (std::size_t at = body.find("[sim "); at != std::string::npos; at = body.find("[sim ", at + 1)) {
    const std::size_t end = body.find(']', at) + 1;
    if (body.substr(at, end - at).ends_with(words)) best = std::max(best, std::stod(body.substr(at + 5)));
  }
  return best < 0 ? base : best;
}

// Three parts, each of which some of the cases need to a random degree.
TEST(Shorten, NeverLosesMoreThanTheMarginInSimulatedGenerations) {
#ifdef UPSKILL_SANITIZED
  constexpr int kGenerations = 20;
#else
  constexpr int kGenerations = 300;
#endif
  constexpr double kBase = 0.1;
  int shorter = 0;
  int refused = 0;
  double worst = 0.0;
  for (int seed = 0; seed < kGenerations; ++seed) {
    Rng rng(static_cast<std::uint64_t>(seed) + 77);
    std::vector<Part> parts;
    for (int k = 0; k < 3; ++k) parts.push_back({"Part " + std::to_string(k), std::string(20 + 40 * k, 'b'), {}});
    for (int number = 1; number <= 16; ++number) {
      const std::string words = ": sum number " + std::to_string(number) + "?] ";
      const auto first = static_cast<std::size_t>(rng.Uniform() * 2.0);
      parts[first].text += "[sim " + std::to_string(0.97 + 0.03 * rng.Uniform()) + words;
      // Another part knows it, too, but less well.
      const auto second = static_cast<std::size_t>(rng.Uniform() * 3.0);
      if (second != first && rng.Uniform() < 0.8) parts[second].text += "[sim " + std::to_string(rng.Uniform()) + words;
    }
    GenerationBench bench(Teaches(DraftOf(parts)), "base=0.1,skill=body,seed=" + std::to_string(seed));
    bench.options.seed = static_cast<std::uint64_t>(seed);
    bench.options.target.tokens = 2000;
    bench.options.attempts = 0;
    bench.options.runs = 1;
    const Result<GenerateOutcome> outcome = bench.Run();
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    for (const Candidate& candidate : outcome->candidates) refused += candidate.kind == "shorter" ? 1 : 0;
    const Candidate& chosen = outcome->candidates[outcome->chosen];
    if (chosen.kind != "shorter") continue;
    ++shorter;
    // Over the cases of train that the draft passes: they are what was to be kept.
    double lost = 0.0;
    int cases = 0;
    for (const Case& test_case : outcome->cases) {
      if (test_case.split != Split::kTrain) continue;
      const int number = std::stoi(test_case.input.substr(test_case.input.rfind(' ') + 1));
      const double before = ChanceOf(outcome->candidates[0].skill.body, number, kBase);
      if (before < 0.5) continue;
      lost += before - ChanceOf(chosen.skill.body, number, kBase);
      ++cases;
    }
    worst = std::max(worst, lost / std::max(1, cases));
    EXPECT_LE(lost / std::max(1, cases), kShorterMargin) << "seed " << seed;
  }
  RecordProperty("shorter", shorter);
  RecordProperty("tried", refused);
  RecordProperty("worst_loss_in_thousandths", static_cast<int>(1000.0 * worst));
#ifndef UPSKILL_SANITIZED
  EXPECT_GT(shorter, 30) << "parts that nothing needs are left out";
#endif
}

}  // namespace
}  // namespace upskill
