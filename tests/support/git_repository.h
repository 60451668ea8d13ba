// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "util/child_environment.h"
#include "util/invariant.h"
#include "util/run_child.h"
#include "util/text.h"

namespace upskill {

// For tests: runs commands in a folder, with an identity for git, and without the
// user's configuration of it. Returns what it prints.
inline std::string RunGit(const std::filesystem::path& folder, const std::string& commands) {
  std::vector<std::string> environment = ChildEnvironment();
  for (const auto& [name, value] :
       {std::pair{"GIT_CONFIG_GLOBAL", "/dev/null"}, std::pair{"GIT_CONFIG_NOSYSTEM", "1"},
        std::pair{"GIT_AUTHOR_NAME", "A"}, std::pair{"GIT_AUTHOR_EMAIL", "a@example.org"},
        std::pair{"GIT_COMMITTER_NAME", "A"}, std::pair{"GIT_COMMITTER_EMAIL", "a@example.org"}})
    environment = WithVariable(std::move(environment), name, value);
  ChildLimits limits;
  limits.time = std::chrono::seconds(60);
  limits.output_bytes = 1U << 20U;
  const Result<ChildOutcome> outcome =
      RunChild(fmt::format("set -e; cd {}; {}", ShellWord(folder.string()), commands), environment, "", limits);
  CHECK(outcome.ok() && outcome->exit_code == 0);
  return std::string(Trim(outcome->output));
}

// Commits everything in the folder, which becomes a repository if it isn't one. Returns the commit.
inline std::string CommitAll(const std::filesystem::path& folder) {
  return RunGit(folder,
                "[ -e .git ] || git init --quiet --initial-branch=main; git add --all; "
                "git commit --quiet --allow-empty --message change; git rev-parse HEAD");
}

}  // namespace upskill
