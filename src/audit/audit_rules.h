// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace re2 {
class RE2;
}

namespace upskill {

enum class Severity { kSevere, kWarning, kNote };

std::string_view SeverityName(Severity severity);  // "severe", "warning", "note"

enum class AuditPlace { kAny, kText, kScripts, kFrontmatter, kHidden, kRaw, kName };

using AuditPatterns = std::vector<std::unique_ptr<re2::RE2>>;

// What assets/audit_rules.toml says of a rule; the comment at its top explains the keys.
struct AuditRule {
  std::string id;
  Severity severity = Severity::kSevere;
  AuditPlace where = AuditPlace::kAny;
  std::string reason;
  AuditPatterns patterns;
  AuditPatterns with;
  AuditPatterns trusts;
  bool in_file = false;
  bool negatable = true;
  std::string finds;
  std::string leaves;
};

struct AuditRules {
  std::vector<AuditRule> rules;
  AuditPatterns negations;       // make what follows them in a sentence a warning
  AuditPatterns encouragements;  // "never skip": with these, it is none
  AuditPatterns warned;          // the same for the heading, the line before and the rest of the line
};

// Reads rules. Errors name the rule: a key that is unknown or missing, a pattern that isn't one of RE2.
Result<AuditRules> ParseAuditRules(std::string_view text);

// Those of assets/audit_rules.toml.
const AuditRules& BuiltInAuditRules();

// The content of the file.
std::string_view AuditRulesText();

}  // namespace upskill
