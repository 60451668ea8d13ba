// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

#include "teach/extract_parts.h"
#include "teach/extract_text.h"
#include "teach/one_line.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxCommandBytes = 200;

// One line, without the change into the project's folder and without a filter of the output. `project`: that folder.
std::string CleanCommand(std::string_view command, const std::string& project) {
  constexpr std::size_t kLongest = 4000;
  std::string text;
  if (command.size() > kLongest) return text;
  for (const std::string_view line : SplitLines(Trim(command))) {
    std::string_view part = Trim(line);
    const bool continued = part.ends_with('\\');
    if (continued) part.remove_suffix(1);
    if (!text.empty() && text.back() != ' ') text += continued || text.ends_with(' ') ? "" : "\n";
    text += std::string(Trim(part)) + (continued ? " " : "");
  }
  for (std::size_t at = text.find(project); !project.empty() && at != std::string::npos; at = text.find(project, at))
    text.erase(at, project.size());
  static const RE2 enter(R"(^cd\s+(?:/|~)\S*\s*(?:&&|;)\s*)");
  static const RE2 filter(R"(\s*(?:2>&1)?\s*\|\s*(?:head|tail|grep|tee|less)\b[^|;&]*$)");
  static const RE2 errors(R"(\s*2>&1\s*$)");
  RE2::Replace(&text, enter, "");
  while (RE2::Replace(&text, filter, "")) {
  }
  RE2::Replace(&text, errors, "");
  return std::string(Trim(text));
}

// The programs that a command line runs, by name.
std::vector<std::string> ProgramsOf(const std::string& command) {
  static const RE2 word(R"(([^\s|;&]+))");
  std::vector<std::string> programs;
  std::size_t begin = 0;
  while (begin < command.size()) {
    const std::size_t end = std::min(command.find_first_of("|;&\n", begin), command.size());
    re2::StringPiece rest(command.data() + begin, end - begin);
    std::string name;
    while (RE2::FindAndConsume(&rest, word, &name)) {
      const bool prefix = name == "sudo" || name == "time" || name == "env" || name == "nohup" || name == "timeout" ||
                          name.find('=') != std::string::npos || ParseWholeNumber(name, 0).has_value();
      if (prefix) continue;
      programs.push_back(name.substr(name.rfind('/') + 1));
      break;
    }
    begin = end + 1;
  }
  return programs;
}

// Looking at files and moving them around is not what a skill is for.
bool IsEverydayProgram(const std::string& name) {
  static const std::set<std::string> names = {"ls",       "cat",      "head",       "tail",        "sed",
                                              "grep",     "rg",       "find",       "echo",        "cp",
                                              "mv",       "rm",       "mkdir",      "cd",          "git",
                                              "pwd",      "which",    "wc",         "awk",         "sort",
                                              "test",     "true",     "sleep",      "kill",        "ps",
                                              "curl",     "wget",     "touch",      "chmod",       "tree",
                                              "jq",       "diff",     "stat",       "env",         "export",
                                              "printf",   "type",     "xargs",      "tee",         "less",
                                              "open",     "date",     "uname",      "cut",         "tr",
                                              "uniq",     "file",     "du",         "df",          "nl",
                                              "command",  "pkill",    "lsof",       "whoami",      "id",
                                              "hostname", "set",      "source",     ".",           "exit",
                                              "[",        "if",       "for",        "do",          "done",
                                              "while",    "then",     "fi",         "else",        "ln",
                                              "readlink", "basename", "nvidia-smi", "apply_patch", "str_replace_editor",
                                              "view",     "create",   "submit",     "applypatch",  "sh",
                                              "bash",     "zsh",      "gh",         "bd"};
  return names.contains(name);
}

// Programs whose use in a text can be told from prose.
bool IsBuildProgram(const std::string& name) {
  static const std::set<std::string> names = {
      "make",    "cmake", "ninja",     "ctest",  "cargo",   "go",     "npm",      "pnpm",    "yarn",   "bun",
      "npx",     "deno",  "tsc",       "vitest", "jest",    "pytest", "tox",      "nox",     "ruff",   "mypy",
      "pip",     "uv",    "poetry",    "python", "python3", "mvn",    "gradle",   "gradlew", "bazel",  "meson",
      "dotnet",  "swift", "mix",       "rake",   "bundle",  "rspec",  "composer", "nix",     "docker", "podman",
      "kubectl", "helm",  "terraform", "cachix", "conda",   "just"};
  return names.contains(name);
}

