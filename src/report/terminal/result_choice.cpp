// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/result_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "report/terminal/figures.h"
#include "report/terminal/matrix.h"
#include "report/terminal/result_words.h"
#include "report/terminal/verdict_text.h"
#include "util/percent.h"
#include "util/text.h"

namespace upskill {
namespace {

using Sentences = std::vector<std::string>;

std::string PriceText(const SweetSpot& spot, const Choice& choice) {
  if (spot.by_cost) return *choice.cost_usd == 0.0 ? "free" : MoneyText(*choice.cost_usd) + " an answer";
  if (choice.cost_usd.value_or(1.0) == 0.0) return "free";
  return NumberText(*choice.tokens) + " tokens an answer";
}

double PriceOf(const SweetSpot& spot, const Choice& choice) { return spot.by_cost ? *choice.cost_usd : *choice.tokens; }

std::string LabelOf(const Choice& choice, const char* skill) {
  return fmt::format("{} {} {} skill", choice.cell->name, choice.with_skill ? "with" : "without", skill);
}

const ArmSummary& ArmOfChoice(const Choice& choice, bool with_skill) {
  return with_skill ? choice.cell->with_skill : choice.cell->baseline;
}

// "(without it: 11 of 24)", of the same model.
std::string OtherArmText(const Choice& choice) {
  const ArmSummary& other = ArmOfChoice(choice, !choice.with_skill);
  if (other.answered == 0) return "";
  return fmt::format(" ({} it: {})", choice.with_skill ? "without" : "with", PassedOf(other));
}

// The best value. "Use … with this skill" needs a skill that helps, too.
std::string UseText(const SweetSpot& spot, const Choice& choice) {
  const bool skill_is_shown = !choice.with_skill || (choice.cell->lift && !choice.has_doubtful_skill());
  const std::string what = LabelOf(choice, "this");
  const bool is_best = spot.best && &choice == &spot.choices[*spot.best];
  const char* unshown = is_best ? "Highest pass rate: " : "Good enough: ";
  return fmt::format("{}{}: {} answers passed, {}{}.", skill_is_shown ? "Use " : unshown, what,
                     PassedOf(ArmOfChoice(choice, choice.with_skill)), PriceText(spot, choice), OtherArmText(choice));
}

std::string HowSureText(const SweetSpot& spot, const Choice& choice) {
  std::string text = fmt::format("It is shown for these cases that every other choice passes at most {:g} points more.",
                                 spot.margin * 100.0);
  if (choice.has_doubtful_skill())
    text += choice.cell->verdict == Verdict::kNoEffect ? " The skill makes no difference to this model, though."
                                                       : " That this model needs the skill isn't shown, though.";
  return text;
}

// "98 %, $0.00024 an answer: 7.3 times as much"; `used` is the choice that the price is compared with.
std::string RateAndPrice(const SweetSpot& spot, const Choice& choice, const Choice* used) {
  std::string text = fmt::format("{}, {}", PercentText(choice.rate), PriceText(spot, choice));
  const double times = used == nullptr ? 0.0 : PriceOf(spot, choice) / PriceOf(spot, *used);
  constexpr double kClearlyMore = 1.1;
  if (std::isfinite(times) && times >= kClearlyMore)
    text += fmt::format(": {:.{}f} times as much", times, times < 9.95 ? 1 : 0);
  return text;
}

// The best by the estimates, where it is another.
std::string BestText(const SweetSpot& spot) {
  if (!spot.best || spot.best == spot.sweet_spot) return "";
  const Choice& best = spot.choices[*spot.best];
  const Choice* used = spot.sweet_spot ? &spot.choices[*spot.sweet_spot] : nullptr;
  return fmt::format("Highest pass rate: {}, {}.", LabelOf(best, "the"), RateAndPrice(spot, best, used));
}

// What would be bought if there were no skill, where it is none of those named already.
std::string BestWithoutText(const SweetSpot& spot, const Choice& used) {
  const Choice* best = nullptr;
  for (const Choice& choice : spot.choices) {
    if (!choice.with_skill && (best == nullptr || choice.rate > best->rate)) best = &choice;
  }
  if (!used.with_skill || best == nullptr || (spot.best && best == &spot.choices[*spot.best]) ||
      best->cell == used.cell)
    return "";
  return fmt::format("Highest without the skill: {}, {}.", best->cell->name, RateAndPrice(spot, *best, &used));
}

// By less than what is shown as 0 % of the tokens, a choice isn't cheaper.
bool IsCheaper(const SweetSpot& spot, const Choice& choice, const Choice& than) {
  return PriceOf(spot, choice) < (spot.by_cost ? 1.0 : 0.995) * PriceOf(spot, than);
}

// "Cheaper: haiku with the skill, $0.0014 an answer: 84 % passed, 6 points fewer so far." Where the choices cost the
// same, `what` is replaced by the tokens that this one saves: nothing else speaks for it.
std::string InsteadText(const SweetSpot& spot, std::string what, const Choice& choice, const Choice& used) {
  const double points = WholePercent(used.rate) - WholePercent(choice.rate);
  const std::string fewer = points > 0.0 ? fmt::format("{:.0f} point{} fewer so far", points, points == 1.0 ? "" : "s")
                                         : std::string("no fewer, which may be luck");
  if (!spot.by_cost)
    what = fmt::format("With {:.0f} % fewer tokens:", WholePercent(1.0 - PriceOf(spot, choice) / PriceOf(spot, used)));
  return fmt::format("{} {}, {}: {} passed, {}.", what, LabelOf(choice, "the"), PriceText(spot, choice),
                     PercentText(choice.rate), fewer);
}

// Of those that cost less, the one with the highest pass rate.
std::string CheaperText(const SweetSpot& spot, const Choice& used) {
  const Choice* cheaper = nullptr;
  for (const Choice& choice : spot.choices) {
    if (!IsCheaper(spot, choice, used) || choice.rate <= 0.0) continue;
    if (cheaper == nullptr || choice.rate > cheaper->rate) cheaper = &choice;
  }
  return cheaper == nullptr ? "" : InsteadText(spot, "Cheaper:", *cheaper, used);
}

// What to take while nothing is shown: the cheapest that is near the best by the estimates; "" if nothing cheaper is.
std::string ForNowText(const SweetSpot& spot, const Choice& best) {
  constexpr double kNear = 0.1;
  const Choice* near = nullptr;
  for (const Choice& choice : spot.choices) {
    if (choice.with_skill && choice.cell->verdict != Verdict::kHelps) continue;
    if (choice.rate <= 0.0 || choice.rate < best.rate - kNear || !IsCheaper(spot, choice, best)) continue;
    if (near == nullptr || PriceOf(spot, choice) < PriceOf(spot, *near)) near = &choice;
  }
  return near == nullptr ? "" : InsteadText(spot, "For now, use", *near, best);
}

Sentences BestValue(const SweetSpot& spot) {
  const Choice& choice = spot.choices[*spot.sweet_spot];
  return {UseText(spot, choice), HowSureText(spot, choice), BestText(spot), BestWithoutText(spot, choice),
          CheaperText(spot, choice)};
}

// "haiku (46 % → 100 %, $0.0014 an answer)"
std::string RatesText(const JudgedRun& run, std::size_t index) {
  const StudentSummary& student = run.summary.students[index];
  const Arm reference = ComparedArm(run.plan());
  const ArmSummary* without = ArmOf(student, reference);
  const ArmSummary* with = ArmOf(student, Arm::kSkill);
  const auto rate = [](const ArmSummary* arm) {
    return arm != nullptr && arm->rate() ? PercentText(*arm->rate()) : std::string("–");
  };
  const std::string cost = with == nullptr ? "" : AnswerCostText(run, index, *with);
  return fmt::format("{} ({} → {}{})", student.student.name, rate(without), rate(with),
                     cost.empty() ? "" : ", " + cost);
}

// "haiku (about 6 more rounds)"
std::string OpenText(const JudgedRun& run, std::size_t i) {
  std::string why = ObstacleText(run, i);
  if (why.empty()) why = MoreRoundsText(run.verdicts[i]);
  const std::string& name = run.summary.students[i].student.name;
  return why.empty() ? name : fmt::format("{} ({})", name, why);
}

// The models with a verdict, and their pass rates.
std::vector<std::string> ModelsWith(const JudgedRun& run, Verdict word) {
  std::vector<std::string> models;
  for (std::size_t i = 0; i < run.summary.students.size(); ++i) {
    const StudentSummary& student = run.summary.students[i];
    if (run.verdicts[i].word != word || AllRequestsFailed(student)) continue;
    models.push_back(word == Verdict::kUndecided ? OpenText(run, i) : RatesText(run, i));
  }
  return models;
}

const char* WhatIsJudged(const JudgedRun& run) {
  return ComparedArm(run.plan()) == Arm::kPrevious ? "this version of the skill" : "this skill";
}

std::string HurtsText(const JudgedRun& run) {
  const std::vector<std::string> models = ModelsWith(run, Verdict::kHurts);
  return models.empty() ? "" : fmt::format("Don't use {} with {}: it hurts.", WhatIsJudged(run), NamesText(models));
}

// For which models the skill pays.
Sentences ByVerdict(const JudgedRun& run) {
  const std::vector<std::string> helped = ModelsWith(run, Verdict::kHelps);
  const std::vector<std::string> same = ModelsWith(run, Verdict::kNoEffect);
  Sentences sentences;
  if (!helped.empty()) sentences.push_back(fmt::format("Use {}: it helps {}.", WhatIsJudged(run), NamesText(helped)));
  if (std::string hurts = HurtsText(run); !hurts.empty()) sentences.push_back(std::move(hurts));
  if (!same.empty()) {
    sentences.push_back(
        fmt::format("{} makes no difference to {}.", sentences.empty() ? "The skill" : "It", NamesText(same)));
  }
  return sentences;
}

std::string UndecidedText(const JudgedRun& run) {
  const std::vector<std::string> open = ModelsWith(run, Verdict::kUndecided);
  return open.empty() ? "" : fmt::format("Not decided, so leave the skill out for now: {}.", NamesText(open));
}

// Of a run with a single arm to look at.
std::string PassRates(const JudgedRun& run) {
  std::vector<std::string> rates;
  for (const StudentSummary& student : run.summary.students) {
    const auto& [arm, summary] = *student.arms.rbegin();
    if (summary.answered > 0)
      rates.push_back(fmt::format("{} {}{}", student.student.name, PassedOf(summary),
                                  rates.empty() ? fmt::format(" answers {}", ArmPhrase(arm)) : ""));
  }
  return fmt::format("Passed: {}.", NamesText(rates));
}

// What is missing for a best value.
std::string MissingText(const JudgedRun& run, const SweetSpot& spot) {
  const GoodEnough& test = *spot.test;
  const char* what =
      test.candidate == test.best ? "None of them is shown to be best" : "No cheaper choice is shown to be as good";
  const std::string text = fmt::format("{} (within {:g} points)", what, 100.0 * spot.margin);
  if (!test.problem.empty()) return fmt::format("{}: {}.", text, CauseText(test.problem));
  if (!test.more) return fmt::format("{}.", text);
  if (test.more_cases)
    return fmt::format("{}: about {} could show it.", text, Counted(static_cast<std::size_t>(*test.more), "more case"));
  return fmt::format("{}: about {} could show it.", text, RoundsToAsk(run, *test.more, {}));
}

// What to choose from while no best value is shown.
Sentences NoBestValue(const JudgedRun& run, const SweetSpot& spot) {
  if (!spot.test || !spot.best) return {};
  const Choice& best = spot.choices[*spot.best];
  const std::string for_now = ForNowText(spot, best);
  return {BestText(spot), for_now.empty() ? CheaperText(spot, best) : for_now, MissingText(run, spot)};
}

// The models that have no result, and why.
std::string FailedText(const JudgedRun& run) {
  std::vector<std::string> names;
  for (const StudentSummary& student : run.summary.students) {
    if (AllRequestsFailed(student)) names.push_back(student.student.name);
  }
  return names.empty() ? "" : fmt::format("No result for {}: every request failed.", NamesText(names));
}

std::string NotCompared(const SweetSpot& spot) {
  std::string text(Trim(NotComparedLine(spot).text()));
  if (!text.empty()) text = "N" + text.substr(1) + ".";
  return text;
}

}  // namespace

std::vector<std::string> ResultOfSeveral(const JudgedRun& run) {
  const std::optional<Arm> reference = ReferenceArm(run.plan());
  const bool compared = reference && run.plan().has_arm(Arm::kSkill);
  Sentences sentences;
  const RunChoices choices = ChoicesOfRun(run);
  if (choices.spot.sweet_spot) {
    sentences = BestValue(choices.spot);
    sentences.push_back(HurtsText(run));
    sentences.push_back(NotCompared(choices.spot));
  } else {
    sentences = compared ? ByVerdict(run) : Sentences{PassRates(run)};
    const std::string undecided = compared ? UndecidedText(run) : "";
    if (sentences.empty()) sentences.push_back(undecided);
    for (std::string& sentence : NoBestValue(run, choices.spot)) sentences.push_back(std::move(sentence));
    if (sentences.front() != undecided) sentences.push_back(undecided);
  }
  sentences.push_back(FailedText(run));
  std::erase(sentences, "");
  return sentences;
}

}  // namespace upskill
