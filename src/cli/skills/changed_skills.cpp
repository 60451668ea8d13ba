// SPDX-License-Identifier: Apache-2.0
#include "cli/skills/changed_skills.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

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

// Git in a folder, for one of the options that name a state of it. No hook is run, and nothing is fetched.
class Git {
 public:
  Git(fs::path folder, std::string option, std::string reference)
      : folder_(std::move(folder)), option_(std::move(option)), reference_(std::move(reference)) {}

  // What git prints. `line`: its arguments, quoted for a shell; `before`: variables for it.
  Result<ChildOutcome> Run(const std::string& line, const std::string& before = "") const {
    const std::string command = fmt::format(
        "{}GIT_NO_LAZY_FETCH=1 GIT_ALLOW_PROTOCOL= git -C {} -c core.fsmonitor=false "
        "-c core.hooksPath=/dev/null {}",
        before, ShellWord(folder_.string()), line);
    ChildLimits limits;
    limits.time = kMostTime;
    limits.output_bytes = kMostOutput;
    ASSIGN_OR_RETURN(ChildOutcome outcome, RunChild(command, ChildEnvironment(), "", limits));
    if (outcome.ending == ChildOutcome::Ending::kExited && outcome.exit_code == kNotFoundByShell)
      return Error{ErrorKind::kNotFound, option_ + " needs git, which isn't installed"};
    if (outcome.ending == ChildOutcome::Ending::kTimeLimit)
      return Error{ErrorKind::kUnavailable,
                   fmt::format("{}: git in {} didn't end within a minute", option_, folder_.string())};
    return outcome;
  }

  // One line of what it prints; an error if it fails.
  Result<std::string> Line(const std::string& line, const std::string& before = "") const {
    ASSIGN_OR_RETURN(const ChildOutcome outcome, Run(line, before));
    if (outcome.exit_code != 0) return Failure(outcome, folder_);
    std::string text = outcome.output;
    if (text.ends_with('\n')) text.pop_back();
    return text;
  }

  // The commit that the reference names, or where the current branch left its history: what was changed there since
  // then isn't a change of this branch.
  Result<std::string> Base(const std::string& reference) const {
    ASSIGN_OR_RETURN(const std::string commit,
                     Line("rev-parse --verify --end-of-options " + ShellWord(reference + "^{commit}")));
    if (commit.starts_with('^')) return InputError(fmt::format("{} {}: not a commit", option_, reference_));
    ASSIGN_OR_RETURN(const ChildOutcome base, Run("merge-base " + commit + " HEAD"));
    return base.exit_code == 0 ? std::string(Trim(base.output)) : commit;
  }

  // Why it failed; `path` is what was asked about. Outside of a repository, `git diff` compares files, and answers with
  // its usage.
  Error Failure(const ChildOutcome& failed, const fs::path& path) const {
    const Result<ChildOutcome> inside = Run("rev-parse --git-dir");
    if (!inside) return inside.error();
    if (inside->exit_code != 0 && inside->error_tail.find("not a git repository") != std::string::npos)
      return InputError(fmt::format("{} {}: {} isn't in a git repository", option_, reference_, path.string()));
    if (failed.error_tail.find("Needed a single revision") != std::string::npos) {
      return InputError(fmt::format("{} {}: {} isn't in this clone; a shallow clone may lack it: `git fetch` it first",
                                    option_, reference_,
                                    reference_.starts_with("git:") ? reference_.substr(4) : reference_));
    }
    return InputError(fmt::format("{} {}: git in {} says: {}", option_, reference_, folder_.string(),
                                  ExcerptLine(Trim(failed.error_tail), 200)));
  }

 private:
  fs::path folder_;
  std::string option_;
  std::string reference_;
};

// GitHub and GitLab write the commit before a branch's first push as all zeros. It has no skills.
bool IsBeforeAll(const std::string& reference) {
  constexpr std::size_t kSha1 = 40;
  constexpr std::size_t kSha256 = 64;
  return (reference.size() == kSha1 || reference.size() == kSha256) &&
         reference.find_first_not_of('0') == std::string::npos;
}

// Whether a file or folder differs from the reference; more output than is kept differs as well.
Result<bool> HasChanged(const fs::path& path, const std::string& reference, const std::string& option) {
  std::error_code code;
  const bool is_folder = fs::is_directory(path, code);
  const fs::path folder = is_folder ? path : FolderOf(path);
  const std::string what = is_folder ? "." : "./" + path.filename().string();
  const Git git(folder, option, reference);
  ASSIGN_OR_RETURN(const std::string base, git.Base(reference));
  ASSIGN_OR_RETURN(const ChildOutcome diff, git.Run(fmt::format("diff --no-ext-diff --no-textconv --name-only {} -- {}",
                                                                base, ShellWord(what))));
  if (diff.ending == ChildOutcome::Ending::kOutputLimit) return true;
  if (diff.exit_code != 0) return git.Failure(diff, path);
  if (!Trim(diff.output).empty()) return true;
  ASSIGN_OR_RETURN(const ChildOutcome added, git.Run("ls-files --others --exclude-standard -- " + ShellWord(what)));
  return added.ending == ChildOutcome::Ending::kOutputLimit || !Trim(added.output).empty();
}

// Folders of skills, from the top of the repository.
struct SkillMoves {
  std::map<std::string, std::string> earlier;  // of a folder that was renamed: what it was
  std::vector<std::string> deleted;
};