bool IsTellingCommandLine(const std::string& command) {
  if (command.empty() || command.size() > kMaxCommandBytes || command.find("<<") != std::string::npos ||
      command.find("[redacted:") != std::string::npos || command.find('\n') != std::string::npos)
    return false;
  static const RE2 inline_code(R"(\b(?:python3?|node|ruby|perl|sh|bash)\s+-(?:c|e|lc)\b)");
  if (RE2::PartialMatch(command, inline_code)) return false;
  const std::vector<std::string> programs = ProgramsOf(command);
  return std::any_of(programs.begin(), programs.end(),
                     [](const std::string& program) { return !IsEverydayProgram(program); });
}

// A line of a text that is a command: a build program with an argument that no sentence has.
bool IsCommandInText(const std::string& line) {
  if (!IsTellingCommandLine(line) || line.ends_with('.') || line.ends_with(':') || line.find('`') != std::string::npos)
    return false;
  const std::vector<std::string> programs = ProgramsOf(line);
  if (programs.empty() || !IsBuildProgram(programs.front()) || !line.starts_with(programs.front())) return false;
  static const RE2 argument(R"(^\S+\s+(?:-|\.|\S*[/#=]|(?:build|test|run|install|add|check|sync|flake|init|)"
                            R"(compose|exec|develop|apply|start|dev|use)\b))");
  return RE2::PartialMatch(line, argument);
}

// What a command does: its programs with their first argument, without everyday ones.
std::set<std::string> UsesOf(const std::string& command) {
  static const RE2 version(R"((?:^|\s)--?version\b)");
  std::set<std::string> uses;
  std::size_t begin = 0;
  while (begin < command.size()) {
    const std::size_t end = std::min(command.find_first_of("|;&\n", begin), command.size());
    const std::string part = command.substr(begin, end - begin);
    begin = end + 1;
    const std::vector<std::string> programs = ProgramsOf(part);
    if (programs.empty() || IsEverydayProgram(programs.front()) || RE2::PartialMatch(part, version)) continue;
    const std::size_t at = part.find(programs.front()) + programs.front().size();
    const std::string_view rest = Trim(std::string_view(part).substr(at));
    uses.insert(programs.front() + " " + std::string(rest.substr(0, rest.find(' '))));
  }
  return uses;
}

}  // namespace

Section RanCommandsPart(const Material& material) {
  constexpr std::size_t kMaxColumns = 100;
  Section part{"Commands that ran and worked", {}};
  const std::string project = ProjectFolderOf(material);
  std::set<std::string> uses;
  for (const auto& [item, command] : DetailsOf<CommandDetail>(material)) {
    const std::string text = CleanCommand(command->command, project);
    if (command->worked == 0 || !IsTellingCommandLine(text)) continue;
    bool news = false;
    for (const std::string& use : UsesOf(text)) news = uses.insert(use).second || news;
    if (!news) continue;
    std::string purpose = CutToColumns(OneLine(command->purpose), kMaxColumns);
    while (purpose.ends_with('.') || purpose.ends_with(':')) purpose.pop_back();
    part.rules.push_back(
        {fmt::format("- {}{}", purpose.empty() ? "" : purpose + ": ", InBackticks(text)), item->places});
  }
  return part;
}

Section ToldCommandsPart(const Material& material) {
  constexpr std::size_t kMaxCommands = 5;
  Section part{"Commands that the agent gave, but did not run", {}};
  const std::string project = ProjectFolderOf(material);
  std::set<std::string> ran;
  for (const auto& [item, command] : DetailsOf<CommandDetail>(material)) {
    for (const std::string& program : ProgramsOf(CleanCommand(command->command, project))) ran.insert(program);
  }
  std::set<std::string> uses;
  for (const auto& request : material.requests) {
    std::string pending;
    for (const std::string_view line : SplitLines(request.answer)) {
      const std::string_view shown = Trim(line);
      pending += std::string(shown);
      if (pending.size() < kMaxCommandBytes && shown.ends_with('\\')) {
        pending.pop_back();
        continue;
      }
      const std::string text = CleanCommand(pending, project);
      pending.clear();
      if (!IsCommandInText(text) || ran.contains(ProgramsOf(text).front())) continue;
      bool news = false;
      for (const std::string& use : UsesOf(text)) news = uses.insert(use).second || news;
      if (part.rules.size() == kMaxCommands || !news) continue;
      part.rules.push_back({"- " + InBackticks(text), {request.place}});
    }
  }
  return part;
}

}  // namespace upskill
