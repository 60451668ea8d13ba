// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/choice_answers.h"

#include <algorithm>
#include <array>

#include "eval/plan/cell.h"
#include "eval/verdict/verdict.h"
#include "skill/check_reader.h"
#include "util/json.h"

namespace upskill {
namespace {

Json FilesOf(const std::vector<std::pair<std::string, std::string>>& named) {
  Json files = Json::array();
  for (const auto& [name, content] : named) files.push_back({name, content});
  return files;
}

// All that decides whether an answer to the case passes, whatever kinds of checks there are.
std::string QuestionOf(const Case& test_case) {
  constexpr std::array kCheckKeys = {"expected",         "verifiers",  "checks",      "validator",
                                     "validator_config", "assertions", "expectations"};
  Json checks = Json::array();
  for (const CheckSpec& check : test_case.checks) checks.push_back(CheckIdentity(check));
  Json raw = Json::object();
  for (const char* key : kCheckKeys) {
    if (test_case.raw.is_object() && test_case.raw.contains(key)) raw[key] = test_case.raw.at(key);
  }
  Json gap;
  if (const auto& fill = test_case.fill)
    gap = Json::array({fill->file, fill->gap, fill->pattern, FilesOf(fill->files)});
  return DumpJson(
      Json::array({test_case.id, test_case.input, FilesOf(test_case.files), test_case.output_file, gap, checks, raw}));
}

ChoiceAnswer AnswerOf(const FinalSample& final_sample) {
  ChoiceAnswer answer;
  if (final_sample.figures == nullptr) return answer;
  answer.state = final_sample.answered ? ChoiceAnswer::State::kAnswered : ChoiceAnswer::State::kFailed;
  if (!final_sample.answered) return answer;
  const SampleFigures& figures = *final_sample.figures;
  answer.passed = final_sample.passed;
  answer.text = figures.is_empty ? 0 : figures.text;
  if (figures.reports_tokens()) {
    answer.output_tokens = static_cast<double>(figures.output_tokens);
    answer.tokens = static_cast<double>(figures.prompt_tokens + figures.output_tokens);
  }
  answer.seconds = figures.seconds;
  answer.cost_usd = figures.cost_usd;
  return answer;
}

// The rounds, from the first, in which each cell has its final sample.
int RoundsTried(const ChoiceAnswers& answers) {
  const auto is_open = [](const std::vector<ChoiceAnswer>& row) {
    return std::any_of(row.begin(), row.end(),
                       [](const ChoiceAnswer& one) { return one.state == ChoiceAnswer::State::kOpen; });
  };
  const auto first_open = std::find_if(answers.rounds.begin(), answers.rounds.end(), is_open);
  return static_cast<int>(first_open - answers.rounds.begin());
}

// Marks the cells that lost an answer.
void MarkLost(const RunData& data, std::size_t student, ChoiceAnswers& answers) {
  if (!data.has_lost_answers()) return;
  const RunData passed = data.AssumeLost(true);
  const RunData failed = data.AssumeLost(false);
  for (std::size_t round = 0; round < answers.rounds.size(); ++round) {
    for (std::size_t i = 0; i < answers.cases.size(); ++i) {
      const auto number = static_cast<int>(round);
      answers.rounds[round][i].lost =
          passed.at(student, answers.arm, i, number).passed != failed.at(student, answers.arm, i, number).passed;
    }
  }
}

}  // namespace

const char* ArmPhrase(Arm arm) {
  switch (arm) {
    case Arm::kBaseline:
      return "without the skill";
    case Arm::kSkill:
      return "with the skill";
    case Arm::kPlacebo:
      return "with the placebo";
    case Arm::kPrevious:
      return "with the previous version";
  }
  return "";
}

std::string ChoiceAnswers::label() const { return name + ' ' + ArmPhrase(arm); }

std::optional<double> ChoiceAnswers::rate() const {
  double answered = 0.0;
  double passed = 0.0;
  for (const std::vector<ChoiceAnswer>& round : rounds) {
    for (const ChoiceAnswer& answer : round) {
      answered += answer.state == ChoiceAnswer::State::kAnswered ? 1.0 : 0.0;
      passed += answer.passed ? 1.0 : 0.0;
    }
  }
  if (answered <= 0.0) return std::nullopt;
  return passed / answered;
}

std::size_t CountCopied(const ChoiceAnswers& answers) {
  const std::vector<std::vector<ChoiceAnswer>>& rounds = answers.rounds;
  if (rounds.empty() || (rounds.size() == 1 && !answers.greedy)) return 0;
  std::size_t copied = 0;
  for (std::size_t i = 0; i < answers.cases.size(); ++i) {
    const ChoiceAnswer& first = rounds.front()[i];
    const bool same = std::all_of(rounds.begin(), rounds.end(), [&](const std::vector<ChoiceAnswer>& row) {
      return row[i].state == first.state && row[i].text == first.text;
    });
    if (same && (answers.greedy || first.text != 0)) ++copied;
  }
  return copied;
}

ChoiceAnswers AnswersOf(const RunData& data, std::size_t student, Arm arm) {
  const Plan& plan = data.plan();
  ChoiceAnswers answers;
  answers.model = plan.students[student].spec;
  answers.name = plan.students[student].name;
  answers.arm = arm;
  answers.run = plan.run;
  answers.skill = plan.skill.name;
  answers.system_prompt = plan.system_prompt;
  answers.max_tokens = plan.sampling.max_tokens;
  answers.temperature = plan.sampling.temperature;
  answers.greedy = plan.sampling.temperature == 0.0;
  for (const Case& test_case : plan.suite.cases) {
    answers.cases.push_back(test_case.id);
    answers.questions.push_back(QuestionOf(test_case));
    answers.requests.push_back(DumpJson(Json::array({test_case.input, FilesOf(test_case.files)})));
  }
  for (int round = 0; round < data.rounds(student); ++round) {
    std::vector<ChoiceAnswer>& row = answers.rounds.emplace_back();
    row.reserve(plan.suite.cases.size());
    for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) row.push_back(AnswerOf(data.at(student, arm, i, round)));
  }
  answers.any_look = RoundsMayDependOnAnswers(plan, RoundsTried(answers));
  if (!answers.greedy && IsSimulated(plan.students[student])) {
    for (std::vector<ChoiceAnswer>& row : answers.rounds) {
      for (ChoiceAnswer& answer : row) answer.text = 0;
    }
  }
  MarkLost(data, student, answers);
  return answers;
}

std::vector<ChoiceAnswers> ChoicesOf(const RunData& data) {
  std::vector<ChoiceAnswers> all;
  all.reserve(data.plan().students.size() * data.plan().arms.size());
  for (std::size_t student = 0; student < data.plan().students.size(); ++student) {
    for (const Arm arm : data.plan().arms) all.push_back(AnswersOf(data, student, arm));
  }
  return all;
}

}  // namespace upskill
