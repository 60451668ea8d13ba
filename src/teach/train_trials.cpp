// SPDX-License-Identifier: Apache-2.0
#include "teach/train_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "teach/one_line.h"
#include "teach/stage_lines.h"
#include "teach/trial_answers.h"
#include "teach/write_cases.h"
#include "util/text.h"

namespace upskill {

Status TrainTrials::Measure(std::size_t index) {
  TrialSpec spec;
  spec.stage = "train";
  spec.suite = SuiteOf(state_.out.cases, state_.train);
  spec.rounds = state_.options.train_rounds;
  spec.baseline = trials_.empty();
  ASSIGN_OR_RETURN(Trial trial, state_.Try(state_.out.candidates[index].skill, std::move(spec)));
  state_.out.student_calls += trial.asked;
  Candidate& candidate = state_.out.candidates[index];
  candidate.train = PassRates(trial);
  candidate.measured = true;
  candidate.run = trial.run;
  candidate.status = "measured";
  if (trials_.empty()) {
    first_ = index;
    without_ = PassRates(trial, Arm::kBaseline);
  }
  trials_[index] = std::move(trial);
  if (candidate.kind == "shorter")
    candidate.lost = AnswersLost(trials_.at(static_cast<std::size_t>(candidate.parent)), trials_.at(index));
  if (candidate.parent >= 0) CompareByCase(candidate, trials_.at(index), state_.train, true);
  std::vector<std::string> students;
  students.reserve(state_.trials.students.size());
  for (const Student& student : state_.trials.students) students.push_back(student.name);
  state_.Say("train", TrainLine(candidate, students, without_, BestOnTrain(state_.out.candidates) == index,
                                state_.options.target) +
                          state_.budget.Text());
  return {};
}

void TrainTrials::CompareByCase(Candidate& candidate, const Trial& trial, const std::vector<std::size_t>& cases,
                                bool whole) const {
  const auto parent = trials_.find(static_cast<std::size_t>(candidate.parent));
  if (parent == trials_.end()) return;
  candidate.gained_on.clear();
  candidate.lost_on.clear();
  std::map<std::string, std::size_t> before = PassesByCase(parent->second);
  std::map<std::string, std::size_t> after = PassesByCase(trial);
  for (const std::size_t i : cases) {
    const Case& one = state_.out.cases[i];
    if (whole ? before[one.id] == after[one.id] : (before[one.id] == 0) == (after[one.id] == 0)) continue;
    std::vector<std::string>& changed = before[one.id] < after[one.id] ? candidate.gained_on : candidate.lost_on;
    changed.push_back(fmt::format("{} ({} → {})", CutToColumns(OneLine(one.input), 80), before[one.id], after[one.id]));
  }
}

std::vector<std::size_t> TrainTrials::CasesBy(std::size_t index, bool passing) const {
  const std::set<std::string> failing = FailedCases(trials_.at(index));
  std::vector<std::size_t> found;
  for (const std::size_t i : state_.train) {
    if (failing.contains(state_.out.cases[i].id) != passing) found.push_back(i);
  }
  return found;
}

Result<Screening> TrainTrials::Screen(std::size_t index, std::size_t best, const std::vector<std::size_t>& cases) {
  std::set<std::string> ids;
  for (const std::size_t i : cases) ids.insert(state_.out.cases[i].id);
  const int all = state_.options.train_rounds;
  Screening screening{0, AnswersPassed(trials_.at(best), ids), 0, all};
  while (screening.rounds < all && !FallsBehind(screening)) {
    screening.rounds = screening.rounds == 0 ? 1 : all;
    TrialSpec spec;
    spec.stage = "screen";
    spec.suite = SuiteOf(state_.out.cases, cases);
    spec.rounds = screening.rounds;
    spec.baseline = false;
    ASSIGN_OR_RETURN(const Trial trial, state_.Try(state_.out.candidates[index].skill, std::move(spec)));
    state_.out.student_calls += trial.asked;
    screening.passed = AnswersPassed(trial, ids);
    CompareByCase(state_.out.candidates[index], trial, cases, screening.rounds == all);
  }
  return screening;
}

void TrainTrials::ScreenOut(std::size_t index, const Screening& screening, std::string_view stage) {
  Candidate& candidate = state_.out.candidates[index];
  candidate.status = ScreenedOutStatus(candidate, screening);
  state_.Say(stage, ScreenedOutLine(candidate));
}

std::vector<std::size_t> TrainTrials::PassedNothing() const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < without_.size(); ++i) {
    const bool passed = without_[i] > kSameRate ||
                        std::any_of(state_.out.candidates.begin(), state_.out.candidates.end(),
                                    [&](const Candidate& one) { return one.measured && one.train[i] > kSameRate; });
    if (!passed) found.push_back(i);
  }
  return found;
}

std::size_t TrainTrials::AnswersOfEach() const {
  return state_.train.size() * static_cast<std::size_t>(state_.options.train_rounds) * (trials_.size() + 1);
}

void TrainTrials::CountInFull() {
  state_.out.full_student_calls +=
      2 * state_.train.size() * static_cast<std::size_t>(state_.options.train_rounds) * state_.trials.students.size();
}

}  // namespace upskill
