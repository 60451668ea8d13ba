// SPDX-License-Identifier: Apache-2.0
#include "teach/taught_code.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>
#include <variant>

#include "check/answer_files.h"
#include "check/check.h"
#include "check/command_check.h"
#include "check/data_text.h"
#include "teach/one_line.h"
#include "util/fences.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

struct Language {
  std::string_view names;  // first words of an info string, between blanks
  std::string_view tool;
  std::optional<DataFormat> data;  // else what parses the file `code`
  std::string_view program;
  std::string_view command;
};
constexpr std::array<Language, 5> kLanguages = {{
    {" json ", "JSON", DataFormat::kJson, "", ""},
    {" toml ", "TOML", DataFormat::kToml, "", ""},
    {" yaml yml ", "YAML", DataFormat::kYaml, "", ""},
    {" python py python3 ", "Python", std::nullopt, "python3",
     "python3 -c 'import ast, textwrap; ast.parse(textwrap.dedent(open(\"code\").read()))'"},
    {" bash sh shell ", "bash", std::nullopt, "bash", "bash -n code"},
}};

const Language* LanguageOf(std::string_view info) {
  const std::string word = fmt::format(" {} ", ToLowerAscii(info.substr(0, info.find_first_of(" \t{"))));
  for (const Language& language : kLanguages) {
    if (word.size() > 2 && language.names.find(word) != std::string_view::npos) return &language;
  }
  return nullptr;
}

bool IsPart(std::string_view code) {
  return code.find("...") != std::string_view::npos || code.find("…") != std::string_view::npos;
}

// What the language's tool says; empty: nothing.
std::string ProblemOf(const Language& language, const std::string& code, const Sandbox& sandbox) {
  if (language.data) {
    const Result<Json> data = ParseData(*language.data, code);
    return data ? "" : data.error().message;
  }
  if (!sandbox.Available() || !sandbox.HasProgram(std::string(language.program))) return "";
  SandboxCommand command;
  command.command = language.command;
  command.files["code"] = code;
  command.limits.time = std::chrono::seconds(20);
  const Result<SandboxOutcome> run = sandbox.Run(command);
  if (!run || run->ending != SandboxOutcome::Ending::kExited || run->exit_code == 0) return "";
  return EndOfOutput(*run);
}

std::string ProblemOfKernelProject(std::string_view markdown, const Sandbox& sandbox) {
  const auto files = AnswerFiles(markdown);
  const auto manifest = files.find("build.toml");
  if (manifest == files.end() || IsPart(manifest->second)) return "";
  Case project;
  project.checks.emplace_back().type = "kernel_builder";
  const Result<CaseChecks> checks = CaseChecks::Make(project, sandbox);
  if (!checks) return "";
  for (const CheckResult& result : checks->Run(markdown)) {
    if (result.outcome == Outcome::kFail) return result.detail;
  }
  return "";
}

void AddRejection(std::string_view tool, const std::string& problem, MaterialItem& item) {
  constexpr std::size_t kMostColumns = 2'000;
  item.known += fmt::format("{}as recorded, {} rejects it: {}", item.known.empty() ? "" : "; ", tool,
                            CutToColumns(OneLine(problem), kMostColumns));
}

}  // namespace

const FileDetail* WholeFileOf(const MaterialItem& item) {
  const auto* const file = std::get_if<FileDetail>(&item.detail);
  return file != nullptr && file->whole && !file->deleted ? file : nullptr;
}

std::size_t MarkRejectedFiles(const Sandbox& sandbox, Material& material) {
  std::size_t rejected = 0;
  MaterialItem* build_toml = nullptr;
  for (MaterialItem& item : material.items) {
    const FileDetail* const file = WholeFileOf(item);
    if (file == nullptr) continue;
    const fs::path path(file->path);
    if (path.filename() == "build.toml") build_toml = &item;
    const std::string extension = path.extension().string();
    const Language* const language = extension.empty() ? nullptr : LanguageOf(extension.substr(1));
    const std::string problem = language == nullptr ? "" : ProblemOf(*language, file->content, sandbox);
    if (problem.empty()) continue;
    AddRejection(language->tool, problem, item);
    ++rejected;
  }
  if (build_toml == nullptr) return rejected;
  std::string project;
  const fs::path root = fs::path(WholeFileOf(*build_toml)->path).parent_path();
  for (const MaterialItem& item : material.items) {
    const auto* const file = std::get_if<FileDetail>(&item.detail);
    const std::string path = file == nullptr ? "" : fs::path(file->path).lexically_relative(root).string();
    if (path.empty() || path.starts_with("..") || file->deleted) continue;
    if (!file->whole) return rejected;  // what is missing may only be missing in the recording
    const std::string fence = FenceFor(file->content);
    project += fmt::format("`{}`:\n{}\n{}\n{}\n", path, fence, file->content, fence);
  }
  if (const std::string problem = ProblemOfKernelProject(project, sandbox); !problem.empty()) {
    AddRejection("kernel-builder", problem, *build_toml);
    ++rejected;
  }
  return rejected;
}

std::vector<std::string> FindRejectedCode(const SkillText& skill, const Sandbox& sandbox) {
  std::string markdown = skill.body;
  for (const auto& [name, text] : skill.references) markdown.append("\n\n").append(text);
  std::vector<std::string> rejected;
  for (const FencedBlock& block : FindFencedBlocks(markdown)) {
    const Language* const language = LanguageOf(block.info);
    if (language == nullptr || IsPart(block.content)) continue;
    const std::string problem = ProblemOf(*language, block.content, sandbox);
    if (!problem.empty())
      rejected.push_back(fmt::format("{} rejects the block that begins with \"{}\": {}", language->tool,
                                     ExcerptLine(Trim(block.content), 60), problem));
  }
  if (const std::string problem = ProblemOfKernelProject(markdown, sandbox); !problem.empty())
    rejected.push_back("kernel-builder rejects the project: " + problem);
  return rejected;
}

}  // namespace upskill
