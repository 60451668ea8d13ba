// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/result_sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "eval/verdict/gate.h"
#include "eval/verdict/outside_cause.h"
#include "eval/verdict/stop_rule.h"
#include "report/terminal/figures.h"
#include "report/terminal/result_choice.h"
#include "report/terminal/result_words.h"
#include "report/terminal/verdict_text.h"
#include "util/percent.h"
#include "util/text.h"

namespace upskill {
namespace {

using Sentences = std::vector<std::string>;

// A student with both arms of the comparison.
struct Compared {
  const JudgedRun& run;
  std::size_t index;
  const ArmSummary& with;
  const ArmSummary& without;  // or the previous version

  const std::string& name() const { return run.summary.students[index].student.name; }
  const StudentVerdict& verdict() const { return run.verdicts[index]; }
  bool with_previous() const { return ComparedArm(run.plan()) == Arm::kPrevious; }
};

// ", $0.0014 an answer"
std::string AndCost(const Compared& one, const ArmSummary& arm) {
  const std::string cost = AnswerCostText(one.run, one.index, arm);
  return cost.empty() ? "" : ", " + cost;
}

// What a skill without an effect costs for nothing: ", and it costs 84 tokens ($0.00042) an answer".
std::string WastedText(const StudentVerdict& verdict, const char* and_it) {
  if (!verdict.tokens) return "";
  const double tokens = std::round(verdict.tokens->change());
  if (tokens == 0.0) return "";
  std::string count = NumberText(std::abs(tokens)) + (std::abs(tokens) == 1.0 ? " token" : " tokens");
  if (const double usd = verdict.cost_usd ? verdict.cost_usd->change() : 0.0; usd * tokens > 0.0)
    count += fmt::format(" ({})", MoneyText(std::abs(usd)));
  return tokens > 0.0 ? fmt::format("{}it costs {} an answer", and_it, count)
                      : fmt::format(", though it saves {} an answer", count);
}

std::string HelpsText(const Compared& one) {
  const std::string use = one.with_previous() ? "Use this version of the skill with " + one.name()
                                              : fmt::format("Use {} with this skill", one.name());
  const bool is_general = one.verdict().general == Verdict::kHelps;
  const std::string where = is_general || one.verdict().cases == 0 ? "" : " on " + CasesText(one.verdict());
  std::string cost = AndCost(one, one.without);
  if (cost == ", free") cost.clear();
  return fmt::format("{}{}: {} answers passed{} ({}: {}{}).", use, where, PassedOf(one.with), AndCost(one, one.with),
                     one.with_previous() ? "previous version" : "without it", PassedOf(one.without), cost);
}

std::string HurtsText(const Compared& one) {
  if (one.with_previous()) {
    return fmt::format(
        "Keep the previous version of the skill for {}: {} answers passed with this version, {} with the "
        "previous one.",
        one.name(), PassedOf(one.with), PassedOf(one.without));
  }
  const auto cost = [&](const ArmSummary& arm) {
    const std::string text = AnswerCostText(one.run, one.index, arm);
    return text.empty() || text == "free" ? "" : fmt::format(" ({})", text);
  };
  return fmt::format("Don't use this skill with {}: {} answers passed with it{}, {} without it{}.", one.name(),
                     PassedOf(one.with), cost(one.with), PassedOf(one.without), cost(one.without));
}

std::string NoEffectText(const Compared& one) {
  if (one.with_previous()) {
    return fmt::format(
        "{} does as well with the previous version of the skill: {} answers passed with this version, {} "
        "with the previous one.",
        one.name(), PassedOf(one.with), PassedOf(one.without));
  }
  return fmt::format("{} doesn't need this skill: {} answers passed with it, {} without it{}.", one.name(),
                     PassedOf(one.with), PassedOf(one.without), WastedText(one.verdict(), ", and "));
}

std::string UndecidedText(const Compared& one) {
  const StudentVerdict& verdict = one.verdict();
  if (const std::string obstacle = ObstacleText(one.run, one.index); !obstacle.empty())
    return fmt::format("Not decided: {}.", obstacle);
  if (verdict.more_rounds) {
    const bool same = verdict.more_show_no_effect;
    return fmt::format(
        "Not decided: about {} like these could {}.", RoundsToAsk(one.run, *verdict.more_rounds, one.index),
        same ? "show that the skill makes no difference" : fmt::format("decide it for {}", CasesText(verdict)));
  }
  if (verdict.more_rounds_above) {
    return fmt::format("Not decided, and not worth more of the same: even {} like these would probably not decide it.",
                       RoundsToAsk(one.run, *verdict.more_rounds_above, one.index));
  }
  return "Not decided, and these answers don't show how many more would tell.";
}

std::string SoFarText(const Compared& one) {
  return fmt::format("So far, {} answers passed with {}, {} {}.", PassedOf(one.with),
                     one.with_previous() ? "this version" : "the skill", PassedOf(one.without),
                     one.with_previous() ? "with the previous one" : "without it");
}

// What to do while nothing is shown.
std::string ForNowText(const Compared& one) {
  if (!one.with.rate() || !one.without.rate() || NothingPassed(one.verdict())) return "";
  const double more = WholePercent(*one.with.rate()) - WholePercent(*one.without.rate());
  const std::string for_now =
      one.with_previous() ? "For now, keep the previous version" : "For now, leave the skill out";
  if (more > 0.0) {
    const char* const but = one.verdict().doubt == Doubt::kErrors ? "that may be due to the errors"
                            : one.verdict().answers_repeat        ? "in too few cases to tell"
                                                                  : "that may be luck";
    return fmt::format("{}: more answers passed with {}, but {}.", for_now, one.with_previous() ? "this one" : "it",
                       but);
  }
  return fmt::format("{}{}.", for_now, more == 0.0 && !one.with_previous() ? WastedText(one.verdict(), ": ") : "");
}

// How far the verdict reaches.
std::string ReachText(const StudentVerdict& verdict) {
  const bool helps = verdict.word == Verdict::kHelps;
  if (!helps && verdict.word != Verdict::kHurts) return "";
  if (verdict.general == verdict.word) {
    const std::string range = NewCasesText(verdict);
    return fmt::format("It {} on new cases of this kind, too{}.", VerdictName(verdict.word),
                       range.empty() ? "" : fmt::format(" ({} points)", range));
  }
  if (verdict.cases == 0) return "";
  if (verdict.cases == 1) return "That is shown for this case only.";
  const std::string shown =
      helps ? "On new cases of this kind, that isn't shown"
            : fmt::format("That is shown for {}, not for new ones of this kind", CasesText(verdict));
  constexpr double kAlpha = VerdictOptions().alpha;
  if (verdict.lost_low && (helps ? verdict.p_general_helps : verdict.p_general_hurts) <= kAlpha)
    return shown + ": answers were lost to errors.";
  if (!verdict.new_cases_low || !verdict.new_cases_high) return shown + ".";
  return fmt::format("{} ({} points): more cases, rather than rounds, would tell.", shown,
                     LikelyText(*verdict.new_cases_low, *verdict.new_cases_high));
}

// Whether any other text, or the old version, would have done as well.
Sentences OtherArms(const Compared& one) {
  Sentences sentences;
  for (const auto& [arm, verdicts] : one.run.others) {
    if (one.verdict().word != Verdict::kHelps || !verdicts[one.index].lift) continue;
    const char* what = arm == Arm::kPlacebo ? "unrelated text of the same length" : "the previous version";
    const bool better = verdicts[one.index].word == Verdict::kHelps;
    if (better && arm == Arm::kPlacebo) continue;  // that it helps says as much
    sentences.push_back(fmt::format("The skill {} better than {}.", better ? "does" : "hasn't been shown to do", what));
  }
  return sentences;
}

// What a skill that helps loses against its previous version, if that is shown.
std::optional<double> LossAgainstPrevious(const Compared& one) {
  const auto previous = one.run.others.find(Arm::kPrevious);
  if (previous == one.run.others.end()) return std::nullopt;
  const StudentVerdict& verdict = previous->second[one.index];
  if (verdict.word != Verdict::kHurts || !verdict.lift) return std::nullopt;
  return -*ShownLift(one.run.summary.students[one.index], verdict, Arm::kPrevious);
}

Sentences ComparedSentences(const Compared& one) {
  if (const auto loss = LossAgainstPrevious(one); loss && one.verdict().word != Verdict::kHurts) {
    return {fmt::format("Keep the previous version of the skill: {} does {:.0f} points worse with this one.",
                        one.run.plan().students[one.index].name, WholePercent(*loss)),
            fmt::format("With this one, {} answers passed{}.", PassedOf(one.with),
                        one.verdict().word == Verdict::kHelps ? ", still more than without it" : "")};
  }
  Sentences sentences;
  switch (one.verdict().word) {
    case Verdict::kHelps:
      sentences = {HelpsText(one)};
      break;
    case Verdict::kHurts:
      sentences = {HurtsText(one)};
      break;
    case Verdict::kNoEffect:
      return {NoEffectText(one)};
    case Verdict::kUndecided:
      sentences = {UndecidedText(one), SoFarText(one), ForNowText(one)};
      std::erase(sentences, "");
      return sentences;
  }
  sentences.push_back(ReachText(one.verdict()));
  for (std::string& other : OtherArms(one)) sentences.push_back(std::move(other));
  std::erase(sentences, "");
  return sentences;
}

std::string NothingToCompareText(const JudgedRun& run, std::size_t index) {
  const StudentSummary& student = run.summary.students[index];
  const auto& [arm, summary] = *student.arms.rbegin();
  if (student.activation) {
    return fmt::format(
        "{} chose right in {} answers: it read the skill where it should, and left it alone where it "
        "shouldn't.",
        student.student.name, PassedOf(summary));
  }
  const std::string cost = AnswerCostText(run, index, summary);
  return fmt::format("{} passed {} answers {}{}. There is nothing to compare that with.", student.student.name,
                     PassedOf(summary), ArmPhrase(arm), cost.empty() ? "" : fmt::format(" ({})", cost));
}

Sentences OneModel(const JudgedRun& run) {
  const StudentSummary& student = run.summary.students.front();
  const std::optional<Arm> reference = ReferenceArm(run.plan());
  const ArmSummary* with = ArmOf(student, Arm::kSkill);
  const ArmSummary* without = reference ? ArmOf(student, *reference) : nullptr;
  if (with == nullptr || without == nullptr) return {NothingToCompareText(run, 0)};
  return ComparedSentences({run, 0, *with, *without});
}

// Nothing was answered: why.
std::string NoAnswerText(const JudgedRun& run) {
  const bool any_failed = std::any_of(run.summary.students.begin(), run.summary.students.end(), AllRequestsFailed);
  if (!any_failed) return "No result yet: nothing has been answered.";
  const SamplePtr first = run.data.samples().first_error();
  const std::string cause = first == nullptr ? "" : CauseText(first->error->message);
  const char* const advice = run.plan().imported ? "" : " Once the cause is gone, continue the run with --resume.";
  return fmt::format("No result: every request failed{}.{}", cause.empty() ? "" : fmt::format(" ({})", cause), advice);
}

// Of a run that was to find a large loss and nothing else, which ended before verdicts were reached.
std::vector<std::string> GuardSentences(const JudgedRun& run) {
  const std::optional<Gate> gate = GateOf(run.plan());
  if (!run.plan().stop_when_decided || !run.summary.complete() || run.data.sample_count() == 0 ||
      AwaitsVerdict(gate, run.plan(), ComparedArm(run.plan())))
    return {};
  std::vector<std::string> sentences;
  for (const GateClause& clause : gate->clauses) {
    if (clause.kind != GateClause::Kind::kNotRegressed) continue;
    for (const GateResult& result : CheckGate(Gate{{clause}}, run)) {
      const std::string model = run.plan().students.size() > 1 ? " with " + result.model : "";
      sentences.push_back(fmt::format("{}{}, {}.", result.passed ? "No large loss is shown" : "A large loss is shown",
                                      model, result.detail));
    }
  }
  return sentences;
}

// Cases to look at first: they may have failed for a reason that isn't the model's.
Sentences OutsideCauseSentences(const JudgedRun& run) {
  constexpr std::size_t kMostNamed = 5;
  Sentences sentences;
  for (const OutsideCause& one : FindOutsideCauses(run.data)) {
    const std::size_t named = std::min(one.cases.size(), kMostNamed);
    const std::string names =
        fmt::format("{}", fmt::join(one.cases.begin(), one.cases.begin() + static_cast<std::ptrdiff_t>(named), ", "));
    sentences.push_back(fmt::format(
        "Before you trust the result, look at {} ({}{}): {}, the reason for most failures there, which may not be the "
        "model's fault; {}.",
        Counted(one.cases.size(), "case"), names, named < one.cases.size() ? ", …" : "", one.cause, one.cure));
  }
  return sentences;
}

}  // namespace

std::vector<std::string> ResultSentences(const JudgedRun& run) {
  if (run.summary.students.empty() || run.summary.answered == 0) return {NoAnswerText(run)};
  Sentences sentences = OutsideCauseSentences(run);
  Sentences result = GuardSentences(run);
  if (result.empty()) result = run.summary.students.size() > 1 ? ResultOfSeveral(run) : OneModel(run);
  sentences.insert(sentences.end(), result.begin(), result.end());
  return sentences;
}

std::string ResultText(const JudgedRun& run) { return fmt::format("{}", fmt::join(ResultSentences(run), " ")); }

TerminalText ResultLines(const JudgedRun& run, const Style& style) {
  TerminalText out;
  for (const std::string& sentence : ResultSentences(run)) {
    const TerminalText line = Wrapped(sentence, style.columns, 0);
    out += (out.empty() ? Tinted(style, Tint::kBold, line) : line) + "\n";
  }
  return out;
}

}  // namespace upskill
