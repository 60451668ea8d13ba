// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/case_findings.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "eval/verdict/complete_rounds.h"
#include "eval/verdict/source_clusters.h"
#include "eval/verdict/verdict.h"
#include "stats/clusters.h"
#include "stats/drift.h"
#include "stats/e_process.h"
#include "stats/interval.h"
#include "stats/unit_counts.h"

namespace upskill {
namespace {

constexpr double kDriftLevel = 0.01;  // a caveat that is wrong in one of a hundred runs
constexpr double kAlpha = 0.05;       // of the intervals

// The rounds of one student that its verdict rests on, by entry of complete.cases.
struct CountedCases {
  const CompleteRounds& complete;
  const Suite& suite;
  bool any_look;  // RoundsMayDependOnAnswers
  std::size_t rounds;
  std::vector<std::size_t> clusters;

  CountedCases(const CompleteRounds& found, const Plan& plan)
      : complete(found),
        suite(plan.suite),
        any_look(RoundsMayDependOnAnswers(plan, found.tried)),
        rounds(found.evidence_rounds()),
        clusters(SourceClusters(plan.suite, found.cases)) {}

  const Case& at(std::size_t entry) const { return suite.cases[complete.cases[entry]]; }

  // Wins − losses of these cases.
  int SumOf(const std::vector<std::size_t>& entries, std::size_t round) const {
    int sum = 0;
    for (const std::size_t entry : entries) {
      const AnswerPair pair = complete.pair(round, entry);
      sum += (pair.with.passed ? 1 : 0) - (pair.without.passed ? 1 : 0);
    }
    return sum;
  }

  // All rounds of the cases with one input.
  UnitRounds RoundsOf(const std::vector<std::size_t>& entries) const {
    UnitRounds unit;
    unit.rounds = static_cast<double>(rounds);
    for (std::size_t round = 0; round < rounds; ++round) {
      const double change = SumOf(entries, round) / static_cast<double>(entries.size());
      unit.sum += change;
      unit.squares += change * change;
    }
    return unit;
  }

  // The confidence sequence after all rounds; `units`: the cases of each input.
  Interval SequenceOf(const std::vector<std::vector<std::size_t>>& units) const {
    LiftSequence sequence(kAlpha);
    UnitCounts totals;
    for (std::size_t round = 0; round < rounds; ++round) {
      for (const std::vector<std::size_t>& entries : units)
        totals.Add(static_cast<int>(entries.size()), SumOf(entries, round));
      sequence.Add(totals);
    }
    return sequence.RangeWith(totals);
  }

  template <typename Belongs>
  GroupLift LiftOf(Belongs belongs) const {
    std::vector<std::size_t> entries;
    for (std::size_t i = 0; i < complete.cases.size(); ++i) {
      if (belongs(at(i))) entries.push_back(i);
    }
    return LiftOfEntries(entries);
  }

