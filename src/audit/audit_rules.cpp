// SPDX-License-Identifier: Apache-2.0
#include "audit/audit_rules.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "util/invariant.h"

namespace upskill {
namespace {

constexpr std::array<std::string_view, 3> kSeverities = {"severe", "warning", "note"};
constexpr std::array<std::string_view, 7> kPlaces = {"any", "text", "scripts", "frontmatter", "hidden", "raw", "name"};

using Words = std::map<std::string, std::string, std::less<>>;

// `<<NAME>>` stands for the text that [words] gives the name.
std::string WithWords(std::string pattern, const Words& words) {
  for (const auto& [name, value] : words) {
    const std::string mark = fmt::format("<<{}>>", name);
    for (std::size_t at = pattern.find(mark); at != std::string::npos; at = pattern.find(mark, at + value.size()))
      pattern.replace(at, mark.size(), value);
  }
  return pattern;
}

Result<AuditPatterns> PatternsOf(const toml::node& list, const Words& words) {
  AuditPatterns patterns;
  if (!list.is_array()) return InputError("patterns must be a list");
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(false);
  for (const toml::node& node : *list.as_array()) {
    const std::string text = fmt::format("(?m)(?:{})", WithWords(node.value_or(std::string()), words));
    auto pattern = std::make_unique<re2::RE2>(text, options);
    if (!pattern->ok()) return InputError(fmt::format("'{}' isn't a pattern: {}", text, pattern->error()));
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

Result<AuditRule> RuleOf(const toml::table& table, const Words& words, AuditRule rule) {
  for (const auto& [key, node] : table) {
    const std::string_view name = key.str();
    if (name == "patterns" || name == "with" || name == "trusts") {
      ASSIGN_OR_RETURN((name == "with"     ? rule.with
                        : name == "trusts" ? rule.trusts
                                           : rule.patterns),
                       PatternsOf(node, words));
    } else if (name == "reason" || name == "finds" || name == "leaves") {
      (name == "reason" ? rule.reason : name == "finds" ? rule.finds : rule.leaves) = node.value_or(std::string());
    } else if (name == "in_file" || name == "negatable") {
      (name == "in_file" ? rule.in_file : rule.negatable) = node.value_or(false);
    } else {
      return InputError(fmt::format("unknown key '{}' in rule '{}'", name, rule.id));
    }
  }
  if (rule.reason.empty() || rule.patterns.empty() || rule.finds.empty() || rule.leaves.empty())
    return InputError(fmt::format("rule '{}' needs 'reason', 'patterns', 'finds' and 'leaves'", rule.id));
  return rule;
}

// The rules of one severity, by where they look.
Status AddRules(const toml::table& places, Severity severity, const Words& words, std::vector<AuditRule>& rules) {
  for (const auto& [where, node] : places) {
    const auto* const place = std::find(kPlaces.begin(), kPlaces.end(), where.str());
    if (place == kPlaces.end() || !node.is_table())
      return InputError(fmt::format("rules can't look in '{}'", where.str()));
    for (const auto& [id, rule] : *node.as_table()) {
      if (!rule.is_table()) return InputError(fmt::format("rule '{}' must be a table", id.str()));
      AuditRule named;
      named.id = id.str();
      named.severity = severity;
      named.where = static_cast<AuditPlace>(place - kPlaces.begin());
      ASSIGN_OR_RETURN(AuditRule read, RuleOf(*rule.as_table(), words, std::move(named)));
      rules.push_back(std::move(read));
    }
  }
  return {};
}

Result<AuditRules> RulesOf(const toml::table& table) {
  Words words;
  if (const toml::table* const given = table["words"].as_table()) {
    for (const auto& [key, node] : *given)
      words[std::string(key.str())] = WithWords(node.value_or(std::string()), words);
  }
  AuditRules rules;
  for (const auto& [key, node] : table) {
    const std::string_view name = key.str();
    const auto* const severity = std::find(kSeverities.begin(), kSeverities.end(), name);
    if (severity != kSeverities.end() && node.is_table()) {
      RETURN_IF_ERROR(
          AddRules(*node.as_table(), static_cast<Severity>(severity - kSeverities.begin()), words, rules.rules));
    } else if (name == "negations" || name == "encouragements" || name == "warned") {
      ASSIGN_OR_RETURN((name == "negations"        ? rules.negations
                        : name == "encouragements" ? rules.encouragements
                                                   : rules.warned),
                       PatternsOf(node, words));
    } else if (name != "words") {
      return InputError(fmt::format("unknown key '{}'", name));
    }
  }
  return rules;
}

}  // namespace

std::string_view SeverityName(Severity severity) { return kSeverities.at(static_cast<std::size_t>(severity)); }

Result<AuditRules> ParseAuditRules(std::string_view text) {
  try {
    return RulesOf(toml::parse(text));
  } catch (const std::exception& error) {
    return InputError(fmt::format("audit_rules.toml: {}", error.what()));
  }
}

const AuditRules& BuiltInAuditRules() {
  static const AuditRules kRules = [] {
    Result<AuditRules> rules = ParseAuditRules(AuditRulesText());
    CHECK(rules);
    return *std::move(rules);
  }();
  return kRules;
}

}  // namespace upskill