// Finds renamed skills by their SKILL.md. Where git takes that for a new file, the cases beside it count.
SkillMoves MovesIn(std::string_view diff) {
  SkillMoves moves;
  std::vector<std::string> gone;
  std::vector<std::string_view> fields;
  for (std::size_t end = diff.find('\0'); end != std::string_view::npos; end = diff.find('\0')) {
    fields.push_back(diff.substr(0, end));
    diff.remove_prefix(end + 1);
  }
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    const fs::path file(fields[i + 1]);
    const bool is_skill = file.filename() == "SKILL.md";
    if (fields[i] == "D") {
      if (is_skill) gone.push_back(file.parent_path().string());
    } else if (++i + 1 < fields.size()) {  // "R097", the old and the new path
      std::string& earlier = moves.earlier[fs::path(fields[i + 1]).parent_path().string()];
      if (is_skill || earlier.empty()) earlier = file.parent_path().string();
    }
  }
  for (std::string& folder : gone) {
    const bool renamed = std::any_of(moves.earlier.begin(), moves.earlier.end(),
                                     [&](const auto& move) { return move.second == folder; });
    if (!renamed) moves.deleted.push_back(std::move(folder));
  }
  return moves;
}

Result<SkillMoves> FindMoves(const Git& git, const std::string& base) {
  ASSIGN_OR_RETURN(const ChildOutcome diff,
                   git.Run(fmt::format("diff --no-ext-diff --no-textconv --name-status -z --find-renames "
                                       "--diff-filter=DR {} -- ':(top,glob)**/SKILL.md' "
                                       "':(top,glob)**/skill_meta.json' ':(top,glob)**/tests.json'",
                                       base)));
  // More output than is kept is cut anywhere.
  return diff.exit_code == 0 ? MovesIn(diff.output) : SkillMoves();
}

}  // namespace

Result<std::vector<std::string>> SkillsDeletedSince(const fs::path& path, const std::string& reference,
                                                    const std::string& option) {
  std::vector<std::string> deleted;
  if (IsBeforeAll(reference)) return deleted;
  std::error_code code;
  const fs::path wanted = fs::weakly_canonical(fs::absolute(path, code), code);
  fs::path folder = wanted;
  while (!fs::is_directory(folder, code) && folder.has_relative_path()) folder = folder.parent_path();
  const Git git(folder, option, reference);
  ASSIGN_OR_RETURN(const std::string base, git.Base(reference));
  ASSIGN_OR_RETURN(const std::string top, git.Line("rev-parse --show-toplevel"));
  ASSIGN_OR_RETURN(const SkillMoves moves, FindMoves(git, base));
  for (const std::string& one : moves.deleted) {
    const fs::path relative = (fs::path(top) / one).lexically_relative(wanted);
    if (!relative.empty() && *relative.begin() != "..") deleted.push_back(one);
  }
  return deleted;
}

Result<std::vector<std::string>> SkillsChangedSince(const std::vector<std::string>& skills,
                                                    const std::string& reference, const std::string& tests,
                                                    const std::string& option) {
  if (IsBeforeAll(reference)) return skills;
  if (!tests.empty()) {
    ASSIGN_OR_RETURN(const bool changed, HasChanged(tests, reference, option));
    if (changed) return skills;
  }
  std::vector<std::string> found;
  for (const std::string& skill : skills) {
    std::error_code code;
    const bool is_folder = fs::is_directory(skill, code);
    const fs::path folder = is_folder ? fs::path(skill) : FolderOf(skill);
    // What can't be read is left to its reader, which says why.
    bool changed = !fs::exists(is_folder ? folder / "SKILL.md" : fs::path(skill), code);
    if (!changed) {
      ASSIGN_OR_RETURN(changed, HasChanged(folder, reference, option));
    }
    if (changed) found.push_back(skill);
  }
  return found;
}

Result<std::optional<fs::path>> SkillAt(const fs::path& folder, const std::string& reference, const fs::path& place) {
  if (IsBeforeAll(reference)) return std::optional<fs::path>();
  const Git git(folder, "--against", "git:" + reference);
  ASSIGN_OR_RETURN(const std::string commit, git.Base(reference));
  ASSIGN_OR_RETURN(const std::string prefix, git.Line("rev-parse --show-prefix"));
  ASSIGN_OR_RETURN(const std::string top, git.Line("rev-parse --show-toplevel"));
  std::string tree = ShellWord(fmt::format("{}:{}", commit, prefix));
  ASSIGN_OR_RETURN(const ChildOutcome found, git.Run("rev-parse --verify --quiet --end-of-options " + tree));
  std::error_code code;
  fs::path name = fs::weakly_canonical(folder, code).filename();
  if (found.exit_code != 0) {
    ASSIGN_OR_RETURN(const SkillMoves moves, FindMoves(git, commit));
    const auto move = moves.earlier.find(prefix.substr(0, prefix.find_last_not_of('/') + 1));
    if (move == moves.earlier.end()) return std::optional<fs::path>();
    tree = ShellWord(fmt::format("{}:{}", commit, move->second));
    if (!move->second.empty()) name = fs::path(move->second).filename();
  }
  const fs::path copy = place / "skill" / name;
  const std::string index = fmt::format("GIT_INDEX_FILE={} ", ShellWord((place / "index").string()));
  RETURN_IF_ERROR(git.Line("read-tree " + tree, index));
  // From the top: below it, git would write only the files of the same folder.
  RETURN_IF_ERROR(
      Git(top, "--against", "git:" + reference)
          .Line("-c core.symlinks=false checkout-index --all --prefix=" + ShellWord(copy.string() + "/"), index));
  return std::optional(copy);
}

}  // namespace upskill
