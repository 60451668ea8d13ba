// SPDX-License-Identifier: Apache-2.0
#include "report/export/plugin_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "eval/plan/prompts.h"
#include "report/export/benchmark_json.h"
#include "report/export/derived_file.h"
#include "skill/check_types.h"
#include "util/folder.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// Front matter, whose values are JSON, which is YAML.
std::string MarkdownWith(const Json& fields, std::string_view body) {
  std::string text = "---\n";
  for (const auto& [key, value] : fields.items()) text += fmt::format("{}: {}\n", key, DumpJson(value));
  return fmt::format("{}---\n\n{}\n", text, body);
}

// The value as a pattern of JavaScript.
std::string Literal(std::string_view value) {
  std::string pattern;
  for (const char c : value) {
    if (std::string_view(R"(\^$.|?*+()[]{}/)").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string Joined(const std::vector<std::string>& values, std::string_view between) {
  std::string pattern;
  for (const std::string& value : values) pattern += (pattern.empty() ? "" : std::string(between)) + Literal(value);
  return pattern;
}

Json Regex(std::string pattern, std::string flags, const char* match = "contains") {
  return {{"type", "regex"}, {"pattern", std::move(pattern)}, {"flags", std::move(flags)}, {"match", match}};
}

// A pattern of RE2, if JavaScript understands it in the same way.
std::optional<Json> RegexOf(std::string pattern, const char* match) {
  std::string flags;
  if (pattern.starts_with("(?") && pattern.find(')') != std::string::npos) {
    const std::string first = pattern.substr(2, pattern.find(')') - 2);
    if (!first.empty() && first.find_first_not_of("ims") == std::string::npos) {
      flags = first;
      pattern.erase(0, first.size() + 3);
    }
  }
  if (ContainsAny(pattern, {"(?P", "(?i", "(?m", "(?s", "(?U", "(?-", "[[:", R"(\A)", R"(\z)", R"(\Q)", R"(\C)",
                            R"(\p)", R"(\P)", R"(\a)", R"(\x{)"}))
    return std::nullopt;
  return Regex(std::move(pattern), std::move(flags), match);
}

// The graders that are this check together; none: it has no counterpart.
std::vector<Json> GradersOf(const CheckSpec& check, const CheckType& type) {
  std::vector<Json> graders;
  std::optional<Json> one;
  if (type.kind == CheckKind::kContains || type.kind == CheckKind::kNotContains) {
    const char* const match = type.kind == CheckKind::kContains ? "contains" : "not_contains";
    for (const std::string& value : check.values) graders.push_back(Regex(Literal(value), "i", match));
  } else if (type.kind == CheckKind::kAnyOf) {
    one = Regex(Joined(check.values, "|"), "i");
  } else if (type.kind == CheckKind::kInOrder) {
    one = Regex(Joined(check.values, R"([\s\S]*?)"), "i");
  } else if (type.kind == CheckKind::kEquals) {
    one = Regex(R"(^\s*)" + Literal(Trim(check.values.front())) + R"(\s*$)", "");
  } else if (type.kind == CheckKind::kRegex || type.kind == CheckKind::kNotRegex) {
    one = RegexOf(check.pattern, type.kind == CheckKind::kRegex ? "contains" : "not_contains");
  } else if (type.kind == CheckKind::kJudge && FindMember(check.options, "against") == nullptr) {
    one = Json{{"type", "llm"}, {"criteria", Member(check.options, "rubric")}};
  } else if (type.kind == CheckKind::kFileExists) {
    return {Json{{"type", "file_exists"}, {"path", check.file}}};
  }
  if (one) graders.push_back(*std::move(one));
  for (Json& grader : graders) {
    if (!check.file.empty())
      grader[type.asks_judge() ? "focus" : "target"] = {{"source", "file"}, {"path", check.file}};
  }
  return graders;
}

}  // namespace

Result<PluginCases> ExportPluginCases(const Plan& plan, const fs::path& dir) {
  std::error_code code;
  if (fs::exists(fs::symlink_status(dir, code)))
    return InputError(
        fmt::format("{} already exists and is left unchanged; name another folder with -o", dir.string()));
  ASSIGN_OR_RETURN(const Folder folder, Folder::Make(dir));
  PluginCases written{0, plan.left_out};
  for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
    const Case& test_case = plan.suite.cases[i];
    std::vector<Json> graders;
    for (CheckSpec check : test_case.checks) {
      if (check.file.empty()) check.file = test_case.output_file;
      const CheckType* const type = FindCheckType(check.type);
      // An answer's files are parts of its text there.
      const bool is_there = (check.file.empty() && !test_case.fill) || plan.acts_in(test_case);
      std::vector<Json> more = type == nullptr || !is_there ? std::vector<Json>() : GradersOf(check, *type);
      if (more.empty()) {
        written.left_out.push_back(
            fmt::format("case {}: the check {} is left out: claude plugin eval has no counterpart",
                        ExcerptLine(test_case.id, 60), ExcerptLine(check.type, 40)));
      }
      std::move(more.begin(), more.end(), std::back_inserter(graders));
    }
    if (graders.empty()) continue;
    ++written.cases;
    const fs::path place = EvalFolderName(i, test_case.id);
    Json fields = {
        {"name", test_case.id}, {"tags", test_case.tags}, {"allowed_tools", {"Read", "Glob", "Grep", "Skill"}}};
    if (plan.acts_in(test_case))
      fields["allowed_tools"].insert(fields["allowed_tools"].end(), {"Bash", "Edit", "Write"});
    RETURN_IF_ERROR(WriteDerivedFile(folder, place / "prompt.md", MarkdownWith(fields, UserMessage(test_case))));
    for (std::size_t k = 0; k < graders.size(); ++k) {
      const std::string name = fmt::format("{}-{}.md", k + 1, StringAt(graders[k], "type"));
      RETURN_IF_ERROR(WriteDerivedFile(folder, place / "graders" / name, MarkdownWith(graders[k], "")));
    }
  }
  return written;
}

}  // namespace upskill
