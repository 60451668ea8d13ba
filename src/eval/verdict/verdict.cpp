// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/verdict.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "eval/verdict/comparisons.h"
#include "eval/verdict/complete_rounds.h"
#include "eval/verdict/expenses.h"
#include "eval/verdict/general_verdict.h"
#include "eval/verdict/missing.h"
#include "eval/verdict/round_evidence.h"
#include "stats/e_process.h"
#include "stats/forecast.h"
#include "stats/interval.h"
#include "stats/multiplicity.h"
#include "stats/sign_flip_sequence.h"
#include "stats/stage_wise.h"
#include "stats/unit_counts.h"

namespace upskill {
namespace {

// The students whose verdict Holm's rule decides. It takes all students into account.
struct Rejections {
  std::vector<bool> helps;
  std::vector<bool> hurts;
};

Rejections Reject(std::vector<RoundEvidence>& evidence, double alpha) {
  const auto helps = [&](std::size_t i, double level) { return evidence[i].HelpsRound(level) > 0; };
  const auto hurts = [&](std::size_t i, double level) { return evidence[i].HurtsRound(level) > 0; };
  return {HolmRejects(evidence.size(), alpha, helps), HolmRejects(evidence.size(), alpha, hurts)};
}

// The error probabilities that count for students that aren't decided.
struct Levels {
  double helps = 0.0;
  double hurts = 0.0;
  double sequence = 0.0;  // each student's share of alpha for its confidence sequence
};

std::size_t CountTrue(const std::vector<bool>& values) {
  return static_cast<std::size_t>(std::count(values.begin(), values.end(), true));
}

double AlphaOfSequence(const Plan& plan) {
  return EffectiveAlpha(plan) / static_cast<double>(std::max<std::size_t>(plan.students.size(), 1));
}

Levels LevelsOf(const Rejections& rejections, const Plan& plan) {
  const std::size_t students = plan.students.size();
  return {HolmAlpha(students, CountTrue(rejections.helps), EffectiveAlpha(plan)),
          HolmAlpha(students, CountTrue(rejections.hurts), EffectiveAlpha(plan)), AlphaOfSequence(plan)};
}

// What the tests have decided, less what the answers contradict.
struct Decision {
  Verdict word = Verdict::kUndecided;
  Verdict withdrawn = Verdict::kUndecided;
  int round = 0;  // after which `withdrawn` was reached; 0: not known
};

// The word if Holm's rule has rejected one side or both; if both, the one reached first (a user who stops at a decision
// never sees the other). `evidence` has at least one round.
Decision DecisionOf(RoundEvidence& evidence, bool helps, bool hurts, const Plan& plan) {
  const double alpha = EffectiveAlpha(plan);
  const Interval range = evidence.Sequence(AlphaOfSequence(plan));
  const double margin = plan.verdict.margin;
  const double lift = evidence.totals().lift();
  if (helps && hurts) helps = evidence.HelpsRound(alpha) <= evidence.HurtsRound(alpha);
  Decision decision;
  if (helps || hurts) {
    decision.word = helps ? Verdict::kHelps : Verdict::kHurts;
    if (plan.students.size() == 1) decision.round = helps ? evidence.HelpsRound(alpha) : evidence.HurtsRound(alpha);
  } else if (margin > 0.0 && evidence.PNoEffect(margin) <= AlphaOfSequence(plan)) {
    decision.word = Verdict::kNoEffect;
  }
  const bool left_out =
      decision.word == Verdict::kNoEffect && (lift < range.low || lift > range.high || std::abs(lift) >= margin);
  if (left_out || LiftContradicts(decision.word, lift, plan.verdict.min_lift))
    decision.withdrawn = std::exchange(decision.word, Verdict::kUndecided);
  return decision;
}

// Whether totals like these show a lift above min_lift where the e-process decides this, or that there is no effect.
bool EvidenceDecides(const UnitCounts& totals, const VerdictOptions& options, const Levels& levels) {
  if (options.min_lift != 0.0 && LogEvidence(totals, options.min_lift) >= -std::log(levels.helps)) return true;
  const double rules_out = std::log(1.0 / levels.sequence);
  return LogEvidence(totals, -options.margin) >= rules_out &&
         LogEvidence(totals.Mirrored(), -options.margin) >= rules_out;
}

struct Forecast {
  int rounds = 0;
  bool no_effect = false;  // what they would show
};

// How many more rounds like those so far would decide. Nothing if that takes more than MostForecastRounds.
std::optional<Forecast> ForecastMoreRounds(const RoundEvidence& evidence, const Plan& plan, const Levels& levels) {
  const VerdictOptions& options = plan.verdict;
  const auto rounds = static_cast<double>(evidence.rounds());
  const auto decides = [&](int more) {
    return EvidenceDecides(evidence.totals().Times((rounds + more) / rounds), options, levels);
  };
  const double helps_level = options.min_lift == 0.0 ? levels.helps : 0.0;
  const std::optional<int> by_signs = ForecastRounds(evidence.state(), evidence.schedule(), helps_level, levels.hurts);
  const int longest = MostForecastRounds(static_cast<int>(evidence.rounds()), evidence.schedule());
  const int most = by_signs.value_or(longest);
  int high = 1;
  while (!decides(high)) {
    if (high >= most) return by_signs ? std::optional<Forecast>({*by_signs, false}) : std::nullopt;
    high = std::min(2 * high, most);
  }
  int low = high / 2;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (decides(middle) ? high : low) = middle;
  }
  return Forecast{high, options.min_lift == 0.0 || evidence.totals().lift() <= options.margin};
}

// Whether the planned rounds that are left are unlikely to give any word. Only a run that may stop when decided asks.
// All that earlier looks left of alpha is taken to be left, so that other students don't change the result.
bool PlanIsFutile(const RoundEvidence& evidence, const Plan& plan) {
  const double left = plan.rounds - static_cast<double>(evidence.rounds());
  if (!plan.stop_when_decided || plan.verdict.min_lift != 0.0 || left < 1.0) return false;
  const double alpha = LookAlpha(plan);
  if (!IsFutile(evidence.state(), evidence.schedule(), plan.rounds, alpha, alpha)) return false;
  // "No effect" would be shown first if all remaining answers were the same in both arms.
  UnitCounts totals = evidence.totals();
  totals.Add(1, 0, left * static_cast<double>(evidence.units()));
  return !EvidenceDecides(totals, plan.verdict, {alpha, alpha, AlphaOfSequence(plan)});
}

std::vector<UnitRounds> UnitRoundsOf(const RoundEvidence& evidence, std::size_t rounds) {
  std::vector<UnitRounds> units(evidence.units());
  for (std::size_t i = 0; i < units.size(); ++i) {
    units[i].rounds = static_cast<double>(rounds);
    for (std::size_t round = 0; round < rounds; ++round) {
      const double change = evidence.changes()[round][i];
      units[i].sum += change;
      units[i].squares += change * change;
    }
  }
  return units;
}

// For this number of rounds. With copies, also as wide as that of the first round.
std::optional<Interval> FixedInterval(const RoundEvidence& evidence, double confidence) {
  const std::optional<Interval> all = LiftIntervalOfUnits(UnitRoundsOf(evidence, evidence.rounds()), confidence);
  if (!all || !evidence.has_copies()) return all;
  return Hull(*all, LiftIntervalOfUnits(UnitRoundsOf(evidence, 1), confidence).value_or(Interval{-1.0, 1.0}));
}

// Median-unbiased where the run ended as its sign-flip test decided, or before that; the measured lift where it went on
// (for other models, or because of errors), or where it ends by another rule. Within `range`.
double EstimateOf(RoundEvidence& evidence, const Plan& plan, Arm against, double alpha, const Interval& range) {
  const double measured = evidence.totals().lift();
  const bool by_signs = plan.verdict.min_lift == 0.0 && plan.share.prior.empty() && against == ComparedArm(plan);
  if (!by_signs || evidence.has_copies()) return measured;
  const auto estimate = StageWiseLift(evidence.changes(), evidence.Signs(alpha).critical(), evidence.units());
  if (!estimate || estimate->rounds < evidence.rounds()) return measured;
  return std::clamp(estimate->lift, range.low, range.high);
}

void AddLift(RoundEvidence& evidence, const Plan& plan, int tried, Arm against, const Levels& levels,
             StudentVerdict& verdict) {
  verdict.lift = evidence.totals().lift();
  const Interval range = evidence.SequenceWithLift(levels.sequence);
  verdict.sequence_low = range.low;
  verdict.sequence_high = range.high;
  verdict.interval_is_sequence = RoundsMayDependOnAnswers(plan, tried);
  verdict.interval_level = 1.0 - std::min(0.05, 2.0 * levels.sequence);
  const std::optional<Interval> interval =
      verdict.interval_is_sequence ? range : FixedInterval(evidence, verdict.interval_level);
  if (interval) {
    verdict.low = interval->low;
    verdict.high = interval->high;
  }
  if (verdict.interval_is_sequence) {
    verdict.interval_level = 1.0 - EffectiveAlpha(plan);
    verdict.lift_estimate = EstimateOf(evidence, plan, against, levels.helps, range);
  }
  if (const auto new_cases = NewCasesInterval(LiftsOfSources(evidence, evidence.rounds()))) {
    verdict.new_cases_low = new_cases->low;
    verdict.new_cases_high = new_cases->high;
  }
}

void AddPValues(const RoundEvidence& evidence, double margin, StudentVerdict& verdict) {
  const SequentialPValues p = evidence.PValues();
  verdict.p_no_effect = evidence.PNoEffect(margin);
  verdict.p_helps = p.helps;
  verdict.p_hurts = p.hurts;
  verdict.e_helps = EValue(evidence.helps());
  verdict.e_hurts = EValue(evidence.hurts());
  verdict.p_anytime_helps = std::exp(-evidence.most_helps());
  verdict.p_anytime_hurts = std::exp(-evidence.most_hurts());
  const GeneralPValues general = GeneralPValuesOf(evidence);
  verdict.p_general_helps = general.helps;
  verdict.p_general_hurts = general.hurts;
}

// Near temperature 0, whether a case passes depends on its exact wording: even irrelevant text in the prompt can change
// which cases pass, and the change repeats in every round.
bool HangsOnWording(const CompleteRounds& complete, const Plan& plan) {
  constexpr double kNearGreedy = 0.2;
  return complete.answers_repeat || !complete.copied.empty() || plan.sampling.temperature.value_or(1.0) <= kNearGreedy;
}

// Holm's procedure over the students' general p-values.
void AddGeneralWords(double alpha, std::vector<StudentVerdict>& verdicts) {
  const auto helps = [&](std::size_t i, double level) { return verdicts[i].p_general_helps <= level; };
  const auto hurts = [&](std::size_t i, double level) { return verdicts[i].p_general_hurts <= level; };
  const std::vector<bool> all_help = HolmRejects(verdicts.size(), alpha, helps);
  const std::vector<bool> all_hurt = HolmRejects(verdicts.size(), alpha, hurts);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    StudentVerdict& verdict = verdicts[i];
    const bool both = all_help[i] && all_hurt[i];
    const bool smaller = verdict.p_general_helps <= verdict.p_general_hurts;
    if (all_help[i] && (!both || smaller)) verdict.general = Verdict::kHelps;
    if (all_hurt[i] && (!both || !smaller)) verdict.general = Verdict::kHurts;
  }
}

