// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "skill/suite.h"
#include "teach/draft.h"
#include "teach/material.h"
#include "teach/rule.h"
#include "teach/weak_teacher.h"

namespace upskill {

// The words of identifier characters and hyphens in a text.
std::vector<std::string_view> WordsIn(std::string_view text);

// The texts in backticks in one line.
std::vector<std::string> CodeSpansOf(const std::string& text);

// Whether an item that the rule cites shows where it is from: the item has a text that the rule has in backticks, all
// of its words of at least four characters (of four words or more, half), or a line of a fenced block of the rule.
// White space and continued lines don't count, and a word in capitals (NAME) stands for any. True if the rule has
// nothing in backticks but the names of `own_files` (the skill's references and scripts), or cites no item.
bool IsSupported(const Rule& rule, const Material& material, const std::vector<std::string>& own_files = {});

// Takes the rules that aren't supported, or repeat the prompts, out of a draft, and sections that are left without
// rules; "RULE (IDS)" of each, in full.
std::vector<std::string> DropUnsupportedRules(const Material& material, const PromptCopies& copies, Draft& draft);

// All rules of a draft, in order.
std::vector<Rule> RulesOf(const Draft& draft);

// Of an improved skill: what the lines of the earlier body have in backticks, and the lines of its fenced blocks, that
// nothing in the new version has, as "line 12: `--release`", once for each line. And lines of prose of which hardly a
// word is left in any line of it, as "line 14: \"Ask for …\"".
std::vector<std::string> LostFacts(const SkillText& before, const SkillText& after);

// What tests and rules make of the material.
struct Coverage {
  std::size_t items = 0;               // that are cited or have content
  std::vector<std::string> untouched;  // ids of items that no test and no rule cites, the most important ones first
};

// Important are first what the user corrected, then what failed and was fixed, facts, commands and files; among equals,
// what comes first in the material. Items without content of their own don't count unless they are cited: headlines of
// reasoning, what the agent's program told it, and calls whose result isn't in the recording.
Coverage CoverageOf(const Material& material, const std::vector<Rule>& rules, const std::vector<Case>& cases);

// "31 of 40 items with content in the material are in a rule or a test; not touched: d4 (error → fix: …), d9 (…) and 7
// more".
std::string CoverageLine(const Coverage& coverage, const Material& material);

}  // namespace upskill
