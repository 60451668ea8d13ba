// SPDX-License-Identifier: Apache-2.0
#include "teach/rule.h"

#include <algorithm>
#include <string_view>

#include "util/text.h"

namespace upskill {
namespace {

void AddCites(const std::vector<std::string>& more, std::vector<std::string>& cites) {
  for (const std::string& id : more) {
    if (std::find(cites.begin(), cites.end(), id) == cites.end()) cites.push_back(id);
  }
}

}  // namespace

std::vector<Rule> RulesIn(const std::string& body, const std::vector<Rule>& rules) {
  std::vector<Rule> found;
  for (const Rule& rule : rules) {
    const std::string_view text = Trim(rule.text);
    if (!text.empty() && body.find(text) != std::string::npos) found.push_back(rule);
  }
  return found;
}

std::vector<Rule> RulesOfRewrite(const std::string& body, const std::vector<Rule>& rules,
                                 const std::vector<std::string>& cites) {
  std::vector<Rule> result = RulesIn(body, rules);
  std::string rest = body;
  for (const Rule& rule : result) {
    const std::string text(Trim(rule.text));
    if (const std::size_t at = rest.find(text); at != std::string::npos) rest.replace(at, text.size(), "\n\n");
  }
  std::string paragraph;
  const auto end_paragraph = [&] {
    if (!Trim(paragraph).empty()) result.push_back({std::string(Trim(paragraph)), cites});
    paragraph.clear();
  };
  for (const std::string_view line : SplitLines(rest)) {
    const bool ends = Trim(line).empty() || line.starts_with("# ") || line.starts_with("## ");
    if (ends) {
      end_paragraph();
    } else {
      paragraph += std::string(line) + "\n";
    }
  }
  end_paragraph();
  return result;
}

std::vector<Rule> RulesAfterEdit(const std::string& body, std::size_t at, std::size_t length,
                                 const std::string& replacement, const std::vector<Rule>& rules,
                                 const std::vector<std::string>& cites) {
  std::vector<Rule> result;
  Rule across{std::string(Trim(replacement)), cites};  // where the edit reaches beyond a rule
  bool inside = false;
  for (const Rule& rule : rules) {
    const std::string text(Trim(rule.text));
    const std::size_t begin = text.empty() ? std::string::npos : body.find(text);
    const bool touched = begin != std::string::npos && begin < at + length && at < begin + text.size();
    if (!touched) {
      result.push_back(rule);
      continue;
    }
    if (begin <= at && at + length <= begin + text.size()) {
      Rule changed = rule;
      changed.text = text;
      changed.text.replace(at - begin, length, replacement);
      AddCites(cites, changed.cites);
      if (!Trim(changed.text).empty()) result.push_back(std::move(changed));
      inside = true;
    } else {
      AddCites(rule.cites, across.cites);
    }
  }
  if (!inside && !across.text.empty() && !across.cites.empty()) result.push_back(std::move(across));
  return result;
}

}  // namespace upskill
