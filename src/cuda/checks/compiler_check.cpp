// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/compiler_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>

#include "check/answer_files.h"
#include "check/command_check.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxSources = 50;
constexpr std::size_t kShownTools = 60;
constexpr const char* kInlinePython =
    "the answer is Python that compiles CUDA itself (load_inline): ask for a .cu file with the kernel and a function "
    "that launches it, or have it run by a cuda_run with \"init_inputs\"";

bool CompilesItself(std::string_view python) { return python.find("load_inline(") != std::string_view::npos; }

// The first line that names an error, else the end of what the compiler said.
std::string FirstError(const SandboxOutcome& run) {
  for (const std::string_view line : SplitLines(run.error)) {
    if (line.find("error") != std::string_view::npos || line.find("fatal") != std::string_view::npos)
      return ExcerptLine(ReplaceInvalidUtf8(line), 300);
  }
  return EndOfOutput(run);
}

}  // namespace

CheckResult CompilerCheck::Run(const CheckedAnswer& answer) const {
  if (std::string reason = WhyNot(); !reason.empty()) return {subject_.name, Outcome::kSkip, std::move(reason)};
  SandboxCommand command;
  command.files = answer.files;
  const std::vector<std::string> sources = ChooseSources(subject_, choice_, answer, command.files);
  if (sources.empty()) return MissingSource(subject_, choice_, answer);
  std::string unclear = WhyInlinePython(sources, command.files);
  command.limits.time = std::chrono::seconds(180);
  command.limits.output_bytes = std::size_t{16} << 20U;
  command.stop = answer.stop;
  Prepare(sources, command);
  if (const std::string conflict = ConflictOfFiles(command.files); !conflict.empty())
    return {subject_.name, Outcome::kFail, "the files of the answer can't be written: " + conflict};
  if (answer.stop != nullptr && answer.stop->load() > 1) return {subject_.name, Outcome::kSkip, "stopped"};
  const Result<SandboxOutcome> run = sandbox_.Run(command);
  if (!run) return {subject_.name, Outcome::kSkip, run.error().message};
  if (run->ending == SandboxOutcome::Ending::kStopped) return {subject_.name, Outcome::kSkip, "stopped"};
  const std::string tools(run->output.substr(0, std::min(run->output.find('\n'), kShownTools)));
  std::string problem = LimitOf(*run, command.limits);
  if (problem.empty() && run->exit_code != 0) {
    const std::string error = FirstError(*run);
    if (unclear.empty()) unclear = WhyUnclear(error);
    if (!unclear.empty()) return {subject_.name, Outcome::kSkip, std::move(unclear)};
    problem = "doesn't compile: " + error;
  }
  if (problem.empty()) problem = FindProblem(*run);
  return {subject_.name, problem.empty() ? Outcome::kPass : Outcome::kFail, std::move(problem),
          CheckRun{run->seconds, tools}};
}

std::string CompilerCheck::WhyItCannotPass() const {
  const std::string reason = WhyNot();
  return reason.empty() ? "" : CannotRun(subject_.name, reason);
}

std::string CompilerCheck::WhyUnclear(std::string_view /*error*/) const { return ""; }

std::string CompilerCheck::WhyNot() const {
  if (const Status available = sandbox_.Available(); !available) return available.error().message;
  return WhatIsMissing();
}

CheckResult MissingSource(const CheckSubject& subject, const SourceChoice& choice, const CheckedAnswer& answer) {
  const auto& whole = answer.parts.front().text;
  if (subject.file.empty() && choice.suffix == ".cu" && whole && CompilesItself(*whole))
    return {subject.name, Outcome::kSkip, kInlinePython};
  return {subject.name, Outcome::kFail,
          subject.file.empty() ? fmt::format("the answer has no {}", choice.what)
                               : fmt::format("the answer has no file {}", subject.file)};
}

std::string WhyInlinePython(const std::vector<std::string>& sources, const std::map<std::string, std::string>& files) {
  const bool found = std::any_of(sources.begin(), sources.end(), [&](const std::string& name) {
    return name.ends_with(".py") || CompilesItself(files.at(name));
  });
  return found ? kInlinePython : "";
}

std::vector<std::string> ChooseSources(const CheckSubject& subject, const SourceChoice& choice,
                                       const CheckedAnswer& answer, std::map<std::string, std::string>& files) {
  std::vector<std::string> sources;
  if (!subject.file.empty()) {
    const CheckedPart& part = answer.parts[subject.part];
    if (!part.text) return sources;
    files[subject.file] = *part.text;
    return {subject.file};
  }
  for (const auto& [name, content] : files) {
    if (name.ends_with(choice.suffix) && sources.size() < kMaxSources) sources.push_back(name);
  }
  if (sources.empty() && answer.parts.front().text) {
    std::string code = DataInAnswer(*answer.parts.front().text, choice.languages);
    if (code.find(choice.marker) == std::string::npos) return sources;
    files[std::string(choice.unnamed)] = std::move(code);
    sources.emplace_back(choice.unnamed);
  }
  return sources;
}

}  // namespace upskill
