// SPDX-License-Identifier: Apache-2.0
#include "cli/generate/generate_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "skill/skill_text.h"
#include "skill/skill_tree.h"
#include "util/files.h"
#include "util/folder.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// Whether --name, -o or the skill to improve decides where the skill goes.
bool IsPlaceGiven(const GenerateSession& session) {
  return !session.options.output.empty() || !session.options.how.name.empty() ||
         session.sources.material.has_existing();
}

bool IsOfSameSource(const GenerateSession& session, const fs::path& folder) {
  const Result<std::string> text = ReadFile(folder / "skill_meta.json");
  const Result<Json> meta = text ? ParseJson(*text, folder.string()) : Result<Json>(text.error());
  if (!meta || !meta->is_object() || !meta->contains("metadata")) return false;
  const Json& metadata = meta->at("metadata");
  if (!metadata.is_object() || !metadata.contains("generation")) return false;
  const std::string& task = session.sources.material.task;
  if (!task.empty()) return JsonGet<std::string>(metadata, "source_task", "") == task;
  return metadata.contains("sources") && metadata.at("sources") == Json(session.sources.names);
}

// The folder that an unnamed skill will probably have: that of an earlier generation from the same task, or from the
// same sources without one.
std::optional<fs::path> ProbableFolder(const GenerateSession& session) {
  const fs::path skills = session.options.skills_dir;
  std::vector<fs::path> folders;
  std::error_code code;
  for (fs::directory_iterator it(skills, code), end; !code && it != end; it.increment(code))
    folders.push_back(it->path());
  std::sort(folders.begin(), folders.end());
  const auto found = std::find_if(folders.begin(), folders.end(),
                                  [&](const fs::path& folder) { return IsOfSameSource(session, folder); });
  return found == folders.end() ? std::nullopt : std::optional(*found);
}

// The last folder of -o; empty without -o.
std::string OutputName(const GenerateSession& session) {
  const fs::path output = fs::path(session.options.output).lexically_normal();
  return (output.has_filename() ? output : output.parent_path()).filename().string();
}

// Whether each file of the copy that is still in the folder is as it was. Otherwise an earlier session made the copy,
// and what has come since would be lost.
bool IsAsKept(const fs::path& folder, const fs::path& copy) {
  for (const auto& [name, type] : ListSkillFolder(copy, {}).entries) {
    const Result<std::string> now = ReadFile(folder / name);
    if (!now && now.error().kind == ErrorKind::kNotFound) continue;  // removed before a crash
    const Result<std::string> kept = ReadFile(copy / name);
    if (!now || !kept || *now != *kept) return false;
  }
  return true;
}

}  // namespace

bool SaysNothing(const std::string& name) {
  constexpr std::string_view kWords =
      " a the my new old test tmp temp draft final generated skill skills out output result dir foo bar folder example "
      "results demo outputs trial sample try agent run here copy default untitled cases case tests eval evals suite "
      "suites teach task tasks meta data queries promptfooconfig ";
  std::string_view rest = name;
  while (!rest.empty()) {
    std::string_view word = rest.substr(0, rest.find('-'));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word.size() > 1 && word.front() == 'v') word.remove_prefix(1);
    word = word.substr(0, word.find_last_not_of("0123456789") + 1);
    if (!word.empty() && kWords.find(fmt::format(" {} ", word)) == std::string_view::npos) return false;
  }
  return true;
}

std::string NameGiven(const GenerateSession& session) {
  if (!session.options.how.name.empty()) return session.options.how.name;
  // A folder that can't be a skill's name, or whose name says nothing, doesn't make a bad one: then the name comes from
  // the teacher or the task.
  const std::string folder_name = OutputName(session);
  return SkillNameProblem(folder_name).empty() && !SaysNothing(folder_name) ? folder_name : "";
}

Status PlanPlace(GenerateSession& session) {
  GenerateCommandOptions& options = session.options;
  const auto say = [&](const std::string& line) { session.sources.told.push_back("skill    " + line); };
  if (options.overwrite && !options.log_runs)
    return InputError(
        "--overwrite can't be combined with --no-log-runs: the replaced skill is kept with the generation");
  if (session.sources.material.has_existing() && options.output.empty()) {
    say(fmt::format("{} is replaced if the new one is accepted (--accept {})", OutputFolder(session, "").string(),
                    options.accept));
    return {};
  }
  const bool given = IsPlaceGiven(session);
  const std::optional<fs::path> folder =
      given ? std::optional(OutputFolder(session, options.how.name)) : ProbableFolder(session);
  if (!folder) {
    say(fmt::format("goes to {}; the teacher chooses the name", (fs::path(options.skills_dir) / "NAME").string()));
    return {};
  }
  if (!IsTaken(session, *folder)) {
    say("goes to " + folder->string());
    return {};
  }
  if (options.overwrite) {
    if (!given) options.how.name = folder->filename().string();
    say(fmt::format("replaces {}, whose files are kept with the generation", folder->string()));
    return {};
  }
  return InputError(fmt::format(
      "{} already contains a skill{}; add one of these:\n--overwrite  to replace it; its files are kept with the "
      "generation\n--name NAME  to write another one\n--from {}  to improve it",
      folder->string(), IsOfSameSource(session, *folder) ? " made from the same sources" : "",
      ShellWord(folder->string())));
}

std::string NameToUse(const GenerateSession& session, const std::string& name) {
  constexpr int kMostTries = 1000;
  const auto taken = [&](const std::string& one) { return IsTaken(session, OutputFolder(session, one)); };
  // A task without Latin letters makes no name.
  const bool is_free = session.options.how.name.empty() && !session.sources.material.has_existing();
  if (is_free && !session.options.output.empty() && SaysNothing(name)) {
    const std::string folder = OutputName(session);
    const bool is_ascii = std::all_of(folder.begin(), folder.end(), [](char c) { return c > 0; });
    if (std::string of_folder = SkillNameFrom(folder); is_ascii && !SaysNothing(of_folder)) return of_folder;
  }
  if (IsPlaceGiven(session) || session.options.overwrite || !taken(name)) return name;
  for (int number = 2; number < kMostTries; ++number) {
    const std::string suffix = fmt::format("-{}", number);
    std::string other = name.substr(0, kMaxNameCharacters - suffix.size());
    while (other.ends_with('-')) other.pop_back();
    other += suffix;
    if (!taken(other)) return other;
  }
  return name;
}

Result<fs::path> MakeRoom(const GenerateSession& session, const fs::path& folder) {
  if (!session.options.overwrite || !IsTaken(session, folder)) return fs::path();
  ASSIGN_OR_RETURN(const fs::path copy, CopyAsPrevious(session, folder));
  if (!session.options.resume.empty() && !IsAsKept(folder, copy)) return fs::path();
  ASSIGN_OR_RETURN(const Folder target, Folder::Open(folder));
  for (const auto& [name, type] : ListSkillFolder(copy, {}).entries) RETURN_IF_ERROR(target.RemoveFile(name));
  return copy;
}

}  // namespace upskill
