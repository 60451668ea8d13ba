// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "eval/plan/alpha_share.h"
#include "eval/verdict/complete_rounds.h"
#include "eval/verdict/contrast.h"
#include "eval/verdict/large_loss.h"
#include "stats/e_process.h"
#include "stats/exact_rate.h"
#include "stats/pair_counts.h"

namespace upskill {
namespace {

constexpr int kManyRounds = 100;     // more are never advised
constexpr double kTolerance = 1e-9;  // a change of exactly 15 % is not less than 15 %

using Kind = GateClause::Kind;

bool NeedsComparison(Kind kind) { return kind != Kind::kPass && kind != Kind::kContrast; }

Error ClauseError(const GateClause& clause, const std::string& why) {
  return InputError(fmt::format("gate clause '{}': {}", clause.text, why));
}

const char* HowToAdd(Arm arm) {
  switch (arm) {
    case Arm::kBaseline:
      return "leave out --no-baseline";
    case Arm::kPlacebo:
      return "add --placebo";
    case Arm::kPrevious:
      return "add --against DIR or --against git:REF";
    case Arm::kSkill:
      break;
  }
  return "";
}

Status CheckArm(const GateClause& clause, Arm arm, const Plan& plan) {
  if (plan.has_arm(arm)) return {};
  return ClauseError(clause, fmt::format("the run has no arm '{}'; {}", ArmName(arm), HowToAdd(arm)));
}

// The arm that clauses about the previous version refer to if that version has no arm: the skill, if students get the
// same text from both, or the baseline, if there is no previous version. nullopt: the previous version has an arm, or
// the run doesn't compare with one.
std::optional<Arm> StandInForPrevious(const Plan& plan) {
  if (plan.has_arm(Arm::kPrevious) || plan.previous.sha256.empty()) return std::nullopt;
  return plan.previous.name.empty() ? Arm::kBaseline : Arm::kSkill;
}

// Whether the clause holds for two choices without any difference.
bool HoldsForEqual(const GateClause& clause) {
  switch (clause.kind) {
    case Kind::kVerdict:
      return clause.verdict == Verdict::kNoEffect;
    case Kind::kNotVerdict:
      return clause.verdict != Verdict::kNoEffect;
    case Kind::kNotHurts:
    case Kind::kNotRegressed:
      return true;
    case Kind::kContrast:
      return !clause.better;
    case Kind::kTokens:
    case Kind::kCost:
    case Kind::kSeconds:
    case Kind::kLift:
      return clause.less ? clause.bound > 0.0 : clause.bound < 0.0;
    case Kind::kInGeneral:
    case Kind::kPass:
      break;
  }
  return false;
}

// Has the clause compare with `stand_in` instead of the previous version.
void ReplacePrevious(Arm stand_in, const Plan& plan, GateClause& clause) {
  if (clause.kind == Kind::kContrast) {
    bool replaced = false;
    for (GateChoice& choice : clause.choices) {
      if (choice.arm != Arm::kPrevious) continue;
      choice.arm = stand_in;
      replaced = true;
    }
    const GateChoice& a = clause.choices[0];
    const GateChoice& b = clause.choices[1];
    const bool same = a.arm == b.arm && StudentNamed(plan, a.model) == StudentNamed(plan, b.model);
    if (replaced && same) clause.unchanged = HoldsForEqual(clause);
    return;
  }
  const bool nothing_else = NeedsComparison(clause.kind) && !clause.against && plan.arms.size() == 1;
  if (clause.against != Arm::kPrevious && !nothing_else) return;
  if (stand_in == Arm::kSkill) {
    clause.unchanged = HoldsForEqual(clause);
  } else {
    clause.against = stand_in;
  }
}

Status CheckClausePlan(const GateClause& clause, const Plan& plan) {
  const auto no_model = [&](const std::string& model) {
    return ClauseError(clause, fmt::format("the run has no model '{}'", model));
  };
  for (const std::string& model : clause.models) {
    if (!StudentNamed(plan, model)) return no_model(model);
  }
  for (const GateChoice& choice : clause.choices) {
    if (!StudentNamed(plan, choice.model)) return no_model(choice.model);
    if (!clause.unchanged) RETURN_IF_ERROR(CheckArm(clause, choice.arm, plan));
  }
  if (clause.unchanged) return {};
  if (clause.choices.size() == 2 && clause.choices[0].arm == clause.choices[1].arm &&
      StudentNamed(plan, clause.choices[0].model) == StudentNamed(plan, clause.choices[1].model))
    return ClauseError(clause, "both choices are the same");
  if (clause.against) RETURN_IF_ERROR(CheckArm(clause, *clause.against, plan));
  if (NeedsComparison(clause.kind) && GateArms(clause, plan).empty())
    return ClauseError(clause,
                       "the run has nothing to compare the skill with; leave out --no-baseline, or add --against DIR");
  return {};
}

std::string Points(double fraction) {
  const double points = std::round(fraction * 1000.0) / 10.0;
  return fmt::format("{}{:.1f}", points > 0.0 ? "+" : "", points == 0.0 ? 0.0 : points);
}

// What a clause finds out about one student and comparison.
struct Finding {
  bool passed = false;
  std::string detail;
};

// A quantity with its one-sided bounds, compared with the clause's bound.
struct Measured {
  double estimate = 0.0;
  std::optional<Interval> bounds;
};

class Examiner {
 public:
  Examiner(const GateClause& clause, const JudgedRun& run)
      : clause_(clause), run_(run), alpha_(LookAlpha(run.plan())), confidence_(1.0 - 2.0 * alpha_) {}

