// SPDX-License-Identifier: Apache-2.0
#include "install/skills_cli_lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "install/skill_lock.h"
#include "skill/skill_text.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr int kReadVersion = 1;
constexpr std::uint64_t kMaxLockFile = std::uint64_t{8} << 20U;

// Where the entry's skill is. A URL of https, ssh or file, or OWNER/REPO on the host that the type means.
Result<GitSource> GitSourceOf(const Json& entry, const std::string& type) {
  std::string url = StringAt(entry, "sourceUrl");
  if (url.empty()) url = StringAt(entry, "source");
  if (!IsGitSource(url)) url = fmt::format("https://{}.com/{}", type == "gitlab" ? "gitlab" : "github", url);
  ASSIGN_OR_RETURN(GitSource source, ParseGitSource(url));
  if (const std::string ref = StringAt(entry, "ref"); !ref.empty()) source.ref = ref;
  if (const std::string path = StringAt(entry, "skillPath"); !path.empty()) source.path = path;
  return ParseGitSource(GitSourceText(source));
}

SkillsCliEntry EntryOf(const std::string& name, const Json& entry) {
  SkillsCliEntry result;
  result.name = name;
  result.sha256 = StringAt(entry, "computedHash");
  const std::string type = StringAt(entry, "sourceType");
  if (type == "local") {
    result.folder = StringAt(entry, "source");
    if (result.folder.empty() || fs::path(result.folder).is_absolute())
      result.problem = "its source isn't a path from the project's root";
  } else if (type == "github" || type == "gitlab" || type == "git") {
    Result<GitSource> source = GitSourceOf(entry, type);
    if (source) {
      result.git = *std::move(source);
    } else {
      result.problem = source.error().message;
    }
  } else {
    result.problem =
        fmt::format("its source is of the type '{}', which only `npx skills` can fetch", ExcerptLine(type, 60));
  }
  return result;
}

// The order of ICU's root collation for printable ASCII: punctuation, digits, letters; of two letters that differ only
// in case, the lower one is first.
constexpr std::string_view kCollation = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789";

bool ComesBefore(const std::string& a, const std::string& b) {
  const auto weight = [](char c) {
    const std::size_t place = kCollation.find(c);
    return place != std::string_view::npos ? place
                                           : kCollation.size() + static_cast<unsigned char>(ToLowerAscii({&c, 1})[0]);
  };
  const auto [in_a, in_b] =
      std::mismatch(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return weight(x) == weight(y); });
  if (in_a == a.end() && in_b == b.end()) return a > b;  // in ASCII, lower case has the greater codes
  return in_a == a.end() || (in_b != b.end() && weight(*in_a) < weight(*in_b));
}

}  // namespace

Result<std::vector<SkillsCliEntry>> ParseSkillsCliLock(std::string_view text, const std::string& file) {
  RETURN_IF_ERROR(CheckNoConflict(text, file));
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, file));
  const int version = JsonGet<int>(json, "version", 0);
  const Json& skills = Member(json, "skills");
  if (version != kReadVersion || !skills.is_object()) {
    return InputError(
        fmt::format("{}: not a lock of `npx skills` of version {}, the one that upskill reads", file, kReadVersion));
  }
  std::vector<SkillsCliEntry> entries;
  for (const auto& [name, entry] : skills.items()) {
    if (const std::string problem = SkillNameProblem(name); !problem.empty())
      return InputError(fmt::format("{}: {}", file, ExcerptLine(problem, 200)));
    entries.push_back(EntryOf(name, entry));
  }
  return entries;
}

Result<std::vector<SkillsCliEntry>> LoadSkillsCliLock(const fs::path& project) {
  const fs::path file = project / kSkillsCliLockFile;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxLockFile));
  return ParseSkillsCliLock(text, file.string());
}

Result<std::string> SkillsCliHash(const FileMap& files) {
  std::map<std::string, const SkillFile*, decltype(&ComesBefore)> sorted(&ComesBefore);
  for (const auto& [name, file] : files) {
    if (("/" + name).find("/node_modules/") != std::string::npos) continue;
    if (std::any_of(name.begin(), name.end(), [](char c) { return c < ' ' || c > '~'; }))
      return InputError(fmt::format("the hash can't be checked: the place of '{}' in it depends on a locale",
                                    ExcerptLine(name, 100)));
    sorted[name] = &file;
  }
  StreamingHash hash(StreamingHash::Kind::kSha256);
  for (const auto& [name, file] : sorted) {
    hash.Add(name);
    hash.Add(file->content);
  }
  return hash.Hex();
}

}  // namespace upskill
