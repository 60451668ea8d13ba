// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "install/git_source.h"
#include "install/skill_files.h"
#include "util/result.h"

namespace upskill {

struct GitLimits {
  std::chrono::seconds time{600};                      // of each call of git
  std::uint64_t bytes = std::uint64_t{1} << 30U;       // on the disk, of the repository and of the skill
  std::function<bool()> stopped;                       // asked about ten times a second; empty: never
  std::function<void(std::uint64_t bytes)> progress;   // called as often, with what has arrived; may be empty
  std::function<void(const std::string& url)> asking;  // called before a repository is fetched; may be empty
};

struct FetchedSkill {
  SkillFiles files;
  std::string commit;  // 40 or 64 hexadecimal digits
  std::string path;    // the skill's folder in the repository; empty: its root
};

// Repositories that git is asked for, each once: the newest commit of a source, without its history. All is in
// temporary folders, which are removed with the object. git is configured as the user has it, so that proxies and
// credentials work, but asks nothing, runs no hooks, filters or helpers that a repository could name, and fetches no
// submodules.
class GitRepositories {
 public:
  explicit GitRepositories(GitLimits limits);
  ~GitRepositories();
  GitRepositories(const GitRepositories&) = delete;
  GitRepositories& operator=(const GitRepositories&) = delete;

  // Reads the skill in it with ReadSkillFolder. Errors name the source: git isn't installed (kNotFound) or says what is
  // wrong (kUnavailable), a limit (kUnavailable), stopped (kCancelled), no skill or several in the repository and no
  // path, those of ReadSkillFolder.
  Result<FetchedSkill> Skill(const GitSource& source, EvaluationFiles evaluation);

 private:
  struct Repository;
  Result<const Repository*> Fetched(const GitSource& source);

  GitLimits limits_;
  std::map<std::pair<std::string, std::string>, Result<std::unique_ptr<Repository>>> repositories_;  // by URL and ref
};

// The same for a single skill.
Result<FetchedSkill> FetchGitSkill(const GitSource& source, EvaluationFiles evaluation, const GitLimits& limits);

}  // namespace upskill