// Counting cases that every answer in every arm passed, and those that none passed.
void AddCeilingAndFloor(const RunData& data, std::size_t student, const CompleteRounds& complete,
                        StudentVerdict& verdict) {
  std::vector<std::size_t> answered(complete.cases.size(), 0);
  std::vector<std::size_t> passed(complete.cases.size(), 0);
  for (int round = 0; round < data.rounds(student); ++round) {
    for (std::size_t i = 0; i < complete.cases.size(); ++i) {
      for (const Arm arm : data.plan().arms) {
        const FinalSample cell = data.at(student, arm, complete.cases[i], round);
        answered[i] += cell.answered ? 1 : 0;
        passed[i] += cell.passed ? 1 : 0;
      }
    }
  }
  for (std::size_t i = 0; i < complete.cases.size(); ++i) {
    const std::string& id = data.plan().suite.cases[complete.cases[i]].id;
    if (passed[i] == answered[i]) verdict.ceiling.push_back(id);
    if (passed[i] == 0) verdict.floor.push_back(id);
  }
}

}  // namespace

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHelps:
      return "helps";
    case Verdict::kHurts:
      return "hurts";
    case Verdict::kNoEffect:
      return "no effect";
    case Verdict::kUndecided:
      break;
  }
  return "undecided";
}

