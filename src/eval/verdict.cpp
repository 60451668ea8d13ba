// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "eval/complete_rounds.h"
#include "stats/e_process.h"
#include "stats/interval.h"
#include "stats/multiplicity.h"
#include "stats/pass_at_k.h"

namespace upskill {
namespace {

constexpr int kMaxMoreRounds = 10000;  // a forecast beyond that is none

// The evidence on one student after each round; logarithms.
struct Evidences {
  std::vector<PairCounts> totals;  // after each round that is evidence
  std::vector<double> helps;
  std::vector<double> hurts;
  double most_helps = 0.0;
  double most_hurts = 0.0;
};

Evidences GatherEvidence(const CompleteRounds& whole, double min_lift) {
  Evidences evidences;
  const std::size_t rounds = whole.answers_repeat ? 1 : whole.rounds.size();  // copies of a round are no evidence
  PairCounts totals;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (const AnswerPair& pair : whole.rounds[round]) totals.Add(pair.passed_without, pair.passed_with);
    evidences.totals.push_back(totals);
    evidences.helps.push_back(LogEvidence(totals, min_lift));
    evidences.hurts.push_back(LogEvidence(totals.Mirrored()));
    evidences.most_helps = std::max(evidences.most_helps, evidences.helps.back());
    evidences.most_hurts = std::max(evidences.most_hurts, evidences.hurts.back());
  }
  return evidences;
}

std::size_t FirstAtLeast(const std::vector<double>& values, double threshold) {
  return static_cast<std::size_t>(std::find_if(values.begin(), values.end(), [&](double v) { return v >= threshold; }) -
                                  values.begin());
}

// The word where Holm's rule has rejected one side or both; of both, the one that was reached first (who stops at a
// decision sees no other).
Verdict WordOf(const Evidences& evidences, bool helps, bool hurts, double alpha) {
  if (helps && hurts) {
    const double threshold = std::log(1.0 / alpha);
    helps = FirstAtLeast(evidences.helps, threshold) <= FirstAtLeast(evidences.hurts, threshold);
  }
  if (helps) return Verdict::kHelps;
  return hurts ? Verdict::kHurts : Verdict::kUndecided;
}

// What must be reached for each of the words.
struct Thresholds {
  double helps = 0.0;  // logarithms
  double hurts = 0.0;
  double rules_out = 0.0;  // of each side of the confidence sequence
};

bool WouldDecide(const PairCounts& totals, const VerdictOptions& options, const Thresholds& thresholds) {
  if (LogEvidence(totals, options.min_lift) >= thresholds.helps) return true;
  if (LogEvidence(totals.Mirrored()) >= thresholds.hurts) return true;
  return LogEvidence(totals, -options.margin) >= thresholds.rules_out &&
         LogEvidence(totals.Mirrored(), -options.margin) >= thresholds.rules_out;
}

// How many more rounds would decide if they went like those so far.
std::optional<int> ForecastRounds(const Evidences& evidences, const VerdictOptions& options,
                                  const Thresholds& thresholds) {
  const auto rounds = static_cast<double>(evidences.totals.size());
  const auto decides = [&](int more) {
    PairCounts totals = evidences.totals.back();
    const double factor = (rounds + more) / rounds;
    totals = {totals.wins * factor, totals.ties * factor, totals.losses * factor};
    return WouldDecide(totals, options, thresholds);
  };
  int high = 1;
  while (!decides(high)) {
    if (high >= kMaxMoreRounds) return std::nullopt;
    high = std::min(2 * high, kMaxMoreRounds);
  }
  int low = high / 2;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (decides(middle) ? high : low) = middle;
  }
  return high;
}

std::vector<std::string> IdsOf(const Plan& plan, const std::vector<std::size_t>& cases) {
  std::vector<std::string> ids;
  ids.reserve(cases.size());
  for (const std::size_t i : cases) ids.push_back(plan.suite.cases[i].id);
  return ids;
}

// Mean of a quantity over the pairs, with the interval of the change from the means of the cases (of the rounds, when
// there is only one case). Nothing when the quantity of one answer is unknown.
template <typename Quantity>
std::optional<PairedChange> ChangeOf(const CompleteRounds& whole, Quantity quantity) {
  const std::size_t cases = whole.cases.size();
  const std::size_t rounds = whole.rounds.size();
  PairedChange change;
  std::vector<double> by_unit(cases > 1 ? cases : rounds, 0.0);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < cases; ++i) {
      const std::optional<double> without = quantity(*whole.rounds[round][i].without);
      const std::optional<double> with = quantity(*whole.rounds[round][i].with);
      if (!without || !with) return std::nullopt;
      change.without += *without;
      change.with += *with;
      by_unit[cases > 1 ? i : round] += *with - *without;
    }
  }
  const auto pairs = static_cast<double>(cases * rounds);
  change.without /= pairs;
  change.with /= pairs;
  for (double& difference : by_unit) difference *= static_cast<double>(by_unit.size()) / pairs;
  if (const std::optional<Interval> interval = MeanInterval(by_unit)) {
    change.low = interval->low;
    change.high = interval->high;
  }
  return change;
}

