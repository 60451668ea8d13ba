// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "eval/complete_rounds.h"
#include "eval/round_evidence.h"
#include "stats/e_process.h"
#include "stats/interval.h"
#include "stats/multiplicity.h"

namespace upskill {
namespace {

constexpr int kMaxMoreRounds = 10000;  // a longer forecast isn't reported

// The students whose verdict Holm's rule decides. It takes all students into account.
struct Rejections {
  std::vector<bool> helps;
  std::vector<bool> hurts;
};

Rejections Reject(const std::vector<RoundEvidence>& evidence, double alpha) {
  std::vector<double> helps;
  std::vector<double> hurts;
  for (const RoundEvidence& one : evidence) {
    helps.push_back(one.most_helps());
    hurts.push_back(one.most_hurts());
  }
  return {HolmRejects(helps, alpha), HolmRejects(hurts, alpha)};
}

// Each student's share of alpha for its confidence sequence.
double AlphaOfSequence(const Plan& plan) {
  return plan.verdict.alpha / static_cast<double>(std::max<std::size_t>(plan.students.size(), 1));
}

// The word if Holm's rule has rejected one side or both; if both, the one reached first (a user who stops at a decision
// never sees the other). `evidence` has at least one round.
Verdict WordOf(RoundEvidence& evidence, bool helps, bool hurts, const Plan& plan) {
  if (helps && hurts) helps = evidence.HelpsFirst(std::log(1.0 / plan.verdict.alpha));
  if (helps) return Verdict::kHelps;
  if (hurts) return Verdict::kHurts;
  const Interval range = evidence.Sequence(AlphaOfSequence(plan)).range();
  const double margin = plan.verdict.margin;
  return range.low > -margin && range.high < margin ? Verdict::kNoEffect : Verdict::kUndecided;
}

// The evidence needed for each word.
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

// How many more rounds like those so far would decide.
std::optional<int> ForecastRounds(const RoundEvidence& evidence, const VerdictOptions& options,
                                  const Thresholds& thresholds) {
  const auto rounds = static_cast<double>(evidence.rounds());
  const auto decides = [&](int more) {
    PairCounts totals = evidence.totals(evidence.rounds());
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

// Mean of a quantity over the pairs, with the interval of the change computed from the means of the cases (of the
// rounds if there is only one case). Nothing if the quantity is unknown for any answer.
template <typename Quantity>
std::optional<PairedChange> ChangeOf(const CompleteRounds& complete, Quantity quantity) {
  const std::size_t cases = complete.cases.size();
  const std::size_t rounds = complete.rounds.size();
  PairedChange change;
  std::vector<double> by_unit(cases > 1 ? cases : rounds, 0.0);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < cases; ++i) {
      const AnswerPair pair = complete.pair(round, i);
      const std::optional<double> without = quantity(*pair.without->sample);
      const std::optional<double> with = quantity(*pair.with->sample);
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

void AddCosts(const CompleteRounds& complete, StudentVerdict& verdict) {
  verdict.tokens = ChangeOf(complete, [](const Sample& s) {
    return std::optional(static_cast<double>(s.response.usage.prompt()) + static_cast<double>(s.response.usage.output));
  });
  verdict.output_tokens =
      ChangeOf(complete, [](const Sample& s) { return std::optional(static_cast<double>(s.response.usage.output)); });
  verdict.cost_usd = ChangeOf(complete, [](const Sample& s) { return s.response.cost_usd; });
  verdict.seconds = ChangeOf(complete, [](const Sample& s) { return std::optional(s.response.seconds); });
  if (!verdict.cost_usd) return;
  double solved_without = 0.0;
  double solved_with = 0.0;
  for (std::size_t round = 0; round < complete.rounds.size(); ++round) {
    for (std::size_t i = 0; i < complete.cases.size(); ++i) {
      const AnswerPair pair = complete.pair(round, i);
      solved_without += pair.without->passed ? 1.0 : 0.0;
      solved_with += pair.with->passed ? 1.0 : 0.0;
    }
  }
  const auto pairs = static_cast<double>(complete.rounds.size() * complete.cases.size());
  if (solved_without > 0.0) verdict.cost_per_pass_without = verdict.cost_usd->without * pairs / solved_without;
  if (solved_with > 0.0) verdict.cost_per_pass_with = verdict.cost_usd->with * pairs / solved_with;
}

void AddLift(const CompleteRounds& complete, RoundEvidence& evidence, double alpha_of_sequence,
             StudentVerdict& verdict) {
  const std::size_t rounds = evidence.rounds();
  const std::vector<PairCounts> by_case = complete.CountsByCase(rounds);
  verdict.lift = evidence.totals(rounds).lift();
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
  const Interval range = evidence.Sequence(alpha_of_sequence).range();
  verdict.sequence_low = range.low;
  verdict.sequence_high = range.high;
}

// Counting cases that every answer in every arm passed, and those that none passed.
void AddCeilingAndFloor(const RunData& data, std::size_t student, const CompleteRounds& complete,
                        StudentVerdict& verdict) {
  std::vector<std::size_t> answered(complete.cases.size(), 0);
  std::vector<std::size_t> passed(complete.cases.size(), 0);
  for (int round = 0; round < data.rounds(student); ++round) {
    for (std::size_t i = 0; i < complete.cases.size(); ++i) {
      for (const Arm arm : data.plan().arms) {
        const FinalSample& cell = data.at(student, arm, complete.cases[i], round);
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

std::vector<StudentVerdict> JudgeRun(const RunData& data, Arm against) {
  const Plan& plan = data.plan();
  const VerdictOptions& options = plan.verdict;
  const std::size_t students = plan.students.size();
  const std::vector<CompleteRounds> complete = FindCompleteRounds(data, against);
  std::vector<RoundEvidence> evidence(students);
  for (std::size_t i = 0; i < students; ++i) evidence[i].Update(complete[i], options.min_lift);
  const auto [helps, hurts] = Reject(evidence, options.alpha);
  const double alpha_of_sequence = AlphaOfSequence(plan);
  const Thresholds thresholds{HolmThreshold(students, CountTrue(helps), options.alpha),
                              HolmThreshold(students, CountTrue(hurts), options.alpha),
                              std::log(2.0 / alpha_of_sequence)};

  std::vector<StudentVerdict> verdicts(students);
  for (std::size_t i = 0; i < students; ++i) {
    StudentVerdict& verdict = verdicts[i];
    for (const std::size_t excluded : complete[i].excluded) verdict.excluded.push_back(plan.suite.cases[excluded].id);
    if (complete[i].rounds.empty()) continue;
    verdict.complete_rounds = static_cast<int>(complete[i].rounds.size());
    verdict.answers_repeat = complete[i].answers_repeat;
    verdict.e_helps = ExpCapped(evidence[i].most_helps());
    verdict.e_hurts = ExpCapped(evidence[i].most_hurts());
    AddCeilingAndFloor(data, i, complete[i], verdict);
    AddLift(complete[i], evidence[i], alpha_of_sequence, verdict);
    AddCosts(complete[i], verdict);
    verdict.word = WordOf(evidence[i], helps[i], hurts[i], plan);
    if (!IsSettled(verdict)) verdict.more_rounds = ForecastRounds(evidence[i], options, thresholds);
  }
  return verdicts;
}

bool IsSettled(const StudentVerdict& verdict) { return verdict.word != Verdict::kUndecided || verdict.answers_repeat; }

VerdictWatch::VerdictWatch(const RunData& data) : data_(&data), evidence_(data.plan().students.size()) {}

bool VerdictWatch::IsSettledAfter(int rounds, std::size_t student) {
  const Plan& plan = data_->plan();
  const std::vector<CompleteRounds> complete = FindCompleteRounds(*data_, ComparedArm(plan), rounds);
  if (complete[student].rounds.empty()) return false;
  if (complete[student].answers_repeat) return true;
  for (std::size_t i = 0; i < evidence_.size(); ++i) evidence_[i].Update(complete[i], plan.verdict.min_lift);
  const auto [helps, hurts] = Reject(evidence_, plan.verdict.alpha);
  return WordOf(evidence_[student], helps[student], hurts[student], plan) != Verdict::kUndecided;
}

}  // namespace upskill
