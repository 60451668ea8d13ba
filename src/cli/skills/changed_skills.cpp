// SPDX-License-Identifier: Apache-2.0
#include "cli/skills/changed_skills.h"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>

#include "util/child_environment.h"
#include "util/files.h"
#include "util/run_child.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kMostTime{60};
constexpr std::size_t kMostOutput = std::size_t{1} << 20U;
constexpr int kNotFoundByShell = 127;

// What git prints. `line`: its arguments, quoted for a shell. Nothing that a repository says is run.
Result<ChildOutcome> RunGitIn(const fs::path& folder, const std::string& line) {
  const std::string command =
      fmt::format("git -C {} -c core.fsmonitor=false -c core.hooksPath=/dev/null {}", ShellWord(folder.string()), line);
  ChildLimits limits;
  limits.time = kMostTime;
  limits.output_bytes = kMostOutput;
  ASSIGN_OR_RETURN(ChildOutcome outcome, RunChild(command, ChildEnvironment(), "", limits));
  if (outcome.ending == ChildOutcome::Ending::kExited && outcome.exit_code == kNotFoundByShell)
    return Error{ErrorKind::kNotFound, "--changed-since needs git, which isn't installed"};
  if (outcome.ending == ChildOutcome::Ending::kTimeLimit)
    return Error{ErrorKind::kUnavailable,
                 fmt::format("--changed-since: git in {} didn't end within a minute", folder.string())};
  return outcome;
}

// Whether a file or folder differs from the reference; more output than is kept differs as well.
Result<bool> HasChanged(const fs::path& path, const std::string& reference) {
  std::error_code code;
  const bool is_folder = fs::is_directory(path, code);
  const fs::path folder = is_folder ? path : FolderOf(path);
  const std::string what = is_folder ? "." : "./" + path.filename().string();
  ASSIGN_OR_RETURN(
      const ChildOutcome diff,
      RunGitIn(folder, fmt::format("diff --no-ext-diff --no-textconv --name-only --end-of-options {} -- {}",
                                   ShellWord(reference), ShellWord(what))));
  if (diff.ending == ChildOutcome::Ending::kOutputLimit) return true;
  if (diff.exit_code != 0) {
    // Outside of a repository, `git diff` compares files, and answers with its usage.
    ASSIGN_OR_RETURN(const ChildOutcome inside, RunGitIn(folder, "rev-parse --git-dir"));
    if (inside.exit_code != 0 && inside.error_tail.find("not a git repository") != std::string::npos)
      return InputError(fmt::format("--changed-since {}: {} isn't in a git repository", reference, path.string()));
    return InputError(fmt::format("--changed-since {}: git in {} says: {}", reference, folder.string(),
                                  ExcerptLine(Trim(diff.error_tail), 200)));
  }
  if (!Trim(diff.output).empty()) return true;
  ASSIGN_OR_RETURN(const ChildOutcome added,
                   RunGitIn(folder, "ls-files --others --exclude-standard -- " + ShellWord(what)));
  return added.ending == ChildOutcome::Ending::kOutputLimit || !Trim(added.output).empty();
}

}  // namespace

Result<std::vector<std::string>> SkillsChangedSince(const std::vector<std::string>& skills,
                                                    const std::string& reference, const std::string& tests) {
  if (!tests.empty()) {
    ASSIGN_OR_RETURN(const bool changed, HasChanged(tests, reference));
    if (changed) return skills;
  }
  std::vector<std::string> found;
  for (const std::string& skill : skills) {
    std::error_code code;
    const fs::path folder = fs::is_directory(skill, code) ? fs::path(skill) : FolderOf(skill);
    ASSIGN_OR_RETURN(const bool changed, HasChanged(folder, reference));
    if (changed) found.push_back(skill);
  }
  return found;
}

}  // namespace upskill
