// SPDX-License-Identifier: Apache-2.0
#include "audit/audit.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

#include "audit/readable_text.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMostPlaces = 20;       // of a rule in a file
constexpr std::size_t kMostInBlock = 1500;    // bytes before and after a place that count as near
constexpr std::size_t kMostInSentence = 160;  // bytes before a place that may negate it
constexpr std::size_t kExcerptColumns = 120;

bool AnyMatches(const AuditPatterns& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const auto& pattern) { return re2::RE2::PartialMatch(re2::StringPiece(text), *pattern); });
}

std::size_t CountMatches(const AuditPatterns& patterns, std::string_view text) {
  std::size_t count = 0;
  for (const auto& pattern : patterns) {
    for (re2::StringPiece rest = re2::StringPiece(text); re2::RE2::FindAndConsume(&rest, *pattern);) ++count;
  }
  return count;
}

// The paragraph or block of code that has the place in it.
std::string_view BlockAround(std::string_view text, std::size_t begin, std::size_t end) {
  const std::size_t low = begin - std::min(begin, kMostInBlock);
  const std::size_t blank = text.substr(low, begin - low).rfind("\n\n");
  const std::size_t from = blank == std::string_view::npos ? low : low + blank;
  const std::size_t next = text.find("\n\n", end);
  return text.substr(from, std::min({next, end + kMostInBlock, text.size()}) - from);
}

// What the sentence says before the place.
std::string_view SentenceBefore(std::string_view text, std::size_t begin) {
  const std::size_t low = begin - std::min(begin, kMostInSentence);
  std::string_view before = text.substr(low, begin - low);
  for (const std::string_view end : {"\n\n", ". ", ".\n", "! ", "? ", ";", "\n- ", "\n* "}) {
    if (const std::size_t at = before.rfind(end); at != std::string_view::npos) before.remove_prefix(at + end.size());
  }
  return before;
}

