// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace upskill {

// A sentence of a skill with its evidence.
struct Rule {
  std::string text;                // Markdown; may contain a fenced block
  std::vector<std::string> cites;  // ids of material items
};

// The rules that are still in a body, with their texts as they were.
std::vector<Rule> RulesIn(const std::string& body, const std::vector<Rule>& rules);

// The rules that are still in a rewritten body, and the paragraphs that are new in it, each with `cites`.
std::vector<Rule> RulesOfRewrite(const std::string& body, const std::vector<Rule>& rules,
                                 const std::vector<std::string>& cites);

// What becomes of the rules when the `length` bytes at `at` in `body` are replaced: a rule that loses or gains text
// keeps its cites and gets `cites` as well. New text that belongs to no rule is a rule with `cites`, unless there are
// none.
std::vector<Rule> RulesAfterEdit(const std::string& body, std::size_t at, std::size_t length,
                                 const std::string& replacement, const std::vector<Rule>& rules,
                                 const std::vector<std::string>& cites);

}  // namespace upskill