void AddCosts(const CompleteRounds& whole, StudentVerdict& verdict) {
  verdict.tokens = ChangeOf(whole, [](const Sample& s) {
    return std::optional(static_cast<double>(s.response.usage.prompt()) + static_cast<double>(s.response.usage.output));
  });
  verdict.output_tokens =
      ChangeOf(whole, [](const Sample& s) { return std::optional(static_cast<double>(s.response.usage.output)); });
  verdict.cost_usd = ChangeOf(whole, [](const Sample& s) { return s.response.cost_usd; });
  verdict.seconds = ChangeOf(whole, [](const Sample& s) { return std::optional(s.response.seconds); });
  if (!verdict.cost_usd) return;
  double solved_without = 0.0;
  double solved_with = 0.0;
  for (const std::vector<AnswerPair>& round : whole.rounds) {
    for (const AnswerPair& pair : round) {
      solved_without += pair.passed_without ? 1.0 : 0.0;
      solved_with += pair.passed_with ? 1.0 : 0.0;
    }
  }
  const auto pairs = static_cast<double>(whole.rounds.size() * whole.cases.size());
  if (solved_without > 0.0) verdict.cost_per_solved_without = verdict.cost_usd->without * pairs / solved_without;
  if (solved_with > 0.0) verdict.cost_per_solved_with = verdict.cost_usd->with * pairs / solved_with;
}

void AddLift(const CompleteRounds& whole, const Evidences& evidences, double alpha_of_sequence,
             StudentVerdict& verdict) {
  const std::size_t rounds = evidences.totals.size();
  const std::vector<PairCounts> by_case = whole.CountsByCase(rounds);
  verdict.lift = evidences.totals.back().lift();
  if (const std::optional<Interval> interval = LiftInterval(by_case)) {
    verdict.low = interval->low;
    verdict.high = interval->high;
  }
  std::vector<double> lifts;
  lifts.reserve(by_case.size());
  for (const PairCounts& one : by_case) lifts.push_back(one.lift());
  if (const std::optional<Interval> interval = NewCasesInterval(lifts, static_cast<int>(rounds))) {
    verdict.new_cases_low = interval->low;
    verdict.new_cases_high = interval->high;
  }
  LiftSequence sequence(alpha_of_sequence);
  for (const PairCounts& totals : evidences.totals) sequence.Add(totals);
  verdict.sequence_low = sequence.range().low;
  verdict.sequence_high = sequence.range().high;
  double passed_without = 0.0;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (const AnswerPair& pair : whole.rounds[round]) passed_without += pair.passed_without ? 1.0 : 0.0;
  }
  const double rate = passed_without / evidences.totals.back().pairs();
  verdict.normalised_gain = NormalisedGain(rate, rate + *verdict.lift);
}

std::size_t CountTrue(const std::vector<bool>& values) {
  return static_cast<std::size_t>(std::count(values.begin(), values.end(), true));
}

double ExpCapped(double logarithm) { return std::min(std::exp(logarithm), DBL_MAX); }

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

Arm ComparedArm(const Plan& plan) {
  return !plan.has_arm(Arm::kBaseline) && plan.has_arm(Arm::kPrevious) ? Arm::kPrevious : Arm::kBaseline;
}

std::vector<StudentVerdict> JudgeRun(const Plan& plan, const std::vector<Sample>& samples, Arm against) {
  const VerdictOptions& options = plan.verdict;
  const std::size_t students = plan.students.size();
  const std::vector<CompleteRounds> whole = FindCompleteRounds(plan, samples, against);
  std::vector<Evidences> evidences;
  std::vector<double> most_helps;
  std::vector<double> most_hurts;
  for (const CompleteRounds& rounds : whole) {
    evidences.push_back(GatherEvidence(rounds, options.min_lift));
    most_helps.push_back(evidences.back().most_helps);
    most_hurts.push_back(evidences.back().most_hurts);
  }
  const std::vector<bool> helps = HolmRejects(most_helps, options.alpha);
  const std::vector<bool> hurts = HolmRejects(most_hurts, options.alpha);
  const double alpha_of_sequence = options.alpha / static_cast<double>(std::max<std::size_t>(students, 1));
  const Thresholds thresholds{HolmThreshold(students, CountTrue(helps), options.alpha),
                              HolmThreshold(students, CountTrue(hurts), options.alpha),
                              std::log(2.0 / alpha_of_sequence)};

  std::vector<StudentVerdict> verdicts(students);
  for (std::size_t i = 0; i < students; ++i) {
    StudentVerdict& verdict = verdicts[i];
    verdict.excluded = IdsOf(plan, whole[i].excluded);
    if (whole[i].rounds.empty()) continue;
    verdict.complete_rounds = static_cast<int>(whole[i].rounds.size());
    verdict.answers_repeat = whole[i].answers_repeat;
    verdict.ceiling = IdsOf(plan, whole[i].always_passed);
    verdict.floor = IdsOf(plan, whole[i].never_passed);
    verdict.e_helps = ExpCapped(evidences[i].most_helps);
    verdict.e_hurts = ExpCapped(evidences[i].most_hurts);
    AddLift(whole[i], evidences[i], alpha_of_sequence, verdict);
    AddCosts(whole[i], verdict);
    verdict.word = WordOf(evidences[i], helps[i], hurts[i], options.alpha);
    if (verdict.word != Verdict::kUndecided) continue;
    if (*verdict.sequence_low > -options.margin && *verdict.sequence_high < options.margin) {
      verdict.word = Verdict::kNoEffect;
    } else if (!verdict.answers_repeat) {
      verdict.more_rounds = ForecastRounds(evidences[i], options, thresholds);
    }
  }
  return verdicts;
}

bool IsSettled(const StudentVerdict& verdict) { return verdict.word != Verdict::kUndecided || verdict.answers_repeat; }

bool AllSettled(const std::vector<StudentVerdict>& verdicts) {
  return std::all_of(verdicts.begin(), verdicts.end(),
                     [](const StudentVerdict& verdict) { return IsSettled(verdict); });
}

}  // namespace upskill
