// SPDX-License-Identifier: Apache-2.0
#include "audit/waivers.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <utility>

#include "util/text.h"

namespace upskill {

Result<std::vector<Waiver>> ParseWaivers(std::string_view text, const std::string& source, const AuditRules& rules) {
  static const re2::RE2 kLine(R"((\S+)\s+(\S.*?)\s+(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))\s+(\S.*))");
  std::vector<Waiver> waivers;
  std::size_t number = 0;
  for (const std::string_view line : SplitLines(text)) {
    ++number;
    const std::string_view content = Trim(line);
    if (content.empty() || content.front() == '#') continue;
    Waiver waiver;
    waiver.line = number;
    const bool is_waiver = re2::RE2::FullMatch(re2::StringPiece(content.data(), content.size()), kLine, &waiver.rule,
                                               &waiver.file, &waiver.date, &waiver.reason);
    if (!is_waiver) {
      return InputError(
          fmt::format("{}:{}: expected RULE SKILL/FILE DATE REASON, such as `fetch-and-run "
                      "pdf-tools/SKILL.md 2026-11-30 our own installer`, but found '{}'",
                      source, number, ExcerptLine(content, 80)));
    }
    if (std::none_of(rules.rules.begin(), rules.rules.end(), [&](const AuditRule& r) { return r.id == waiver.rule; }))
      return InputError(fmt::format("{}:{}: there is no rule '{}'", source, number, ExcerptLine(waiver.rule, 40)));
    waivers.push_back(std::move(waiver));
  }
  return waivers;
}

std::vector<std::string> ApplyWaivers(const std::vector<Waiver>& waivers, const std::string& skill,
                                      std::vector<AuditFinding>& findings) {
  std::map<std::pair<std::string, std::string>, std::vector<const Waiver*>> given;  // by rule and file
  for (const Waiver& waiver : waivers) {
    if (waiver.file.starts_with(skill + "/"))
      given[{waiver.rule, waiver.file.substr(skill.size() + 1)}].push_back(&waiver);
  }
  std::vector<std::string> problems;
  for (const auto& [key, lines] : given) {
    std::vector<AuditFinding*> meant;
    for (AuditFinding& finding : findings) {
      if (finding.rule == key.first && finding.file == key.second) meant.push_back(&finding);
    }
    const std::size_t line = lines.front()->line;
    const std::string what = fmt::format("{} in {}/{}", key.first, skill, ExcerptLine(key.second, 80));
    if (meant.size() > lines.size()) {
      problems.push_back(fmt::format("{}: {} of {}, and {} waived: read them, and add a line for each", line,
                                     Counted(meant.size(), "finding"), what, lines.size()));
      continue;
    }
    if (meant.size() < lines.size())
      problems.push_back(
          fmt::format("{}: {} of {}: remove what waives more", line, Counted(meant.size(), "finding"), what));
    for (std::size_t i = 0; i < meant.size(); ++i) {
      meant[i]->waived = true;
      meant[i]->waiver = fmt::format("{}: {}", lines[i]->date, lines[i]->reason);
    }
  }
  return problems;
}

}  // namespace upskill