std::optional<double> PairedChange::ratio() const {
  if (without == 0.0) return std::nullopt;
  return with / without - 1.0;
}

bool LiftContradicts(Verdict word, double lift, double min_lift) {
  return (word == Verdict::kHelps && lift <= min_lift) || (word == Verdict::kHurts && lift >= 0.0);
}

bool HasDoubtByErrors(const StudentVerdict& verdict) {
  return verdict.doubt == Doubt::kErrors || verdict.doubt == Doubt::kExcludedCases;
}

bool RoundsMayDependOnAnswers(const Plan& plan, int tried) {
  const int planned = plan.first_planned_rounds();
  return tried != planned || (plan.stop_when_decided && planned > 1);
}

Arm ComparedArm(const Plan& plan) {
  return !plan.has_arm(Arm::kBaseline) && plan.has_arm(Arm::kPrevious) ? Arm::kPrevious : Arm::kBaseline;
}

namespace {

// The verdicts by the answers alone, of the rounds below `rounds`.
std::vector<StudentVerdict> JudgeAnswers(const RunData& data, Arm against, int rounds) {
  const Plan& plan = data.plan();
  const std::size_t students = plan.students.size();
  const std::vector<CompleteRounds> complete = FindCompleteRounds(data, against, rounds);
  std::vector<RoundEvidence> evidence(students, RoundEvidence(plan));
  for (std::size_t i = 0; i < students; ++i) evidence[i].Update(complete[i]);
  const Rejections rejections = Reject(evidence, EffectiveAlpha(plan));
  const Levels levels = LevelsOf(rejections, plan);

  std::vector<StudentVerdict> verdicts(students);
  for (std::size_t i = 0; i < students; ++i) {
    StudentVerdict& verdict = verdicts[i];
    for (const std::size_t excluded : complete[i].excluded) verdict.excluded.push_back(plan.suite.cases[excluded].id);
    if (complete[i].rounds.empty()) continue;
    verdict.cases = complete[i].cases.size();
    verdict.complete_rounds = static_cast<int>(complete[i].rounds.size());
    verdict.answers_repeat = complete[i].answers_repeat;
    verdict.hangs_on_wording = HangsOnWording(complete[i], plan);
    verdict.distinct_inputs = complete[i].unit_sizes.size();
    AddPValues(evidence[i], plan.verdict.margin, verdict);
    AddCeilingAndFloor(data, i, complete[i], verdict);
    AddLift(evidence[i], plan, complete[i].tried, against, levels, verdict);
    AddExpenses(complete[i], data.plan().sampling.max_tokens, verdict);
    const Decision decision = DecisionOf(evidence[i], rejections.helps[i], rejections.hurts[i], plan);
    verdict.word = decision.word;
    if (decision.withdrawn != Verdict::kUndecided) {
      verdict.doubt = Doubt::kLaterAnswers;
      verdict.without_doubt = decision.withdrawn;
      verdict.reached_round = decision.round;
      continue;
    }
    if (verdict.word != Verdict::kUndecided || verdict.answers_repeat) continue;
    verdict.futile = PlanIsFutile(evidence[i], plan);
    if (const std::optional<Forecast> forecast = ForecastMoreRounds(evidence[i], plan, levels)) {
      verdict.more_rounds = forecast->rounds;
      verdict.more_show_no_effect = forecast->no_effect;
    } else {
      verdict.more_rounds_above = MostForecastRounds(verdict.complete_rounds, evidence[i].schedule());
    }
  }
  AddGeneralWords(EffectiveAlpha(plan), verdicts);
  return verdicts;
}

std::vector<StudentVerdict> JudgeRounds(const RunData& data, Arm against, int rounds) {
  const auto judge = [&](const RunData& assumed) { return JudgeAnswers(assumed, against, rounds); };
  std::vector<StudentVerdict> verdicts = DoubtVerdicts(data, judge);
  for (StudentVerdict& verdict : verdicts) WithholdGeneral(verdict);
  return verdicts;
}

}  // namespace

