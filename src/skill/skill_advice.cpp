// SPDX-License-Identifier: Apache-2.0
#include "skill/skill_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "skill/frontmatter.h"
#include "skill/skeleton.h"
#include "skill/skill_tree.h"
#include "skill/unicode_text.h"
#include "util/byte_order_mark.h"
#include "util/fences.h"
#include "util/files.h"
#include "util/nearest_name.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxShortDescription = 500;
constexpr std::size_t kMaxScriptBytes = std::size_t{1} << 20U;

SkillFinding AdviceAt(const StrictYaml& value, std::string message) {
  return {std::move(message), value.line, value.column};
}

// Whether the description has a word such as "when" or "use".
bool SaysWhen(const std::string& description) {
  constexpr std::array<std::string_view, 7> kWords = {"when", "whenever", "use", "uses", "used", "using", "trigger"};
  const std::string text = ToLowerAscii(description);
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && IsAsciiAlphanumeric(text[end])) ++end;
    if (std::find(kWords.begin(), kWords.end(), std::string_view(text).substr(begin, end - begin)) != kWords.end())
      return true;
    begin = end + 1;
  }
  return false;
}

void AdviseOnName(const StrictYaml& field, std::vector<SkillFinding>& advice) {
  const std::string name = NormalizeNfkc(TrimUnicode(field.text));
  for (const std::string_view reserved : {"anthropic", "claude"}) {
    if (ToLowerAscii(name).find(reserved) == std::string::npos) continue;
    advice.push_back(
        AdviceAt(field, fmt::format("names with '{}' are reserved by Anthropic; choose another one", reserved)));
  }
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) { return c == '-' || IsAsciiAlphanumeric(c); });
  if (!plain)
    advice.push_back(AdviceAt(field, "OpenCode and skill-creator accept only a to z, 0 to 9 and hyphens in a name"));
}

void AdviseOnDescription(const StrictYaml& field, std::vector<SkillFinding>& advice) {
  if (!SaysWhen(field.text)) {
    advice.push_back(AdviceAt(field,
                              "the description doesn't say when to use the skill; agents decide by it, so add a "
                              "sentence such as \"Use it when …\""));
  }
  if (field.text.find_first_of("<>") != std::string::npos)
    advice.push_back(AdviceAt(field, "skill-creator's validator refuses '<' and '>' in a description"));
}

void AdviseOnFields(const StrictYaml& fields, std::vector<SkillFinding>& advice) {
  constexpr std::array<std::string_view, 3> kOfClaudeCode = {"argument-hint", "disable-model-invocation",
                                                             "user-invocable"};
  const std::vector<std::string> known = {"allowed-tools", "compatibility", "description",
                                          "license",       "metadata",      "name"};
  for (const StrictYaml::Key& key : fields.keys) {
    if (std::find(known.begin(), known.end(), key.text) != known.end()) continue;
    const bool claude = std::find(kOfClaudeCode.begin(), kOfClaudeCode.end(), key.text) != kOfClaudeCode.end();
    const std::string reason = claude ? "is read by Claude Code and some others, and refused by strict validators"
                                      : "isn't part of the specification; keep such values under 'metadata'";
    advice.push_back(
        {fmt::format("the key '{}' {}{}", ExcerptLine(key.text, 60), reason, claude ? "" : DidYouMean(key.text, known)),
         key.line, key.column});
  }
  if (const StrictYaml* const name = fields.Find("name")) AdviseOnName(*name, advice);
  if (const StrictYaml* const description = fields.Find("description")) AdviseOnDescription(*description, advice);
  const StrictYaml* const metadata = fields.Find("metadata");
  const StrictYaml* const summary = metadata == nullptr ? nullptr : metadata->Find("short-description");
  if (summary != nullptr && CountCodePoints(summary->text) > kMaxShortDescription) {
    advice.push_back(AdviceAt(
        *summary, fmt::format("Codex refuses a short-description of more than {} characters", kMaxShortDescription)));
  }
}

