// SPDX-License-Identifier: Apache-2.0
#include "install/git_fetch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "util/child_environment.h"
#include "util/files.h"
#include "util/run_child.h"
#include "util/temp_folder.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr int kCommandNotFound = 127;  // of /bin/sh
constexpr std::size_t kMaxListing = std::size_t{32} << 20U;

// Settings that hold for every call, whatever the user's are: no hooks, no programs beside git's own and ssh, nothing
// in the background.
constexpr std::string_view kSettings =
    "-c core.hooksPath=/dev/null -c core.fsmonitor=false -c protocol.ext.allow=never -c submodule.recurse=false "
    "-c fetch.recurseSubmodules=false -c fetch.unpackLimit=1 -c gc.auto=0 -c maintenance.auto=false "
    "-c http.lowSpeedLimit=100 -c http.lowSpeedTime=60 -c advice.detachedHead=false -c init.defaultBranch=main";
constexpr int kMostMemoryKib = 8 << 20;

std::uint64_t BytesBelow(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code code;
  fs::recursive_directory_iterator entry(folder, code);
  for (const fs::recursive_directory_iterator end; !code && entry != end; entry.increment(code)) {
    std::error_code ignored;
    if (entry->is_symlink(ignored) || !entry->is_regular_file(ignored)) continue;
    const std::uint64_t size = entry->file_size(ignored);
    if (!ignored) bytes += size;  // git renames and removes files meanwhile
  }
  return bytes;
}

// What the last lines of git's messages say, and of programs that it uses, without prefixes and general advice.
std::string ReasonIn(const std::string& messages) {
  std::vector<std::string> said;
  for (std::string_view line : SplitLines(messages)) {
    for (const std::string_view prefix : {"fatal: ", "error: ", "remote: "}) {
      if (line.starts_with(prefix)) line.remove_prefix(prefix.size());
    }
    line = Trim(line);
    const bool general = line.empty() || line.starts_with("hint:") || line.starts_with("warning:") ||
                         line.starts_with("Please make sure") || line == "and the repository exists.";
    if (!general) said.emplace_back(line);
  }
  constexpr std::size_t kMost = 4;
  if (said.size() > kMost) said.erase(said.begin(), said.end() - kMost);
  return ExcerptLine(WithoutCredentials(fmt::format("{}", fmt::join(said, "; "))), 400);
}

}  // namespace

// The repository in a temporary folder, from init to checkout.
class GitWorkplace {
 public:
  GitWorkplace(GitSource source, const GitLimits& limits, const fs::path& folder)
      : source_(std::move(source)),
        limits_(limits),
        folder_(folder),
        tree_(folder / "tree" / RepositoryName(source_)),
        git_dir_("--git-dir=" + ShellWord((folder / "git").string())) {}

  // Returns the commit.
  Result<std::string> Fetch() const {
    std::error_code code;
    fs::create_directories(tree_, code);
    if (code) return Error{ErrorKind::kIo, fmt::format("making {}: {}", tree_.string(), code.message())};
    const std::string ref = source_.ref.empty() ? "HEAD" : source_.ref;
    ASSIGN_OR_RETURN(
        const std::string commit,
        Git({fmt::format("init --quiet --bare --template= -- {}", ShellWord((folder_ / "git").string())),
             fmt::format("{} fetch --quiet --depth 1 --no-tags --no-recurse-submodules -- {} {}:refs/upskill/fetched",
                         git_dir_, ShellWord(source_.url), ShellWord(ref)),
             git_dir_ + " rev-parse --verify 'refs/upskill/fetched^{commit}'"},
            Configuration::kUsers));
    return std::string(Trim(commit));
  }

  // The folders with a SKILL.md, from the repository's root; "" is the root itself.
  Result<std::vector<std::string>> Skills() const {
    ASSIGN_OR_RETURN(
        const std::string listing,
        Git({git_dir_ + " ls-tree -r -z --name-only --full-tree refs/upskill/fetched"}, Configuration::kOwn));
    constexpr std::string_view kName = "SKILL.md";
    std::vector<std::string> folders;
    for (std::size_t at = 0; at < listing.size();) {
      const std::size_t end = std::min(listing.find('\0', at), listing.size());
      const std::string_view name = std::string_view(listing).substr(at, end - at);
      at = end + 1;
      if (name == kName) folders.emplace_back();
      if (!name.ends_with("/SKILL.md")) continue;
      std::string path(name.substr(0, name.size() - kName.size() - 1));
      if (PlainFileName(path) == path && ContainedPath(".", path)) folders.push_back(std::move(path));
    }
    return folders;
  }