std::vector<StudentVerdict> JudgeRun(const RunData& data, Arm against) {
  return JudgeRounds(data, against, std::numeric_limits<int>::max());
}

Settling SettlingOf(const StudentVerdict& verdict) {
  if (verdict.word != Verdict::kUndecided) return Settling::kDecided;
  if (verdict.answers_repeat) return Settling::kRepeats;
  return verdict.futile ? Settling::kFutile : Settling::kOpen;
}

const char* SettlingName(Settling settling) {
  switch (settling) {
    case Settling::kDecided:
      return "decided";
    case Settling::kRepeats:
      return "repeats";
    case Settling::kFutile:
      return "futile";
    case Settling::kOpen:
      break;
  }
  return "";
}

bool IsSettled(const StudentVerdict& verdict) { return SettlingOf(verdict) != Settling::kOpen; }

namespace {

// What a growing run shows of one student.
struct Look {
  bool any = false;  // complete rounds
  Verdict word = Verdict::kUndecided;
  bool repeats = false;
  bool futile = false;
  std::size_t excluded = 0;  // cases
};

// The evidence is that of all students; it takes in what it hasn't seen.
Look LookAt(const RunData& data, Arm against, int rounds, std::size_t student, std::vector<RoundEvidence>& evidence) {
  const Plan& plan = data.plan();
  const std::vector<CompleteRounds> complete = FindCompleteRounds(data, against, rounds);
  Look look;
  if (complete[student].rounds.empty()) return look;
  look.any = true;
  look.repeats = complete[student].answers_repeat;
  look.excluded = complete[student].excluded.size();
  for (std::size_t i = 0; i < evidence.size(); ++i) evidence[i].Update(complete[i]);
  const Rejections rejections = Reject(evidence, EffectiveAlpha(plan));
  const Decision decision = DecisionOf(evidence[student], rejections.helps[student], rejections.hurts[student], plan);
  look.word = decision.word;
  const bool open = look.word == Verdict::kUndecided && decision.withdrawn == Verdict::kUndecided;
  look.futile = open && !look.repeats && PlanIsFutile(evidence[student], plan);
  return look;
}

}  // namespace