// A link's target without title, fragment and query; empty if it isn't a path.
std::string PathOfLink(std::string_view target) {
  target = Trim(target);
  const bool bracketed = target.starts_with('<') && target.find('>') != std::string_view::npos;
  if (bracketed) target = target.substr(1, target.find('>') - 1);
  target = target.substr(0, target.find_first_of(bracketed ? "#?" : " \t#?"));
  const std::size_t colon = target.find(':');
  const bool has_scheme =
      colon != std::string_view::npos && colon > 1 &&
      std::all_of(target.begin(), target.begin() + static_cast<std::ptrdiff_t>(colon), IsAsciiAlphanumeric);
  if (has_scheme || target.starts_with("//")) return "";
  std::string path;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const bool space = target.substr(i, 3) == "%20";
    path += space ? ' ' : target[i];
    if (space) i += 2;
  }
  return path;
}

// What is wrong with a link to `path`; empty: nothing.
std::string ProblemOfLink(const std::string& path, const fs::path& folder) {
  const std::string shown = ExcerptLine(path, 80);
  if (path.starts_with('/')) return fmt::format("'{}' is an absolute path; write it relative to the skill", shown);
  const std::string plain = fs::path(path).lexically_normal().generic_string();
  if (plain == ".." || plain.starts_with("../")) return fmt::format("'{}' is outside the skill's folder", shown);
  std::error_code code;
  if (path.find('\0') == std::string::npos && fs::exists(folder / path, code)) return "";
  return fmt::format("'{}' doesn't exist in the skill's folder", shown);
}

// Reads the body line by line.
class BodyAdvice {
 public:
  BodyAdvice(const SpecifiedSkill& skill, const fs::path& folder, std::vector<SkillFinding>& advice)
      : line_(skill.body_line), folder_(folder), advice_(advice) {}

  void Take(std::string_view line) {
    if (fences_.Take(line) == FenceScanner::Line::kText) FindLinks(line);
    FindMachinePaths(line);
    ++line_;
  }

 private:
  void FindLinks(std::string_view line) {
    bool code = false;
    std::size_t column = 1;
    std::size_t counted = 0;  // bytes that `column` includes
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '`') code = !code;
      if (code || line.substr(i, 2) != "](") continue;
      const std::size_t end = line.find(')', i);
      if (end == std::string_view::npos) return;
      const std::size_t target = i + 2;
      column += CountCodePoints(line.substr(counted, target - counted));
      counted = target;
      const std::string path = PathOfLink(line.substr(target, end - target));
      const std::string problem = path.empty() ? "" : ProblemOfLink(path, folder_);
      if (!problem.empty()) advice_.push_back({fmt::format("the link {}", problem), line_, column});
      i = end;
    }
  }

  // One for each line.
  void FindMachinePaths(std::string_view line) {
    for (const std::string_view start : {"/home/", "/Users/", ":\\Users\\"}) {
      const std::size_t at = line.find(start);
      if (at == std::string_view::npos || at + start.size() == line.size()) continue;
      if (!IsAsciiAlphanumeric(line[at + start.size()]) ||
          (at > 0 && start[0] == '/' && IsAsciiAlphanumeric(line[at - 1])))
        continue;
      const std::size_t end = line.find_first_of(" \t\"'`)", at);
      advice_.push_back({fmt::format("'{}' is a path of one machine; write it relative to the skill or the project",
                                     ExcerptLine(line.substr(at, end - at), 80)),
                         line_, 1 + CountCodePoints(line.substr(0, at))});
      return;
    }
  }

  FenceScanner fences_;
  std::size_t line_;
  const fs::path& folder_;
  std::vector<SkillFinding>& advice_;
};

