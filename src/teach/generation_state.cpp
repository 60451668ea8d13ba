// SPDX-License-Identifier: Apache-2.0
#include "teach/generation_state.h"

#include <fmt/format.h>

#include <utility>

#include "util/text.h"

namespace upskill {
namespace {

double SpentByTeachers(const GenerateInput& input) {
  double spent = input.teacher->cost_usd();
  if (input.test_teacher != input.teacher) spent += input.test_teacher->cost_usd();
  return spent;
}

}  // namespace

GenerationState::GenerationState(const GenerateInput& from)
    : input(from),
      options(from.options),
      material(*from.material),
      trials(from.trials),
      budget(from.options.max_cost_usd, from.spent_usd + SpentByTeachers(from)) {
  if (options.evaluate) out.students = trials.students;
}

void GenerationState::Say(std::string_view stage, const std::string& line) const {
  if (input.say) input.say(fmt::format("{:<8} {}", stage, line));
}

bool GenerationState::measures() const { return options.evaluate && !trials.models.empty() && !out.cases.empty(); }

std::string GenerationState::StudentsText() const {
  std::string text;
  for (const Model* model : trials.models) text += (text.empty() ? "" : ", ") + model->info().name;
  if (text.empty()) return text;
  return text + fmt::format("; an answer has at most {}",
                            Counted(static_cast<std::size_t>(trials.sampling.max_tokens), "token"));
}

std::size_t GenerationState::AddCandidate(const std::string& kind, int parent, const std::string& why, SkillText skill,
                                          std::vector<Rule> rules) {
  Candidate candidate;
  candidate.id = static_cast<int>(out.candidates.size());
  candidate.parent = parent;
  candidate.kind = kind;
  candidate.why = why;
  candidate.tokens = options.target.count(skill.body);
  candidate.skill = std::move(skill);
  candidate.rules = std::move(rules);
  candidate.status = "not measured";
  out.candidates.push_back(std::move(candidate));
  return out.candidates.size() - 1;
}

Result<Trial> GenerationState::Try(const SkillText& skill, TrialSpec spec) {
  spec.skill = &skill;
  return Try(std::move(spec));
}

Result<Trial> GenerationState::Try(TrialSpec spec) {
  spec.system_prompt = options.prompts->Render("student");
  spec.budget = &budget.trials();
  return RunTrial(trials, spec);
}

std::string GenerationState::DropStudent(std::size_t index) {
  const auto at = static_cast<std::ptrdiff_t>(index);
  std::string name = trials.students.at(index).name;
  trials.models.erase(trials.models.begin() + at);
  trials.students.erase(trials.students.begin() + at);
  out.students = trials.students;
  return name;
}

}  // namespace upskill
