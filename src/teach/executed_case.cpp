// SPDX-License-Identifier: Apache-2.0
#include "teach/executed_case.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "check/check.h"
#include "teach/draft.h"
#include "util/text.h"
#include "util/variable_text.h"

namespace upskill {
namespace {

constexpr int kSeconds = 20;  // that a test may take
constexpr std::string_view kEnd = "tested to the end";

// How a program in a language tests the files in its folder. `last`, with kEnd in it, tells that it came to its end.
struct Language {
  std::string_view name;
  std::string_view file;
  std::string_view program;  // that it needs
  std::string_view command;
  std::string_view first;
  std::string_view last;
};
constexpr std::array<Language, 3> kLanguages = {{
    {"python", "check_answer.py", "python3", "python3 -B check_answer.py", "", "\nprint('{}')\n"},
    {"shell", "check_answer.sh", "bash", "bash check_answer.sh", "set -e\n", "\necho {}\n"},
    {"c++", "check_answer.cpp", "g++",
     "g++ -std=c++20 -O1 -I. -o /tmp/check_answer check_answer.cpp && /tmp/check_answer", "", ""},
}};

// Compares a function's results with those in check_calls.json; numbers may differ by rounding.
constexpr std::string_view kCalls = R"(import json, math, sys
from {module} import {function} as function

def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(a, (list, tuple)) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in b)
    return a == b

for call in json.load(open('check_calls.json')):
    result = function(*call['arguments'])
    if not same(result, call['result']):
        shown = ', '.join(map(repr, call['arguments']))
        sys.exit(f"{function}({{shown}}) gives {{result!r}}, not {{call['result']!r}}")
print('{end}')
)";

Json ListOf(std::size_t most, Json properties) {
  Json required = Json::array();
  for (const auto& [key, value] : properties.items()) required.push_back(key);
  return {{"type", "array"},
          {"maxItems", most},
          {"items",
           {{"type", "object"},
            {"properties", std::move(properties)},
            {"required", std::move(required)},
            {"additionalProperties", false}}}};
}

Json CommandCheckOf(const Language& language, const std::string& test, bool must_end) {
  Json check = {{"type", "command"},
                {"command", language.command},
                {"needs", {language.program}},
                {"timeout_seconds", kSeconds},
                {"files", {{language.file, test}}}};
  if (must_end) check["stdout"] = std::string("(?m)^") + std::string(kEnd) + "$";
  return check;
}

Result<Json> CheckByProgram(const std::string& name, const std::string& test) {
  for (const Language& language : kLanguages) {
    if (language.name != name) continue;
    const std::string last = fmt::format(fmt::runtime(language.last), kEnd);
    return CommandCheckOf(language, fmt::format("{}{}{}", language.first, test, last), !last.empty());
  }
  return InputError(fmt::format("\"run\" has the unknown language \"{}\"", ExcerptLine(name, 60)));
}

Result<Json> CheckByCalls(const std::string& function, const Json& calls, const std::string& file) {
  const std::filesystem::path path(file);
  const std::string module = path.stem().string();
  if (path.extension() != ".py" || path.has_parent_path() || !IsVariableName(module))
    return InputError("\"calls\" need a Python file in \"output_file\" or \"given\", such as units.py");
  if (!IsVariableName(function)) return InputError("\"calls\" need the name of a \"function\"");
  Json read = Json::array();
  for (const Json& call : calls) {
    const Result<Json> arguments = ParseJson(JsonGet<std::string>(call, "arguments", ""), "arguments");
    const Result<Json> result = ParseJson(JsonGet<std::string>(call, "result", ""), "result");
    if (!arguments || !arguments->is_array() || !result)
      return InputError(fmt::format("the \"arguments\" of each call must be a JSON list, and its \"result\" JSON: {}",
                                    ExcerptLine(DumpJson(call), 80)));
    read.push_back({{"arguments", *arguments}, {"result", *result}});
  }
  const std::string test =
      fmt::format(kCalls, fmt::arg("module", module), fmt::arg("function", function), fmt::arg("end", kEnd));
  Json check = CommandCheckOf(kLanguages[0], test, true);
  check["files"]["check_calls.json"] = DumpJson(read);
  return check;
}

// The given file that has the gap.
Result<std::string> FileWith(const std::string& gap, const Json& files) {
  for (const auto& [path, text] : files.items()) {
    if (text.get_ref<const std::string&>().find(gap) != std::string::npos) return path;
  }
  return InputError(fmt::format("no file in \"given\" has the \"gap\" \"{}\"", ExcerptLine(gap, 60)));
}

}  // namespace

TestRunners FindTestRunners(const Sandbox& sandbox) {
  TestRunners runners;
  if (!sandbox.Available()) return runners;
  for (const Language& language : kLanguages) {
    if (sandbox.HasProgram(std::string(language.program))) runners.languages.emplace_back(language.name);
  }
  Case probe;
  probe.checks.emplace_back().type = "cuda_compile";
  const Result<CaseChecks> checks = CaseChecks::Make(probe, sandbox);
  runners.cuda = checks && checks->WhyNoneCanPass().empty();
  return runners;
}

std::string LanguagesText(const TestRunners& runners) {
  std::string text;
  for (std::size_t i = 0; i < runners.languages.size(); ++i) {
    if (i > 0) text += i + 1 == runners.languages.size() ? " or " : ", ";
    text += fmt::format("`{}`", runners.languages[i]);
  }
  return text;
}

Json RunSchemas(const TestRunners& runners) {
  Json names = Json::array({""});
  for (const std::string& language : runners.languages) names.push_back(language);
  const Json run = {{"type", "object"},
                    {"properties",
                     {{"language", {{"type", "string"}, {"enum", names}}},
                      {"test", StringSchema(0)},
                      {"function", StringSchema(100)},
                      {"calls", ListOf(12, {{"arguments", StringSchema(0)}, {"result", StringSchema(0)}})}}},
                    {"additionalProperties", false}};
  return {{"given", ListOf(4, {{"path", StringSchema(100)}, {"text", StringSchema(0)}})},
          {"gap", StringSchema(300)},
          {"run", run}};
}

Status AddRun(const Json& from, Json& raw) {
  Json files = Json::object();
  for (const Json& file : from.value("given", Json::array())) {
    const std::string path = JsonGet<std::string>(file, "path", "");
    if (!path.empty()) files[path] = JsonGet<std::string>(file, "text", "");
  }
  if (!files.empty()) raw["context"] = {{"files", files}};
  std::string file = JsonGet<std::string>(raw, "output_file", "");
  if (const std::string gap = JsonGet<std::string>(from, "gap", ""); !Trim(gap).empty()) {
    ASSIGN_OR_RETURN(file, FileWith(gap, files));
    raw["fill"] = {{"file", file}, {"gap", gap}};
    raw.erase("output_file");
  }
  const Json* const run = FindMember(from, "run");
  if (run == nullptr || !run->is_object()) return {};
  const std::string language = JsonGet<std::string>(*run, "language", "");
  const std::string test = JsonGet<std::string>(*run, "test", "");
  const Json calls = run->value("calls", Json::array());
  if (!calls.empty()) {
    ASSIGN_OR_RETURN(Json check, CheckByCalls(JsonGet<std::string>(*run, "function", ""), calls, file));
    raw["checks"].push_back(std::move(check));
  }
  if (!Trim(test).empty()) {
    ASSIGN_OR_RETURN(Json check, CheckByProgram(language.empty() ? "python" : language, test));
    raw["checks"].push_back(std::move(check));
  }
  return {};
}

}  // namespace upskill
