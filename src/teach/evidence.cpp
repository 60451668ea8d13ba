// SPDX-License-Identifier: Apache-2.0
#include "teach/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "teach/extract.h"
#include "teach/one_line.h"
#include "util/fences.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kNamedItems = 3;

std::string WithoutSpace(std::string_view text) {
  std::string rest;
  for (const char c : text) {
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') rest += c;
  }
  return rest;
}

// Outside fenced blocks.
std::vector<std::string> BacktickedTextsOf(const std::string& rule) {
  std::vector<std::string> texts;
  FenceScanner scanner;
  for (const std::string_view line : SplitLines(rule)) {
    if (scanner.Take(line) != FenceScanner::Line::kText) continue;
    for (const std::string& span : CodeSpansOf(std::string(line))) {
      if (std::string flat = WithoutSpace(span); !flat.empty()) texts.push_back(std::move(flat));
    }
  }
  return texts;
}

const MaterialItem* FindItem(const Material& material, const std::string& id) {
  const auto found = std::find_if(material.items.begin(), material.items.end(),
                                  [&](const MaterialItem& item) { return item.id == id; });
  return found == material.items.end() ? nullptr : &*found;
}

int RankOf(MaterialKind kind) {
  switch (kind) {
    case MaterialKind::kCorrection:
      return 0;
    case MaterialKind::kFix:
      return 1;
    case MaterialKind::kFact:
    case MaterialKind::kTool:
      return 2;
    case MaterialKind::kCommand:
      return 3;
    case MaterialKind::kFile:
      return 4;
    case MaterialKind::kFinding:
    case MaterialKind::kDocument:
      return 5;
    case MaterialKind::kEpisode:
    case MaterialKind::kDeadEnd:
      break;
  }
  return 6;
}

}  // namespace

bool IsSupported(const Rule& rule, const Material& material) {
  const std::vector<std::string> texts = BacktickedTextsOf(rule.text);
  bool cites = false;
  for (const std::string& id : rule.cites) {
    const MaterialItem* item = FindItem(material, id);
    if (item == nullptr) continue;
    cites = true;
    const std::string flat = WithoutSpace(item->text);
    if (std::any_of(texts.begin(), texts.end(),
                    [&](const std::string& text) { return flat.find(text) != std::string::npos; }))
      return true;
  }
  return texts.empty() || !cites;
}

std::vector<std::string> DropUnsupportedRules(const Material& material, Draft& draft) {
  std::vector<std::string> dropped;
  for (Section& section : draft.sections) {
    std::erase_if(section.rules, [&](const Rule& rule) {
      if (IsSupported(rule, material)) return false;
      dropped.push_back(fmt::format("{} ({})", CutToColumns(OneLine(rule.text), 100), fmt::join(rule.cites, ", ")));
      return true;
    });
  }
  std::erase_if(draft.sections, [](const Section& section) { return section.rules.empty(); });
  return dropped;
}

std::vector<Rule> RulesOf(const Draft& draft) {
  std::vector<Rule> rules;
  for (const Section& section : draft.sections) rules.insert(rules.end(), section.rules.begin(), section.rules.end());
  return rules;
}

Coverage CoverageOf(const Material& material, const std::vector<Rule>& rules, const std::vector<Case>& cases) {
  std::set<std::string> touched;
  for (const Rule& rule : rules) touched.insert(rule.cites.begin(), rule.cites.end());
  for (const Case& test_case : cases) {
    if (!test_case.raw.is_object() || !test_case.raw.contains("cites")) continue;
    for (const Json& id : test_case.raw.at("cites")) {
      if (id.is_string()) touched.insert(id.get<std::string>());
    }
  }
  std::vector<const MaterialItem*> rest;
  for (const MaterialItem& item : material.items) {
    if (!touched.contains(item.id)) rest.push_back(&item);
  }
  std::stable_sort(rest.begin(), rest.end(),
                   [](const MaterialItem* a, const MaterialItem* b) { return RankOf(a->kind) < RankOf(b->kind); });
  Coverage coverage;
  coverage.items = material.items.size();
  for (const MaterialItem* item : rest) coverage.untouched.push_back(item->id);
  return coverage;
}

std::string CoverageLine(const Coverage& coverage, const Material& material) {
  const std::size_t untouched = coverage.untouched.size();
  std::string line = fmt::format("{} of {} of the material {} in a rule or a test", coverage.items - untouched,
                                 Counted(coverage.items, "item"), coverage.items - untouched == 1 ? "is" : "are");
  for (std::size_t i = 0; i < std::min(untouched, kNamedItems); ++i) {
    const MaterialItem* item = FindItem(material, coverage.untouched[i]);
    line += fmt::format("{}{} ({}: {})", i == 0 ? "; not touched: " : ", ", coverage.untouched[i],
                        item == nullptr ? "" : MaterialKindTitle(item->kind),
                        item == nullptr ? "" : CutToColumns(OneLine(item->text), 60));
  }
  if (untouched > kNamedItems) line += fmt::format(" and {} more", untouched - kNamedItems);
  return line;
}

}  // namespace upskill