  // Writes the folder's files as they are in the repository. Returns where it is now.
  Result<fs::path> CheckOut(const std::string& path) const {
    RETURN_IF_ERROR(
        Git({fmt::format("{} --work-tree={} --literal-pathspecs checkout --quiet refs/upskill/fetched -- {}", git_dir_,
                         ShellWord(tree_.string()), ShellWord(path.empty() ? "." : path))},
            Configuration::kOwn));
    return path.empty() ? tree_ : tree_ / path;
  }

  // The message with the source's name in place of the temporary folder's.
  std::string Renamed(std::string message) const {
    const std::string place = tree_.string();
    for (std::size_t at = message.find(place); at != std::string::npos; at = message.find(place, at))
      message.replace(at, place.size(), source_.url);
    return message;
  }

 private:
  // Whether the user's configuration of git counts. It names proxies and credentials, but also filters, which the
  // attributes of a repository could choose.
  enum class Configuration { kUsers, kOwn };

  std::vector<std::string> Environment(Configuration configuration) const {
    std::vector<std::string> environment = ChildEnvironment(
        {"SSH_AUTH_SOCK",  "GIT_SSH",           "GIT_SSH_COMMAND",   "GIT_SSH_VARIANT",     "GIT_SSL_*",
         "GIT_EXEC_PATH",  "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_PROXY_SSL_*",
         "HTTP_PROXY",     "http_proxy",        "HTTPS_PROXY",       "https_proxy",         "ALL_PROXY",
         "all_proxy",      "NO_PROXY",          "no_proxy",          "SSL_CERT_FILE",       "SSL_CERT_DIR",
         "CURL_CA_BUNDLE", "LD_LIBRARY_PATH"});
    const auto set = [&](std::string_view name, std::string_view value) {
      environment = WithVariable(std::move(environment), name, value);
    };
    // Nobody is asked for a password or about a host's key: ssh asks a program that fails.
    set("GIT_TERMINAL_PROMPT", "0");
    set("GIT_ASKPASS", "");
    set("SSH_ASKPASS", "/bin/false");
    set("SSH_ASKPASS_REQUIRE", "force");
    set("GIT_ALLOW_PROTOCOL", source_.url.starts_with("file://") ? "file" : "https:ssh");
    set("GIT_OPTIONAL_LOCKS", "0");
    set("GIT_ATTR_NOSYSTEM", "1");
    set("GIT_LFS_SKIP_SMUDGE", "1");
    set("LC_ALL", "C");
    set("LANGUAGE", "");
    if (configuration == Configuration::kOwn) {
      set("GIT_CONFIG_GLOBAL", "/dev/null");
      set("GIT_CONFIG_SYSTEM", "/dev/null");
      set("GIT_CONFIG_NOSYSTEM", "1");
    }
    return environment;
  }

  Error Failed(ErrorKind kind, const std::string& what) const {
    return Error{kind, fmt::format("{}: {}", source_.url, what)};
  }

  Error Explained(const ChildOutcome& outcome, bool too_large) const {
    using Ending = ChildOutcome::Ending;
    const std::string size = BytesText(limits_.bytes);
    if (too_large || outcome.ending == Ending::kOutputLimit) {
      return Failed(
          ErrorKind::kUnavailable,
          fmt::format("the repository is larger than {}; clone it yourself, and give the skill's folder", size));
    }
    if (outcome.ending == Ending::kStopped) return Failed(ErrorKind::kCancelled, "stopped; nothing was installed");
    if (outcome.ending == Ending::kTimeLimit) {
      return Failed(
          ErrorKind::kUnavailable,
          fmt::format("git wasn't done after {} s; clone the repository yourself, and give the skill's folder",
                      limits_.time.count()));
    }
    if (outcome.exit_code == kCommandNotFound) {
      return Failed(ErrorKind::kNotFound,
                    "git isn't installed, and fetching this needs it (Debian: apt install git); or download the skill, "
                    "and give its folder");
    }
    std::string reason = ReasonIn(outcome.error_tail);
    if (reason.empty()) reason = fmt::format("exit code {}", outcome.exit_code);
    if (ContainsAny(reason, {"couldn't find remote ref", "not our ref", "bad object", "unadvertised object"})) {
      return Failed(ErrorKind::kNotFound,
                    fmt::format("there is no branch, tag or commit '{}' (git: {}); a commit is named by all of its "
                                "digits, and a branch with a slash as git+URL#BRANCH:PATH",
                                source_.ref.empty() ? "HEAD" : source_.ref, reason));
    }
    return Failed(ErrorKind::kUnavailable, fmt::format("git: {}", reason));
  }

