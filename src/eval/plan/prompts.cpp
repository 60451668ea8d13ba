// SPDX-License-Identifier: Apache-2.0
#include "eval/plan/prompts.h"

#include <fmt/format.h>

#include "prompts/prompts.h"
#include "util/fences.h"

namespace upskill {
namespace {

std::string WithSkill(const std::string& system_prompt, const std::string& name, const std::string& body) {
  return fmt::format("{}\n\n<skill name=\"{}\">\n{}\n</skill>", system_prompt, name, body);
}

}  // namespace

std::string BuiltInSystemPrompt() { return BuiltInPrompts().Render("student"); }

std::string SystemPrompt(const Plan& plan, Arm arm) {
  switch (arm) {
    case Arm::kBaseline:
      break;
    case Arm::kSkill:
      return WithSkill(plan.system_prompt, plan.skill.name, plan.skill.body);
    case Arm::kPlacebo:
      return WithSkill(plan.system_prompt, plan.skill.name, plan.placebo);
    case Arm::kPrevious:
      return WithSkill(plan.system_prompt, plan.previous.name, plan.previous.body);
  }
  return plan.system_prompt;
}

std::string UserMessage(const Case& test_case) {
  std::string message = test_case.input;
  for (const auto& [name, content] : test_case.files) {
    const std::string fence = FenceFor(content);
    message += fmt::format("\n\n{}{}\n{}\n{}", fence, name, content, fence);
  }
  return message;
}

std::string PassingAnswer(const Case& test_case) {
  if (!test_case.reference.empty()) return test_case.reference;
  std::string answer;
  for (const CheckSpec& check : test_case.checks) {
    if (check.type == "not_contains") continue;
    const bool literal = check.type == "contains" || check.type == "any_of" || check.type == "in_order";
    if (!check.file.empty() || check.values.empty() || (!literal && check.type != "equals")) return "";
    if (check.type == "equals") return check.values.front();
    if (check.type == "any_of") {
      answer += check.values.front() + "\n";
    } else {
      for (const std::string& value : check.values) answer += value + "\n";
    }
  }
  return answer;
}

}  // namespace upskill