void AdviseOnBody(const SpecifiedSkill& skill, const fs::path& folder, std::vector<SkillFinding>& advice) {
  const std::vector<std::string_view> lines = SplitLines(skill.body);
  if (lines.size() > kAdvisedBodyLines) {
    advice.push_back(
        {fmt::format("the body has {} lines; move what isn't always needed to files in references/ to stay "
                     "within {}",
                     WithThousands(static_cast<long long>(lines.size())), kAdvisedBodyLines),
         skill.body_line, 1});
  }
  const std::size_t tokens = EstimateTokens(skill.body);
  if (tokens > kAdvisedBodyTokens) {
    advice.push_back({fmt::format("the body has about {} tokens; move what isn't always needed to files in references/ "
                                  "to stay within {}",
                                  WithThousands(static_cast<long long>(tokens)),
                                  WithThousands(static_cast<long long>(kAdvisedBodyTokens))),
                      skill.body_line, 1});
  }
  if (Trim(skill.body).empty())
    advice.push_back({"nothing follows the frontmatter; write what an agent should do", skill.body_line, 1});
  BodyAdvice body(skill, folder, advice);
  for (const std::string_view line : lines) body.Take(line);
}

void AdviseOnScripts(const fs::path& folder, std::vector<SkillFinding>& advice) {
  for (const std::string& name : ListSkillFiles(folder)) {
    if (!name.starts_with("scripts/")) continue;
    std::error_code code;
    const fs::perms allowed = fs::status(folder / name, code).permissions();
    if (code || (allowed & fs::perms::owner_exec) != fs::perms::none) continue;
    const Result<std::string> text = ReadFile(folder / name, kMaxScriptBytes);
    if (!text || !text->starts_with("#!")) continue;
    advice.push_back({fmt::format("{} starts with '#!' but isn't executable; run `chmod +x {}`", ExcerptLine(name, 80),
                                  ExcerptLine(ShellWord(name), 80))});
  }
}

// Where text of `upskill init` wasn't replaced, and cases that other programs can't read.
void AdviseOnPlaceholders(const SpecifiedSkill& skill, const fs::path& folder, std::vector<SkillFinding>& advice) {
  if (const StrictYaml* const description = skill.fields.Find("description");
      description != nullptr && Trim(description->text) == kSkeletonDescription)
    advice.push_back(
        AdviceAt(*description,
                 "the description is the one that `upskill init` wrote; say what this skill does and when to use it"));
  std::size_t line = skill.body_line;
  std::string_view rest = skill.body;
  for (const std::string_view placeholder :
       {std::string_view(kSkeletonInstruction), std::string_view(kSkeletonExample)}) {
    const std::size_t at = rest.find(Trim(placeholder));
    if (at == std::string_view::npos) continue;
    line += static_cast<std::size_t>(std::count(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    rest.remove_prefix(at);
    advice.push_back(
        {"these instructions are those that `upskill init` wrote; replace them by the skill's own", line, 1});
  }
  for (const char* name : {"skill_meta.json", "tests.json"}) {
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20U;
    const Result<std::string> cases = ReadFile(folder / name, kMostBytes);
    if (cases && cases->starts_with(kByteOrderMark)) {
      advice.push_back({fmt::format(
          "{} starts with a byte order mark, which readers of JSON may refuse; save it without one", name)});
    }
    if (cases && cases->find(kSkeletonQuestion) != std::string::npos)
      advice.push_back(
          {fmt::format("{} has the case that `upskill init` wrote (\"{}\"); replace it by one of the skill's "
                       "own",
                       name, kSkeletonQuestion)});
  }
}

}  // namespace

std::vector<SkillFinding> FindSkillAdvice(const SpecifiedSkill& skill, const fs::path& folder) {
  std::vector<SkillFinding> advice;
  if (skill.shared_fence_line > 0) {
    advice.push_back(
        {"a '---' that delimits the frontmatter shares its line with other text; most agents need it on a "
         "line of its own, and read another description or none",
         skill.shared_fence_line, 1});
  }
  AdviseOnFields(skill.fields, advice);
  AdviseOnBody(skill, folder, advice);
  AdviseOnScripts(folder, advice);
  AdviseOnPlaceholders(skill, folder, advice);
  return advice;
}

}  // namespace upskill
