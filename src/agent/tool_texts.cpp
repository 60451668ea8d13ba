// SPDX-License-Identifier: Apache-2.0
#include "agent/tool_texts.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <utility>

#include "prompts/prompts.h"
#include "util/invariant.h"
#include "util/text.h"

namespace upskill {
namespace {

struct Parameter {
  std::string name;
  std::string type;
  bool optional = false;
  std::string meaning;
};

bool ReadParameter(std::string_view line, Parameter& parameter) {
  static const RE2 form(R"(- ([a-z_]+) \((string|integer|number|boolean)(, optional)?\): (.+))");
  std::string optional;
  if (!RE2::FullMatch(line, form, &parameter.name, &parameter.type, &optional, &parameter.meaning)) return false;
  parameter.optional = !optional.empty();
  return true;
}

void AddParameter(const Parameter& parameter, Json& schema) {
  schema["properties"][parameter.name] = {{"type", parameter.type}, {"description", parameter.meaning}};
  if (!parameter.optional) schema["required"].push_back(parameter.name);
}

Json EmptySchema() { return {{"type", "object"}, {"properties", Json::object()}, {"required", Json::array()}}; }

std::vector<Tool> BuiltInTools(const std::string& prompt) {
  Result<std::vector<Tool>> tools = ParseTools(BuiltInPrompts().Text(prompt), prompt + ".md");
  CHECK(tools.ok());
  return *std::move(tools);
}

}  // namespace

Result<std::vector<Tool>> ParseTools(std::string_view text, const std::string& source) {
  static const RE2 heading(R"(# ([a-z_]{1,64}))");
  std::vector<Tool> tools;
  std::size_t number = 0;
  for (const std::string_view line : SplitLines(text)) {
    ++number;
    const auto wrong = [&](const std::string& what) {
      return InputError(fmt::format("{}:{}: {}", source, number, what));
    };
    std::string name;
    if (line.starts_with('#')) {
      if (!RE2::FullMatch(line, heading, &name))
        return wrong("the name of a tool consists of lowercase letters and underscores");
      tools.push_back({name, "", EmptySchema()});
      continue;
    }
    if (Trim(line).empty()) continue;
    if (tools.empty()) return wrong("a tool begins with a line `# NAME`");
    Tool& tool = tools.back();
    if (!line.starts_with("- ")) {
      tool.description += (tool.description.empty() ? "" : "\n") + std::string(Trim(line));
      continue;
    }
    Parameter parameter;
    if (!ReadParameter(line, parameter))
      return wrong("a parameter has the form `- NAME (TYPE): MEANING`, its type is string, integer, number or boolean");
    AddParameter(parameter, tool.schema);
  }
  for (const Tool& tool : tools) {
    if (tool.description.empty()) return InputError(fmt::format("{}: {} has no description", source, tool.name));
  }
  return tools;
}

std::vector<Tool> WorkspaceTools() { return BuiltInTools("workspace-tools"); }

std::vector<Tool> SkillTools() { return BuiltInTools("workspace-skill-tools"); }

}  // namespace upskill
