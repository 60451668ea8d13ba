// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "skill/suite.h"
#include "teach/draft.h"
#include "teach/material.h"
#include "teach/rule.h"

namespace upskill {

// Whether a rule's cited items hold at least one of the texts that it has in backticks, apart from white space. True if
// it has none, or cites no item.
bool IsSupported(const Rule& rule, const Material& material);

// Takes the rules that aren't supported out of a draft, and sections that are left without rules; "RULE (IDS)" of each.
std::vector<std::string> DropUnsupportedRules(const Material& material, Draft& draft);

// All rules of a draft, in order.
std::vector<Rule> RulesOf(const Draft& draft);

// What tests and rules make of the material.
struct Coverage {
  std::size_t items = 0;
  std::vector<std::string> untouched;  // ids of items that no test and no rule cites, the most important ones first
};

// Important are first what the user corrected, then what failed and was fixed, facts, commands and files; among equals,
// what comes first in the material.
Coverage CoverageOf(const Material& material, const std::vector<Rule>& rules, const std::vector<Case>& cases);

// "31 of 40 items of the material are in a rule or a test; not touched: d4 (error → fix: …), d9 (…) and 7 more".
std::string CoverageLine(const Coverage& coverage, const Material& material);

}  // namespace upskill