  Finding Against(std::size_t student, Arm arm) const {
    const StudentVerdict* verdict = VerdictOn(student, arm);
    switch (clause_.kind) {
      case Kind::kVerdict:
      case Kind::kNotVerdict:
        return Word(verdict);
      case Kind::kInGeneral:
        return InGeneral(verdict);
      case Kind::kNotHurts:
        if (clause_.by_estimate) return Word(verdict);
        return NotWorse(AnswersOf(run_.data, student, Arm::kSkill), AnswersOf(run_.data, student, arm));
      case Kind::kNotRegressed:
        return NotRegressed(student, arm);
      case Kind::kLift:
      case Kind::kTokens:
      case Kind::kCost:
      case Kind::kSeconds:
        return Change(AnswersOf(run_.data, student, Arm::kSkill), AnswersOf(run_.data, student, arm));
      case Kind::kContrast:
      case Kind::kPass:
        break;
    }
    return {};
  }

  Finding PassRate(std::size_t student) const {
    const ChoiceAnswers answers = AnswersOf(run_.data, student, Arm::kSkill);
    const std::optional<double> rate = answers.rate();
    if (!rate) return {false, "unknown: no answers"};
    const auto text = [](double value) { return fmt::format("{:.1f} %", value * 100.0); };
    return Decide({*rate, RateInterval(answers)}, "", text);
  }

  Finding OfChoices() const {
    const auto answers = [&](const GateChoice& choice) {
      return AnswersOf(run_.data, *StudentNamed(run_.plan(), choice.model), choice.arm);
    };
    return NotWorse(answers(clause_.choices[0]), answers(clause_.choices[1]));
  }

 private:
  const StudentVerdict* VerdictOn(std::size_t student, Arm arm) const {
    if (arm == ComparedArm(run_.plan())) return &run_.verdicts[student];
    const auto found = run_.others.find(arm);
    return found == run_.others.end() ? nullptr : &found->second[student];
  }

  Finding Word(const StudentVerdict* verdict) const {
    if (verdict == nullptr || !verdict->lift) return {false, "unknown: no round was answered in both arms"};
    const bool same = verdict->word == clause_.verdict;
    return {same == (clause_.kind == Kind::kVerdict), VerdictName(verdict->word)};
  }

  Finding InGeneral(const StudentVerdict* verdict) const {
    if (verdict == nullptr || !verdict->lift) return {false, "unknown: no round was answered in both arms"};
    std::string detail = fmt::format("in general: {}", VerdictName(verdict->general));
    if (verdict->new_cases_low && verdict->new_cases_high) {
      detail += fmt::format(", lift on new cases {} to {} points", Points(*verdict->new_cases_low),
                            Points(*verdict->new_cases_high));
    }
    return {verdict->general == Verdict::kHelps, std::move(detail)};
  }

  Finding NotRegressed(std::size_t student, Arm arm) const {
    const std::optional<LargeLoss> loss =
        FindLargeLoss(run_.data, student, arm, AlphaOfRegression(clause_, run_.plan()));
    if (!loss) return {false, "unknown: no round was answered in both arms"};
    const std::string text = LargeLossText(*loss, run_.plan());
    if (loss->state == LossGuard::State::kShown) return {false, fmt::format("{} (p = {:.2g})", text, loss->p)};
    if (loss->before == 0.0) return {true, text + "; nothing passed before, so nothing could be lost"};
    if (const std::optional<double> findable = loss->Findable())
      return {true, fmt::format("{}; a loss of {:.0f} points or more would have been found in 90 % of runs", text,
                                *findable * 100.0)};
    const bool rounds_help = !loss->answers_repeat && loss->most_rounds < kManyRounds &&
                             loss->guard.FindableLoss(loss->units, kManyRounds, loss->before);
    return {true, fmt::format("{}; there are too few answers to detect even a drop to no passes: add cases{}", text,
                              rounds_help ? " or raise --runs" : "")};
  }

