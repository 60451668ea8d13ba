// SPDX-License-Identifier: Apache-2.0
#include "cli/skills/install_source.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/skills/skill_argument.h"
#include "install/git_source.h"
#include "install/skill_archive.h"
#include "util/text.h"

namespace upskill {

GitLimits GitLimitsOf(const Env& env) {
  using Steady = std::chrono::steady_clock;
  GitLimits limits;
  limits.asking = [&env](const std::string& url) { env.error(TerminalText::Format("asking git for {}\n", url)); };
  limits.stopped = [&env] { return env.stop != nullptr && *env.stop > 0; };
  limits.progress = [&env, said = Steady::now()](std::uint64_t bytes) mutable {
    constexpr std::chrono::seconds kBetween{10};
    if (Steady::now() - said < kBetween) return;
    said = Steady::now();
    env.error(TerminalText::Format("  {} so far\n", BytesText(bytes)));
  };
  return limits;
}

Result<SkillToInstall> ReadInstallSource(const std::string& skill, InstallMode mode, EvaluationFiles evaluation,
                                         const Env& env) {
  SkillToInstall found;
  found.source.mode = mode;
  found.source.evaluation = evaluation;
  std::error_code code;
  if (!IsGitSource(skill) || std::filesystem::exists(skill, code)) {
    Result<std::filesystem::path> path = PathOfSkill(skill, env);
    if (!path && path.error().kind == ErrorKind::kNotFound && skill.find('/') != std::string::npos) {
      Error error = path.error();
      error.message += "; the URL of a git repository starts with https://";
      return error;
    }
    ASSIGN_OR_RETURN(found.source.path, std::move(path));
    ASSIGN_OR_RETURN(found.files, ReadSkillSource(found.source.path, evaluation));
    return found;
  }
  ASSIGN_OR_RETURN(GitSource source, ParseGitSource(skill));
  if (mode == InstallMode::kLink) {
    return InputError(fmt::format(
        "{} can't be linked to: clone the repository, and give the skill's folder in the clone", source.url));
  }
  ASSIGN_OR_RETURN(FetchedSkill fetched, FetchGitSkill(source, evaluation, GitLimitsOf(env)));
  source.path = fetched.path;
  found.source.path = GitSourceText(source);
  found.source.commit = std::move(fetched.commit);
  found.files = std::move(fetched.files);
  return found;
}

}  // namespace upskill