  // Calls git with each of the command lines, as long as it succeeds, and returns what it prints.
  Result<std::string> Git(const std::vector<std::string>& lines, Configuration configuration) const {
    bool too_large = false;
    ChildLimits limits;
    limits.time = limits_.time;
    limits.output_bytes = kMaxListing;
    limits.stopped = [&] {
      const std::uint64_t bytes = BytesBelow(folder_);
      if (limits_.progress) limits_.progress(bytes);
      too_large = bytes > limits_.bytes;
      return too_large || (limits_.stopped && limits_.stopped());
    };
    const std::string each = fmt::format(" && git {} ", kSettings);
    const std::string command = fmt::format("ulimit -c 0; ulimit -v {} 2>/dev/null; git {} {}", kMostMemoryKib,
                                            kSettings, fmt::join(lines, each));
    ASSIGN_OR_RETURN(ChildOutcome outcome, RunChild(command, Environment(configuration), "", limits));
    if (outcome.ending == ChildOutcome::Ending::kExited && outcome.exit_code == 0 &&
        BytesBelow(folder_) <= limits_.bytes)
      return std::move(outcome.output);
    return Explained(outcome, too_large || outcome.exit_code == 0);
  }

  GitSource source_;  // its path doesn't count
  const GitLimits& limits_;
  fs::path folder_;
  fs::path tree_;  // the working tree, with the repository's name
  std::string git_dir_;
};

namespace {

// The folder of the skill that is meant.
Result<std::string> PathIn(const GitSource& source, const std::vector<std::string>& skills) {
  const auto has = [&](const std::string& path) {
    return std::find(skills.begin(), skills.end(), path) != skills.end();
  };
  if (has(source.path)) return source.path;
  if (source.path.empty() && skills.size() == 1) return skills.front();
  // The last part of a path will do where it is the only one.
  std::vector<std::string> ending;
  std::copy_if(skills.begin(), skills.end(), std::back_inserter(ending),
               [&](const std::string& path) { return !source.path.empty() && path.ends_with("/" + source.path); });
  if (ending.size() == 1) return ending.front();
  std::string found;
  constexpr std::size_t kShown = 20;
  for (std::size_t i = 0; i < skills.size() && i < kShown; ++i)
    found += "\n  " + GitSourceText({source.url, source.ref, skills[i]});
  if (skills.size() > kShown) found += fmt::format("\n  and {} more", skills.size() - kShown);
  if (skills.empty()) {
    return Error{ErrorKind::kNotFound, fmt::format("{}: no skill in it: there is no SKILL.md", source.url)};
  }
  const std::string what = source.path.empty() ? fmt::format("has {} skills", skills.size())
                                               : fmt::format("no SKILL.md in '{}'", source.path);
  return Error{ErrorKind::kNotFound, fmt::format("{}: {}; name one:{}", source.url, what, found)};
}

}  // namespace

struct GitRepositories::Repository {
  Repository(const GitSource& source, const GitLimits& limits, TempFolder place)
      : folder(std::move(place)), workplace(source, limits, folder.path()) {}

  TempFolder folder;
  GitWorkplace workplace;
  std::string commit;
  std::vector<std::string> skills;
};

GitRepositories::GitRepositories(GitLimits limits) : limits_(std::move(limits)) {}
GitRepositories::~GitRepositories() = default;

Result<const GitRepositories::Repository*> GitRepositories::Fetched(const GitSource& source) {
  const std::pair key(source.url, source.ref);
  auto known = repositories_.find(key);
  if (known == repositories_.end()) {
    const auto fetch = [&]() -> Result<std::unique_ptr<Repository>> {
      if (limits_.asking) limits_.asking(source.url);
      ASSIGN_OR_RETURN(TempFolder folder, TempFolder::Make("upskill-git-"));
      auto repository = std::make_unique<Repository>(source, limits_, std::move(folder));
      ASSIGN_OR_RETURN(repository->commit, repository->workplace.Fetch());
      ASSIGN_OR_RETURN(repository->skills, repository->workplace.Skills());
      return repository;
    };
    known = repositories_.emplace(key, fetch()).first;
  }
  if (!known->second) return known->second.error();
  return known->second->get();
}

Result<FetchedSkill> GitRepositories::Skill(const GitSource& source, EvaluationFiles evaluation) {
  ASSIGN_OR_RETURN(const Repository* const repository, Fetched(source));
  FetchedSkill fetched;
  fetched.commit = repository->commit;
  ASSIGN_OR_RETURN(fetched.path, PathIn(source, repository->skills));
  ASSIGN_OR_RETURN(const fs::path skill, repository->workplace.CheckOut(fetched.path));
  Result<SkillFiles> files = ReadSkillFolder(skill, evaluation);
  if (!files) return Error{files.error().kind, repository->workplace.Renamed(files.error().message)};
  fetched.files = *std::move(files);
  for (std::string& warning : fetched.files.warnings) warning = repository->workplace.Renamed(std::move(warning));
  return fetched;
}

Result<FetchedSkill> FetchGitSkill(const GitSource& source, EvaluationFiles evaluation, const GitLimits& limits) {
  return GitRepositories(limits).Skill(source, evaluation);
}

}  // namespace upskill