  Finding NotWorse(const ChoiceAnswers& a, const ChoiceAnswers& b) const {
    const Result<Contrast> contrast = MakeContrast(a, b);
    if (!contrast) return {false, "unknown: " + contrast.error().message};
    const double border = GateBorder(clause_, run_.plan());
    const double found = contrast->difference();
    const std::string text = fmt::format("{} points", Points(found));
    if (clause_.by_estimate) return {clause_.better ? found > kTolerance : found >= border - kTolerance, text};
    Finding finding{contrast->PAbove(border) <= alpha_,
                    fmt::format("{}, at least {} ({})", text, Points(contrast->Range(confidence_).low), LevelText())};
    if (!finding.passed) finding.detail += MoreText(*contrast, border, alpha_);
    if (contrast->too_many_excluded) finding.detail += "; errors exclude too many cases";
    return finding;
  }

  std::string LevelText() const { return fmt::format("{:.4g} %", 100.0 * (1.0 - alpha_)); }

  static std::string MoreText(const Contrast& contrast, double border, double alpha) {
    const std::optional<int> more = contrast.MoreFor(border, alpha);
    if (!more) return "";
    return fmt::format("; about {} more {}{} like these would show it", *more,
                       contrast.answers_repeat ? "case" : "round", *more == 1 ? "" : "s");
  }

  Finding Change(const ChoiceAnswers& skill, const ChoiceAnswers& other) const {
    const Result<Contrast> contrast = MakeContrast(skill, other);
    if (!contrast) return {false, "unknown: " + contrast.error().message};
    if (clause_.kind == Kind::kLift) {
      const auto text = [](double value) { return Points(value); };
      return Decide({contrast->difference(), contrast->Range(confidence_)}, " points", text);
    }
    const std::optional<PairedMeans>& means = clause_.kind == Kind::kTokens ? contrast->output_tokens
                                              : clause_.kind == Kind::kCost ? contrast->cost_usd
                                                                            : contrast->seconds;
    const bool of_tokens = clause_.kind == Kind::kTokens;
    if (!means) return {false, of_tokens ? "unknown: the model doesn't report tokens" : "unknown"};
    const std::optional<double> ratio = means->ratio();
    if (!ratio) return {false, "unknown: nothing to compare with"};
    Measured measured{*ratio - 1.0, means->Ratio(confidence_)};
    if (measured.bounds) measured.bounds = Interval{measured.bounds->low - 1.0, measured.bounds->high - 1.0};
    return Decide(measured, "", [](double value) { return Points(value) + " %"; });
  }

  template <typename Text>
  Finding Decide(const Measured& measured, const char* unit, Text text) const {
    const auto holds = [&](double value) {
      return clause_.less ? value < clause_.bound - kTolerance : value > clause_.bound + kTolerance;
    };
    const std::string estimate = text(measured.estimate) + unit;
    if (clause_.by_estimate) return {holds(measured.estimate), estimate};
    if (!measured.bounds) return {false, estimate + ", without bounds: too few cases and rounds"};
    const double limit = clause_.less ? measured.bounds->high : measured.bounds->low;
    Finding finding{holds(limit), fmt::format("{}, {} {} ({})", estimate, clause_.less ? "at most" : "at least",
                                              text(limit), LevelText())};
    if (!finding.passed && holds(measured.estimate) && clause_.kind != Kind::kLift && clause_.kind != Kind::kPass) {
      finding.detail +=
          "; a few answers as long as --max-tokens allows can't be ruled out: add rounds, lower --max-tokens, or "
          "gate the measured change with @estimate";
    }
    return finding;
  }

  // Answers that were lost to errors count as `lost_passes`.
  static PairCounts CountPasses(const std::vector<ChoiceAnswer>& row, bool lost_passes) {
    PairCounts counts;
    for (const ChoiceAnswer& answer : row) {
      if (answer.lost || answer.state == ChoiceAnswer::State::kAnswered)
        ++((answer.lost ? lost_passes : answer.passed) ? counts.wins : counts.losses);
    }
    return counts;
  }