  // `members`: in order.
  GroupLift LiftOfEntries(const std::vector<std::size_t>& members) const {
    std::map<std::size_t, std::size_t> list_of_unit;
    std::vector<std::vector<std::size_t>> lists;
    GroupLift result;
    for (const std::size_t i : members) {
      if (rounds == 0) break;
      const auto [list, is_new] = list_of_unit.try_emplace(complete.units[i], lists.size());
      if (is_new) lists.emplace_back();
      lists[list->second].push_back(i);
      ++result.cases;
    }
    if (result.cases == 0) return result;
    std::vector<UnitRounds> units;
    std::vector<double> lifts;
    std::vector<std::size_t> sources;
    for (const std::vector<std::size_t>& entries : lists) {
      units.push_back(RoundsOf(entries));
      lifts.push_back(units.back().sum / units.back().rounds);
      sources.push_back(clusters[entries.front()]);
    }
    result.lift = std::accumulate(lifts.begin(), lifts.end(), 0.0) / static_cast<double>(lifts.size());
    result.interval_is_sequence = any_look;
    result.interval = any_look ? SequenceOf(lists) : LiftIntervalOfUnits(units);
    result.new_cases = NewCasesInterval(ClusterMeans(lifts, sources));
    return result;
  }
};

// Mostly: in more than half of the rounds.
void AddTurned(const CountedCases& counted, CaseFindings& findings) {
  for (std::size_t i = 0; i < counted.complete.cases.size(); ++i) {
    std::size_t without = 0;
    std::size_t with = 0;
    for (std::size_t round = 0; round < counted.rounds; ++round) {
      const AnswerPair pair = counted.complete.pair(round, i);
      without += pair.without.passed ? 1 : 0;
      with += pair.with.passed ? 1 : 0;
    }
    const bool passed = 2 * without > counted.rounds;
    const bool failed = 2 * without < counted.rounds;
    if (failed && 2 * with > counted.rounds) findings.fixed.push_back(counted.at(i).id);
    if (passed && 2 * with < counted.rounds) findings.broken.push_back(counted.at(i).id);
  }
}

void AddTags(const CountedCases& counted, CaseFindings& findings) {
  std::unordered_map<std::string_view, std::size_t> known;
  for (const Case& test_case : counted.suite.cases) {
    for (const std::string& tag : test_case.tags) {
      if (known.try_emplace(tag, findings.tags.size()).second) findings.tags.push_back({tag, {}});
    }
  }
  std::vector<std::vector<std::size_t>> entries(findings.tags.size());
  for (std::size_t i = 0; i < counted.complete.cases.size(); ++i) {
    for (const std::string& tag : counted.at(i).tags) {
      std::vector<std::size_t>& of_tag = entries[known.at(tag)];
      if (of_tag.empty() || of_tag.back() != i) of_tag.push_back(i);
    }
  }
  for (std::size_t tag = 0; tag < entries.size(); ++tag) findings.tags[tag].group = counted.LiftOfEntries(entries[tag]);
}

void AddGrounds(const CountedCases& counted, CaseFindings& findings) {
  const std::vector<Case>& cases = counted.suite.cases;
  for (const std::string_view kind : kCaseCheckKinds) {
    const auto has_kind = [kind](const Case& one) { return CheckKindOf(one) == kind; };
    const bool any = std::any_of(cases.begin(), cases.end(), has_kind);
    if (any && std::all_of(cases.begin(), cases.end(), has_kind)) return;
    if (any) findings.grounds.push_back({std::string(kind), counted.LiftOf(has_kind)});
  }
}

void AddTrainCases(const CountedCases& counted, CaseFindings& findings) {
  const std::vector<Case>& cases = counted.suite.cases;
  findings.train_cases = static_cast<std::size_t>(
      std::count_if(cases.begin(), cases.end(), [](const Case& one) { return one.split == Split::kTrain; }));
  if (findings.train_cases == 0) return;
  findings.others = counted.LiftOf([](const Case& one) { return one.split != Split::kTrain; });
}

std::optional<Drift> FindDrift(const CountedCases& counted, Arm against) {
  if (counted.rounds < 2) return std::nullopt;
  const std::size_t cases = counted.complete.cases.size();
  std::vector<CaseSeries> without(cases, CaseSeries(counted.rounds));
  std::vector<CaseSeries> with = without;
  for (std::size_t i = 0; i < cases; ++i) {
    for (std::size_t round = 0; round < counted.rounds; ++round) {
      const AnswerPair pair = counted.complete.pair(round, i);
      without[i][round] = pair.without.passed;
      with[i][round] = pair.with.passed;
    }
  }
  Drift drift;
  drift.by_arm = {{against, DriftTest(without)}, {Arm::kSkill, DriftTest(with)}};
  for (const auto& [arm, p] : drift.by_arm) drift.p = std::min(drift.p, p * static_cast<double>(drift.by_arm.size()));
  return drift;
}

// Cases with fewer answers than others (because of errors) are left out, so that k can be as large as possible.
std::vector<PassOfK> FindPassOfK(const RunData& data, std::size_t student, Arm arm) {
  std::vector<CaseAnswers> all;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < data.plan().suite.cases.size(); ++i) {
    CaseAnswers& one = all.emplace_back();
    for (int round = 0; round < data.rounds(student); ++round) {
      const FinalSample cell = data.at(student, arm, i, round);
      one.answered += cell.answered ? 1 : 0;
      one.passed += cell.passed ? 1 : 0;
    }
    most = std::max(most, one.answered);
  }
  std::erase_if(all, [&](const CaseAnswers& one) { return one.answered < most; });
  std::vector<PassOfK> found;
  for (const std::int64_t k : KsUpTo(most)) {
    const std::optional<CaseMean> any = MeanPassAtK(all, k);
    const std::optional<CaseMean> each = MeanPassAllK(all, k);
    if (any && each) found.push_back({k, *any, *each});
  }
  return found;
}

}  // namespace

bool Drift::is_significant() const { return p <= kDriftLevel; }

std::vector<std::int64_t> KsUpTo(std::int64_t n) {
  constexpr std::array<std::int64_t, 8> kSteps = {1, 2, 3, 5, 10, 20, 50, 100};
  std::vector<std::int64_t> ks;
  for (const std::int64_t k : kSteps) {
    if (k <= n) ks.push_back(k);
  }
  if (n > 0 && ks.back() != n) ks.push_back(n);
  return ks;
}

std::vector<CaseFindings> FindCaseFindings(const RunData& data, Arm against) {
  const Plan& plan = data.plan();
  const std::vector<CompleteRounds> complete = FindCompleteRounds(data, against);
  std::vector<CaseFindings> all(plan.students.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const CountedCases counted(complete[i], plan);
    AddTurned(counted, all[i]);
    AddTags(counted, all[i]);
    AddGrounds(counted, all[i]);
    AddTrainCases(counted, all[i]);
    all[i].drift = FindDrift(counted, against);
    for (const Arm arm : plan.arms) all[i].pass_of_k[arm] = FindPassOfK(data, i, arm);
  }
  return all;
}

}  // namespace upskill
