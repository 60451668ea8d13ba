// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "audit/audit.h"
#include "util/result.h"

namespace upskill {

// A line of a file of waivers, `RULE FILE DATE REASON`: somebody has read what a rule finds in a file, and accepts it.
// FILE begins with the name of the skill's folder and may contain spaces. Blank lines and those with a # are left out.
struct Waiver {
  std::string rule;
  std::string file;
  std::string date;
  std::string reason;
  std::size_t line = 0;
};

// `source` names the text in errors: a line of another form, a date that isn't like 2026-11-30, an unknown rule.
Result<std::vector<Waiver>> ParseWaivers(std::string_view text, const std::string& source, const AuditRules& rules);

// Marks the findings in the skill whose folder has this name. A waiver is for one finding: if a file has more findings
// of a rule than waivers, some came later, and none is marked. Returns what is wrong with the skill's waivers, such as
// that there is nothing to waive.
std::vector<std::string> ApplyWaivers(const std::vector<Waiver>& waivers, const std::string& skill,
                                      std::vector<AuditFinding>& findings);

}  // namespace upskill
