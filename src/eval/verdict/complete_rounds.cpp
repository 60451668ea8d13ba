// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/complete_rounds.h"

#include <algorithm>
#include <utility>

#include "eval/plan/cell.h"
#include "eval/verdict/input_clusters.h"
#include "eval/verdict/source_clusters.h"

namespace upskill {
int CompleteRounds::RoundsTriedInFull(int limit) const {
  const std::size_t all = data_->plan().suite.cases.size();
  const int last = std::min(limit, data_->rounds(student_));
  for (int round = 0; round < last; ++round) {
    for (std::size_t i = 0; i < all; ++i) {
      const AnswerPair pair = PairAt(round, i);
      if (pair.without.figures == nullptr || pair.with.figures == nullptr) return round;
    }
  }
  return std::max(last, 0);
}

// Finds the cases that errors exclude, and the rounds that are outages.
void CompleteRounds::Select() {
  const std::size_t all = data_->plan().suite.cases.size();
  std::vector<std::size_t> failures(static_cast<std::size_t>(tried), 0);  // by round
  std::vector<int> answered(all, 0);                                      // by case: rounds with both answers
  for (int round = 0; round < tried; ++round) {
    for (std::size_t i = 0; i < all; ++i) {
      if (Failed(round, i)) {
        ++failures[static_cast<std::size_t>(round)];
      } else {
        ++answered[i];
      }
    }
  }
  // Cases that never work fail in every round; that makes no round an outage.
  const auto broken = static_cast<std::size_t>(std::count(answered.begin(), answered.end(), 0));
  std::vector<bool> taken_out(all, false);
  for (int round = 0; round < tried; ++round) {
    const std::size_t failed = failures[static_cast<std::size_t>(round)];
    if (2 * (failed - broken) > all - broken) continue;
    rounds.push_back(round);
    if (failed == 0) continue;
    for (std::size_t i = 0; i < all; ++i) {
      if (Failed(round, i)) taken_out[i] = true;
    }
  }
  for (std::size_t i = 0; i < all; ++i) (taken_out[i] ? excluded : cases).push_back(i);
  if (cases.empty()) rounds.clear();
}

bool CompleteRounds::IsCopied(std::size_t entry) const {
  const AnswerPair first = pair(0, entry);
  for (std::size_t round = 1; round < rounds.size(); ++round) {
    const AnswerPair later = pair(round, entry);
    if (later.without.figures->text != first.without.figures->text) return false;
    if (later.with.figures->text != first.with.figures->text) return false;
  }
  return true;
}

// Above temperature 0, answers without a text (of an imported run) aren't known to be equal, and those of a simulated
// student are equal by chance.
void CompleteRounds::FindCopies() {
  if (rounds.empty()) return;
  const Plan& plan = data_->plan();
  const bool greedy = plan.sampling.temperature == 0.0;
  if (!greedy && (rounds.size() < 2 || IsSimulated(plan.students[student_]))) return;
  std::vector<bool> found(cases.size(), false);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const AnswerPair first = pair(0, i);
    found[i] = (greedy || !(first.without.figures->is_empty && first.with.figures->is_empty)) && IsCopied(i);
  }
  const auto copies = static_cast<std::size_t>(std::count(found.begin(), found.end(), true));
  answers_repeat = copies == cases.size();
  if (MayBeCopies(copies, cases.size())) copied = std::move(found);
}

std::vector<int> CompleteRounds::SumsOfRound(std::size_t round) const { return SumsWithout(round, 0); }

std::vector<int> CompleteRounds::EvidenceOfRound(std::size_t round, bool positive) const {
  return SumsWithout(round, positive ? 1 : -1);
}

std::vector<int> CompleteRounds::SumsWithout(std::size_t round, int repeated) const {
  std::vector<int> sums(unit_sizes.size(), 0);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const AnswerPair entry = pair(round, i);
    const int change = (entry.with.passed ? 1 : 0) - (entry.without.passed ? 1 : 0);
    const bool again = round > 0 && !copied.empty() && copied[i] && change == repeated;
    if (!again) sums[units[i]] += change;
  }
  return sums;
}

std::vector<CompleteRounds> FindCompleteRounds(const RunData& data, Arm against, int rounds) {
  const Plan& plan = data.plan();
  const bool comparable = against != Arm::kSkill && plan.has_arm(Arm::kSkill) && plan.has_arm(against);
  std::vector<CompleteRounds> all;
  for (std::size_t i = 0; i < plan.students.size(); ++i) {
    CompleteRounds& found = all.emplace_back(CompleteRounds(data, i, against));
    if (!comparable || plan.suite.cases.empty()) continue;
    found.tried = found.RoundsTriedInFull(rounds);
    if (found.tried == 0) continue;
    found.Select();
    found.FindCopies();
    found.units = InputClusters(plan.suite, found.cases);
    const std::vector<std::size_t> sources = SourceClusters(plan.suite, found.cases);
    for (std::size_t entry = 0; entry < found.units.size(); ++entry) {
      const std::size_t unit = found.units[entry];
      if (unit == found.unit_sizes.size()) {
        found.unit_sizes.push_back(0);
        found.unit_sources.push_back(sources[entry]);
      }
      ++found.unit_sizes[unit];
    }
  }
  return all;
}

}  // namespace upskill