std::string_view LineAt(std::string_view text, std::size_t begin) {
  return text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

// What a reader of the page is told about the place: its heading, the line before (that isn't the fence of a block of
// code), and the rest of its line.
std::string SurroundingsOf(std::string_view text, std::size_t begin, std::size_t end) {
  constexpr std::size_t kFar = 4000;
  const std::string_view before = text.substr(begin - std::min(begin, kFar), std::min(begin, kFar));
  const std::size_t heading = before.rfind("\n#");
  std::string told = fmt::format("{}\n", LineAt(text, end));
  if (heading != std::string_view::npos) told += fmt::format("{}\n", LineAt(before, heading + 1));
  std::size_t line_end = before.rfind('\n');
  while (line_end != std::string_view::npos && line_end > 0) {
    const std::size_t previous = before.rfind('\n', line_end - 1);
    const std::size_t from = previous == std::string_view::npos ? 0 : previous + 1;
    const std::string_view line = Trim(before.substr(from, line_end - from));
    if (!line.empty() && !line.starts_with("```")) return told.append(line);
    line_end = previous;
  }
  return told;
}

class FileAudit {
 public:
  FileAudit(const AuditRules& rules, const std::string& name, const SkillFile& file)
      : rules_(rules),
        name_(name),
        is_script_(IsScript(name, file.content)),
        readings_(ReadingsOf(name, file.content)) {}

  std::vector<AuditFinding> Run() {
    for (const AuditRule& rule : rules_.rules) {
      if (rule.where == AuditPlace::kName) {
        Search(rule, {Reading::kRaw, name_, 0});
      } else {
        for (const ReadableText& reading : readings_) {
          if (IsMeant(rule, reading.reading)) Search(rule, reading);
        }
      }
    }
    std::vector<AuditFinding> findings;
    for (auto& [key, finding] : found_) findings.push_back(std::move(finding));
    return findings;
  }

 private:
  bool IsMeant(const AuditRule& rule, Reading reading) const {
    switch (rule.where) {
      case AuditPlace::kRaw:
        return reading == Reading::kRaw;
      case AuditPlace::kFrontmatter:
        return reading == Reading::kFrontmatter;
      case AuditPlace::kHidden:
        return reading == Reading::kHidden;
      case AuditPlace::kText:
      case AuditPlace::kScripts:
        if (is_script_ != (rule.where == AuditPlace::kScripts)) return false;
        break;
      case AuditPlace::kAny:
      case AuditPlace::kName:
        break;
    }
    return reading != Reading::kRaw && reading != Reading::kFrontmatter;
  }

  void Search(const AuditRule& rule, const ReadableText& reading) {
    for (const auto& pattern : rule.patterns) {
      re2::StringPiece rest = re2::StringPiece(reading.text);
      re2::StringPiece match;
      while (rest.size() > 0 && pattern->Match(rest, 0, rest.size(), re2::RE2::UNANCHORED, &match, 1)) {
        const auto begin = static_cast<std::size_t>(match.data() - reading.text.data());
        const std::size_t end = begin + std::max<std::size_t>(match.size(), 1);
        rest = re2::StringPiece(std::string_view(reading.text).substr(std::min(end, reading.text.size())));
        if (!IsNearWhatItNeeds(rule, reading.text, begin, end)) continue;
        Add(rule, reading, begin, match.size());
        if (places_[rule.id] >= kMostPlaces) return;
      }
    }
  }

  static bool IsNearWhatItNeeds(const AuditRule& rule, std::string_view text, std::size_t begin, std::size_t end) {
    if (rule.with.empty()) return true;
    return AnyMatches(rule.with, rule.in_file ? text : BlockAround(text, begin, end));
  }

  bool IsNegated(std::string_view text, std::size_t begin) const {
    static const re2::RE2 kQuotation(R"(["“][^"”\n]*["”])");  // is no encouragement of the text's own
    const std::string before(SentenceBefore(text, begin));
    std::string own = before;
    re2::RE2::GlobalReplace(&own, kQuotation, "");
    return AnyMatches(rules_.negations, before) && !AnyMatches(rules_.encouragements, own);
  }

  // Whether the text says that this is an example of what is bad: a model that reads it is told, too.
  bool IsWarnedOf(std::string_view text, std::size_t begin, std::size_t end) const {
    if (is_script_ || (begin > 1 && text.substr(begin - 2, 2) == "!`")) return false;
    return AnyMatches(rules_.warned, SurroundingsOf(text, begin, end));
  }

  // Whether all that is downloaded there comes from where everybody downloads.
  static bool IsTrusted(const AuditRule& rule, std::string_view found) {
    static const re2::RE2 kUrl("(?i)(?:https?|ftp)://");
    std::size_t urls = 0;
    for (re2::StringPiece rest = re2::StringPiece(found); re2::RE2::FindAndConsume(&rest, kUrl);) ++urls;
    return urls > 0 && CountMatches(rule.trusts, found) == urls;
  }

  void Add(const AuditRule& rule, const ReadableText& reading, std::size_t begin, std::size_t length) {
    const std::string_view text = reading.text;
    const auto breaks = std::count_if(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin),
                                      [](char c) { return c == '\n' || c == '\r'; });
    const std::size_t line = reading.first_line == 0 ? 0 : reading.first_line + static_cast<std::size_t>(breaks);
    const std::string_view found = text.substr(begin, length);
    const std::string_view line_start = Trim(text.substr(text.substr(0, begin).rfind('\n') + 1, 80));
    const bool is_run = is_script_ && line_start.find_first_of("#/*") != 0;  // whatever its comments say
    const bool is_seen = rule.negatable && reading.reading != Reading::kHidden && !is_run;
    const bool is_softer =
        (is_seen && (IsNegated(text, begin) || IsWarnedOf(text, begin, begin + length))) || IsTrusted(rule, found);
    const Severity severity = is_softer ? std::max(rule.severity, Severity::kWarning) : rule.severity;
    const std::size_t line_end = std::min(text.find_first_of("\n", begin + length), text.size());
    const auto [entry, is_new] = found_.try_emplace(std::pair(rule.id, line));
    if (is_new) ++places_[rule.id];
    if (!is_new && entry->second.severity <= severity) return;
    entry->second = {
        rule.id,
        severity,
        name_,
        line,
        rule.reason,
        ExcerptLine(WithVisibleCharacters(text.substr(begin, std::min(line_end - begin, std::size_t{400}))),
                    kExcerptColumns)};
  }

  const AuditRules& rules_;
  const std::string& name_;
  bool is_script_;
  std::vector<ReadableText> readings_;
  std::map<std::pair<std::string, std::size_t>, AuditFinding> found_;  // by rule and line
  std::map<std::string, std::size_t> places_;
};

}  // namespace

std::vector<AuditFinding> AuditSkill(const FileMap& files, const AuditRules& rules) {
  std::vector<AuditFinding> findings;
  for (const auto& [name, file] : files) {
    for (AuditFinding& finding : FileAudit(rules, name, file).Run()) findings.push_back(std::move(finding));
  }
  const auto key = [](const AuditFinding& f) { return std::tie(f.severity, f.file, f.line, f.rule); };
  std::sort(findings.begin(), findings.end(),
            [&](const AuditFinding& a, const AuditFinding& b) { return key(a) < key(b); });
  return findings;
}

std::size_t CountFindings(const std::vector<AuditFinding>& findings, Severity severity) {
  return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(), [&](const AuditFinding& finding) {
    return finding.severity == severity && !finding.waived;
  }));
}

Result<FileMap> ReadAuditedFolder(const std::string& folder) {
  namespace fs = std::filesystem;
  const LeftOut is_git = [](const std::string& name) { return fs::path(name).filename() == ".git"; };
  ASSIGN_OR_RETURN(FileMap files, ReadSkillFiles(folder, is_git, OddEntries::kLeftOut, SkillLimits()));
  const SkillListing listing = ListSkillFolder(folder, is_git);
  RETURN_IF_ERROR(listing.status);
  for (const auto& [name, type] : listing.entries) {
    std::error_code code;
    if (type == fs::file_type::symlink) {
      files[name].content = "symbolic link to " + fs::read_symlink(fs::path(folder) / name, code).string();
    } else if (type != fs::file_type::regular && type != fs::file_type::directory) {
      return InputError(
          fmt::format("{} is neither a file nor a folder, so it can't be audited", (fs::path(folder) / name).string()));
    }
  }
  return files;
}

}  // namespace upskill
