// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "audit/audit_rules.h"
#include "skill/skill_tree.h"

namespace upskill {

// A place in a skill that a rule has found.
struct AuditFinding {
  std::string rule;
  Severity severity = Severity::kNote;
  std::string file;      // relative to the skill's folder
  std::size_t line = 0;  // from 1; 0: the file as a whole
  std::string reason;
  std::string excerpt;  // the text that was found, shortened; control characters and invisible ones as \u{…}
  bool waived = false;
  std::string waiver;  // date and reason, if it is waived
};

// The files of a skill are only read, never run. Time and memory grow with their size and with the number of rules: the
// engine is linear, the first 2 MiB of each file are read (a finding says so), what is decoded is no more than that
// again, and each rule finds at most 20 places in a file. Findings are ordered by severity, file and line.
std::vector<AuditFinding> AuditSkill(const FileMap& files, const AuditRules& rules);

// How many findings of this severity aren't waived.
std::size_t CountFindings(const std::vector<AuditFinding>& findings, Severity severity);

// A skill's folder as AuditSkill takes it: the files without links, .git and what follows in `left_out`; a link is an
// entry whose text names its target, so that rules see it. Error: too many or too large files.
Result<FileMap> ReadAuditedFolder(const std::string& folder);

}  // namespace upskill