VerdictWatch::VerdictWatch(const RunData& data, Arm against)
    : data_(&data), arm_(against), evidence_(data.plan().students.size(), RoundEvidence(data.plan())) {
  against_.evidence = in_favour_.evidence = evidence_;
}

// As DoubtVerdicts (missing.h) has it.
bool VerdictWatch::HoldsWithLostAnswers(Verdict word, int rounds, std::size_t student) {
  bool settled = true;
  for (Assumption* assumption : {&against_, &in_favour_}) {
    const bool told_for = assumption == &in_favour_;
    if (word == (told_for ? Verdict::kHelps : Verdict::kHurts)) continue;
    if (!assumption->data || assumption->revision != data_->revision()) {
      assumption->data.emplace(data_->AssumeLost(told_for));
      assumption->revision = data_->revision();
    }
    const Look look = LookAt(*assumption->data, arm_, rounds, student, assumption->evidence);
    if (look.word != word) settled = look.futile;
  }
  return settled;
}

bool VerdictWatch::IsSettledAfter(int rounds, std::size_t student) {
  const Plan& plan = data_->plan();
  const Look look = LookAt(*data_, arm_, rounds, student, evidence_);
  if (!look.any) return false;
  if (look.repeats) return true;
  if (arm_ == ComparedArm(plan) && plan.share.prior.contains(plan.students[student].spec)) {
    const RoundEvidence& evidence = evidence_[student];
    Verdict word = CombinedWord(plan, plan.students[student], evidence.most_helps(), evidence.most_hurts());
    if (LiftContradicts(word, evidence.totals().lift(), plan.verdict.min_lift)) word = Verdict::kUndecided;
    if (word == Verdict::kUndecided || !HasErrors(*data_)) return word != Verdict::kUndecided;
    const StudentVerdict by_itself = JudgeRounds(*data_, arm_, rounds)[student];
    const bool lost = HasDoubtByErrors(by_itself) || by_itself.lost_low.has_value();
    return !lost || by_itself.word == word;
  }
  if (look.word == Verdict::kUndecided) return look.futile;
  const bool too_many =
      static_cast<double>(look.excluded) > kMaxExcludedShare * static_cast<double>(plan.suite.cases.size());
  if (too_many) return plan.stop_when_decided;
  return !data_->has_lost_answers() || HoldsWithLostAnswers(look.word, rounds, student);
}

}  // namespace upskill