  // Of the pass rate, over the first rounds: exact for a fixed number of them; otherwise the confidence sequence of
  // passes − failures, which is twice the rate less 1.
  Interval RateInterval(const ChoiceAnswers& answers, std::size_t rounds) const {
    LiftSequence sequence(1.0 - confidence_);
    PairCounts total;
    for (std::size_t round = 0; round < rounds; ++round) {
      total += CountPasses(answers.rounds[round], clause_.less);
      if (total.pairs() > 0.0) sequence.Add(total);
    }
    if (!answers.any_look) return ExactRateInterval(std::llround(total.wins), std::llround(total.pairs()), confidence_);
    const Interval range = sequence.range();
    return {0.5 * (range.low + 1.0), 0.5 * (range.high + 1.0)};
  }

  // If later answers may be copies (CompleteRounds::copied), as wide as that of the first round.
  Interval RateInterval(const ChoiceAnswers& answers) const {
    const std::size_t copied = CountCopied(answers);
    const Interval first = copied > 0 ? RateInterval(answers, 1) : Interval();
    if (copied > 0 && copied == answers.cases.size()) return first;
    const Interval all = RateInterval(answers, answers.rounds.size());
    return MayBeCopies(copied, answers.cases.size()) ? Hull(all, first) : all;
  }

  const GateClause& clause_;
  const JudgedRun& run_;
  double alpha_;       // of one clause and student
  double confidence_;  // of a two-sided interval whose sides are the one-sided bounds
};

}  // namespace

std::optional<std::size_t> StudentNamed(const Plan& plan, const std::string& model) {
  for (std::size_t i = 0; i < plan.students.size(); ++i) {
    if (plan.students[i].name == model || plan.students[i].spec == model) return i;
  }
  return std::nullopt;
}

Result<Gate> ParseGate(const std::string& text, const Plan& plan) {
  ASSIGN_OR_RETURN(Gate gate, ParseGate(text));
  const std::optional<Arm> stand_in = StandInForPrevious(plan);
  for (GateClause& clause : gate.clauses) {
    if (stand_in) ReplacePrevious(*stand_in, plan, clause);
    RETURN_IF_ERROR(CheckClausePlan(clause, plan));
  }
  return gate;
}

bool GateNames(const GateClause& clause, const Student& student) {
  return clause.models.empty() ||
         std::any_of(clause.models.begin(), clause.models.end(),
                     [&](const std::string& model) { return model == student.name || model == student.spec; });
}

std::vector<Arm> GateArms(const GateClause& clause, const Plan& plan) {
  if (clause.against) return {*clause.against};
  std::vector<Arm> arms;
  for (const Arm arm : plan.arms) {
    if (arm != Arm::kSkill) arms.push_back(arm);
  }
  return arms;
}

double AlphaOfRegression(const GateClause& clause, const Plan& plan) {
  const auto named = std::count_if(plan.students.begin(), plan.students.end(),
                                   [&](const Student& student) { return GateNames(clause, student); });
  return plan.verdict.alpha / static_cast<double>(std::max<std::ptrdiff_t>(named, 1));
}

// `better`: not worse by more than 0 points, strictly.
double GateBorder(const GateClause& clause, const Plan& plan) {
  return clause.better ? 0.0 : -clause.margin.value_or(plan.verdict.margin);
}

std::optional<Gate> GateOf(const Plan& plan) {
  if (plan.terms.gate.empty()) return std::nullopt;
  Result<Gate> gate = ParseGate(plan.terms.gate, plan);
  return gate ? std::optional(std::move(gate).value()) : std::nullopt;
}

std::vector<GateResult> CheckGate(const Gate& gate, const JudgedRun& run) {
  std::vector<GateResult> results;
  for (const GateClause& clause : gate.clauses) {
    const Examiner examiner(clause, run);
    const auto add = [&](const std::string& model, const std::string& against, Finding finding) {
      results.push_back({clause.text, model, against, finding.passed, std::move(finding.detail)});
    };
    const Finding unchanged{clause.unchanged.value_or(false), "nothing has changed"};
    if (clause.kind == Kind::kContrast) {
      add("", "", clause.unchanged ? unchanged : examiner.OfChoices());
      continue;
    }
    for (std::size_t i = 0; i < run.plan().students.size(); ++i) {
      const Student& student = run.plan().students[i];
      if (!GateNames(clause, student)) continue;
      if (clause.kind == Kind::kPass) {
        add(student.name, "", examiner.PassRate(i));
        continue;
      }
      if (clause.unchanged) {
        add(student.name, ArmName(Arm::kPrevious), unchanged);
        continue;
      }
      for (const Arm arm : GateArms(clause, run.plan())) add(student.name, ArmName(arm), examiner.Against(i, arm));
    }
  }
  return results;
}

}  // namespace upskill
