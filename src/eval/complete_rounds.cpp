// SPDX-License-Identifier: Apache-2.0
#include "eval/complete_rounds.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "eval/summary.h"

namespace upskill {
namespace {

struct CaseTally {
  std::size_t answered = 0;
  std::size_t passed = 0;
};

// The last words on one student's cells.
struct StudentCells {
  std::size_t cases = 0;
  std::vector<AnswerPair> pairs;   // round by round, case by case
  std::vector<CaseTally> tallies;  // by case, over all arms

  std::size_t rounds() const { return pairs.size() / cases; }
  const AnswerPair& at(std::size_t round, std::size_t case_index) const { return pairs[round * cases + case_index]; }
  bool failed(std::size_t round, std::size_t case_index) const {
    const AnswerPair& pair = at(round, case_index);
    return !pair.without->ok() || !pair.with->ok();
  }
};

bool SameAnswer(const Sample& a, const Sample& b) {
  const auto same_call = [](const ToolCall& x, const ToolCall& y) {
    return x.name == y.name && x.raw_arguments == y.raw_arguments;
  };
  return a.response.text == b.response.text &&
         std::equal(a.response.tool_calls.begin(), a.response.tool_calls.end(), b.response.tool_calls.begin(),
                    b.response.tool_calls.end(), same_call);
}

std::vector<StudentCells> SortIntoCells(const Plan& plan, const std::vector<const Sample*>& words, Arm against) {
  const std::size_t cases = plan.suite.cases.size();
  std::unordered_map<std::string_view, std::size_t> students;
  std::unordered_map<std::string_view, std::size_t> case_indexes;
  for (const Student& student : plan.students) students.emplace(student.spec, students.size());
  for (const Case& test_case : plan.suite.cases) case_indexes.emplace(test_case.id, case_indexes.size());

  std::vector<std::vector<const Sample*>> of_student(plan.students.size());
  for (const Sample* word : words) {
    const auto student = students.find(word->student);
    if (student == students.end() || !case_indexes.contains(word->case_id)) continue;
    if (word->round >= 0 && word->round < plan.rounds && plan.has_arm(word->arm))
      of_student[student->second].push_back(word);
  }
  std::vector<StudentCells> all(plan.students.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    StudentCells& cells = all[i];
    cells.cases = cases;
    cells.tallies.resize(cases);
    // More rounds than that can't have been tried in full.
    const std::size_t rounds = std::min(static_cast<std::size_t>(plan.rounds), of_student[i].size() / (2 * cases));
    cells.pairs.resize(rounds * cases);
    for (const Sample* word : of_student[i]) {
      const std::size_t case_index = case_indexes.find(word->case_id)->second;
      const bool passed = word->passed();
      if (word->ok()) ++cells.tallies[case_index].answered;
      if (passed) ++cells.tallies[case_index].passed;
      if (static_cast<std::size_t>(word->round) >= rounds) continue;
      AnswerPair& pair = cells.pairs[static_cast<std::size_t>(word->round) * cases + case_index];
      if (word->arm == Arm::kSkill) {
        pair.with = word;
        pair.passed_with = passed;
      } else if (word->arm == against) {
        pair.without = word;
        pair.passed_without = passed;
      }
    }
    const auto untried = std::find_if(cells.pairs.begin(), cells.pairs.end(), [](const AnswerPair& pair) {
      return pair.without == nullptr || pair.with == nullptr;
    });
    cells.pairs.resize(static_cast<std::size_t>(untried - cells.pairs.begin()) / cases * cases);
  }
  return all;
}

// Which cases errors take out, and which rounds are outages.
struct Failures {
  std::vector<bool> cases;
  std::vector<bool> rounds;
};

Failures FindFailures(const StudentCells& cells) {
  Failures failures{std::vector<bool>(cells.cases, false), std::vector<bool>(cells.rounds(), false)};
  std::vector<bool> always(cells.cases, true);  // never answered in both arms
  for (std::size_t round = 0; round < cells.rounds(); ++round) {
    for (std::size_t i = 0; i < cells.cases; ++i) {
      if (!cells.failed(round, i)) always[i] = false;
    }
  }
  const auto working = static_cast<std::size_t>(std::count(always.begin(), always.end(), false));
  for (std::size_t round = 0; round < cells.rounds(); ++round) {
    std::size_t failed = 0;
    for (std::size_t i = 0; i < cells.cases; ++i) {
      if (!always[i] && cells.failed(round, i)) ++failed;
    }
    failures.rounds[round] = 2 * failed > working;
    if (failures.rounds[round]) continue;
    for (std::size_t i = 0; i < cells.cases; ++i) {
      if (cells.failed(round, i)) failures.cases[i] = true;
    }
  }
  return failures;
}

bool AllRoundsEqual(const std::vector<std::vector<AnswerPair>>& rounds) {
  for (std::size_t round = 1; round < rounds.size(); ++round) {
    for (std::size_t i = 0; i < rounds[round].size(); ++i) {
      if (!SameAnswer(*rounds[round][i].without, *rounds[0][i].without)) return false;
      if (!SameAnswer(*rounds[round][i].with, *rounds[0][i].with)) return false;
    }
  }
  return true;
}

CompleteRounds Select(const StudentCells& cells, bool temperature_is_zero) {
  CompleteRounds whole;
  if (cells.rounds() == 0) return whole;
  const Failures failures = FindFailures(cells);
  for (std::size_t i = 0; i < cells.cases; ++i) (failures.cases[i] ? whole.excluded : whole.cases).push_back(i);
  for (const std::size_t i : whole.cases) {
    const CaseTally& tally = cells.tallies[i];
    if (tally.answered == 0) continue;
    if (tally.passed == tally.answered) whole.always_passed.push_back(i);
    if (tally.passed == 0) whole.never_passed.push_back(i);
  }
  for (std::size_t round = 0; round < cells.rounds() && !whole.cases.empty(); ++round) {
    if (failures.rounds[round]) continue;
    std::vector<AnswerPair>& pairs = whole.rounds.emplace_back();
    for (const std::size_t i : whole.cases) pairs.push_back(cells.at(round, i));
  }
  if (whole.rounds.size() == 1) whole.answers_repeat = temperature_is_zero;
  if (whole.rounds.size() > 1) whole.answers_repeat = AllRoundsEqual(whole.rounds);
  return whole;
}

}  // namespace

std::vector<PairCounts> CompleteRounds::CountsByCase(std::size_t count) const {
  std::vector<PairCounts> counts(cases.size());
  for (std::size_t round = 0; round < std::min(count, rounds.size()); ++round) {
    for (std::size_t i = 0; i < cases.size(); ++i)
      counts[i].Add(rounds[round][i].passed_without, rounds[round][i].passed_with);
  }
  return counts;
}

std::vector<CompleteRounds> FindCompleteRounds(const Plan& plan, const std::vector<Sample>& samples, Arm against) {
  std::vector<CompleteRounds> all(plan.students.size());
  if (plan.suite.cases.empty() || plan.rounds < 1) return all;
  if (against == Arm::kSkill || !plan.has_arm(Arm::kSkill) || !plan.has_arm(against)) return all;
  const std::vector<StudentCells> cells = SortIntoCells(plan, FinalSamples(samples), against);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = Select(cells[i], plan.sampling.temperature == 0.0);
  return all;
}

}  // namespace upskill
