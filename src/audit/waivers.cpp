// SPDX-License-Identifier: Apache-2.0
#include "audit/waivers.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

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

void ApplyWaivers(const std::vector<Waiver>& waivers, const std::string& skill, std::vector<AuditFinding>& findings) {
  for (AuditFinding& finding : findings) {
    finding.waived = finding.waived || std::any_of(waivers.begin(), waivers.end(), [&](const Waiver& waiver) {
                       return waiver.rule == finding.rule && waiver.file == fmt::format("{}/{}", skill, finding.file);
                     });
  }
}

}  // namespace upskill
