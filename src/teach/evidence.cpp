// SPDX-License-Identifier: Apache-2.0
#include "teach/evidence.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "teach/one_line.h"
#include "teach/placeholder.h"
#include "util/fences.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kNamedItems = 3;

constexpr std::size_t kShortestIdentifier = 4;
constexpr std::ptrdiff_t kWordsOfLine = 4;  // at least
constexpr std::size_t kShortestLine = 8;    // of a fenced block, without spaces; `fi` or `});` would be anywhere
// They run what a file names: `pnpm check-types` follows from a package.json with a script `check-types`.
constexpr std::array<std::string_view, 6> kRunners = {"npm", "pnpm", "yarn", "npx", "make", "just"};

// Neither white space nor the backslashes that continue a command on the next line.
std::string WithoutSpace(std::string_view text) {
  std::string rest;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && (text.substr(i + 1).starts_with('\n') || text.substr(i + 1).starts_with("\r\n"))) continue;
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') rest += c;
  }
  return rest;
}

bool IsIdentifierCharacter(char c) {
  return IsAsciiAlphanumeric(c) || c == '_' || c == '-' || static_cast<unsigned char>(c) >= 0x80;
}

// The parts of a word around its placeholders: "_forward" of "NAME_forward". A constant such as MAX_JOBS stays whole.
std::vector<std::string_view> FixedParts(std::string_view word) {
  std::vector<std::string_view> fixed;
  bool has_placeholder = false;
  std::size_t at = 0;
  while (at < word.size()) {
    const std::size_t end = std::min(word.find_first_of("_-", at), word.size());
    const std::string_view part = word.substr(at, end - at);
    has_placeholder = has_placeholder || IsPlaceholder(part);
    if (!part.empty() && !IsPlaceholder(part)) fixed.push_back(part);
    at = end + 1;
  }
  const bool is_constant = fixed.empty() && word.find_first_of("_-") != std::string_view::npos;
  return has_placeholder && !is_constant ? fixed : std::vector{word};
}

// A text of a rule that shows where the rule is from.
struct Trait {
  std::string flat;                      // without white space
  std::vector<std::string> identifiers;  // of at least kShortestIdentifier characters, without placeholders
  bool has_placeholder = false;
};

Trait TraitOf(std::string_view text) {
  Trait trait{WithoutSpace(text), {}, false};
  for (const std::string_view word : WordsIn(text)) {
    const std::vector<std::string_view> parts = FixedParts(word);
    if (parts != std::vector{word}) trait.has_placeholder = true;
    for (const std::string_view part : parts) {
      const bool runs = std::find(kRunners.begin(), kRunners.end(), part) != kRunners.end();
      if (part.size() >= kShortestIdentifier && !runs) trait.identifiers.emplace_back(part);
    }
  }
  return trait;
}

// What a rule has in backticks, except for the skill's own files, and the lines of its fenced blocks.
struct Traits {
  std::vector<Trait> spans;
  std::vector<Trait> lines;
};

bool IsOwnFile(std::string_view text, const std::vector<std::string>& own_files) {
  for (const std::string_view folder : {"references/", "scripts/"}) {
    if (text.starts_with(folder)) text.remove_prefix(folder.size());
  }
  return std::find(own_files.begin(), own_files.end(), text) != own_files.end();
}

Traits TraitsOf(const std::string& rule, const std::vector<std::string>& own_files) {
  Traits traits;
  FenceScanner scanner;
  for (const std::string_view line : SplitLines(rule)) {
    const FenceScanner::Line kind = scanner.Take(line);
    if (kind == FenceScanner::Line::kCode) {
      Trait trait = TraitOf(line);
      if (trait.flat.size() >= kShortestLine && !trait.identifiers.empty()) traits.lines.push_back(std::move(trait));
    }
    if (kind != FenceScanner::Line::kText) continue;
    for (const std::string& span : CodeSpansOf(std::string(line))) {
      if (!WithoutSpace(span).empty() && !IsOwnFile(Trim(span), own_files)) traits.spans.push_back(TraitOf(span));
    }
  }
  return traits;
}

// As a word of its own, or in the plural.
bool HasIdentifier(std::string_view text, std::string_view identifier) {
  for (std::size_t at = text.find(identifier); at != std::string_view::npos; at = text.find(identifier, at + 1)) {
    const std::size_t end = at + identifier.size();
    const auto ends_at = [&](std::size_t i) { return i >= text.size() || !IsIdentifierCharacter(text[i]); };
    const bool begins = at == 0 || !IsIdentifierCharacter(text[at - 1]);
    if (begins && (ends_at(end) || (text[end] == 's' && ends_at(end + 1)))) return true;
  }
  return false;
}

// The parts of words with placeholders begin and end anywhere in words.
bool HasIdentifiers(const Trait& trait, std::string_view text) {
  return !trait.identifiers.empty() &&
         std::all_of(trait.identifiers.begin(), trait.identifiers.end(), [&](const std::string& identifier) {
           return trait.has_placeholder ? text.find(identifier) != std::string_view::npos
                                        : HasIdentifier(text, identifier);
         });
}

// A line of code with names of its own: it has at least half of the words, such as the function and what it calls.
bool HasMostIdentifiers(const Trait& trait, std::string_view text) {
  const auto all = static_cast<std::ptrdiff_t>(trait.identifiers.size());
  const auto found = std::count_if(trait.identifiers.begin(), trait.identifiers.end(),
                                   [&](const std::string& identifier) { return HasIdentifier(text, identifier); });
  return all >= kWordsOfLine && 2 * found >= all;
}

bool Supports(const std::string& item, const Traits& traits) {
  const std::string flat = WithoutSpace(item);
  const auto is_in = [&](const Trait& trait) { return flat.find(trait.flat) != std::string::npos; };
  return std::any_of(traits.spans.begin(), traits.spans.end(),
                     [&](const Trait& span) {
                       return is_in(span) || HasIdentifiers(span, item) || HasMostIdentifiers(span, item);
                     }) ||
         std::any_of(traits.lines.begin(), traits.lines.end(), [&](const Trait& line) {
           return is_in(line) || (line.has_placeholder && HasIdentifiers(line, item));
         });
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

// Whether a rule or a test could be made from it: not from what the agent's program told it (its environment, open
// tabs), from a headline of its reasoning, or from a call of which only the size of the result is known.
bool HasContent(const MaterialItem& item) {
  static const RE2 headline(R"(\(reasoning\) \*\*[^\n]*\*\*)");
  static const RE2 bare_call(
      R"((?s).*\n→[\s\x{a0}]*(?:Read \d+ lines?|Received [^\n]*\(200 OK\)|Found 0 files|Did \d+ search[^\n]*|)"
      R"(\(No content\)|\[the same output as [^\n]*\]))");
  const std::string text(Trim(item.text));
  if (text.starts_with("(given to the agent by its program)") || RE2::FullMatch(text, headline)) return false;
  const bool looks_up = item.kind == MaterialKind::kFact || item.kind == MaterialKind::kDeadEnd;
  return !looks_up || !RE2::FullMatch(text, bare_call);
}

}  // namespace

std::vector<std::string_view> WordsIn(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && IsIdentifierCharacter(text[end])) ++end;
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::vector<std::string> CodeSpansOf(const std::string& text) {
  std::vector<std::string> spans;
  std::size_t at = 0;
  while (true) {
    const std::size_t open = text.find('`', at);
    const std::size_t close = open == std::string::npos ? open : text.find('`', open + 1);
    if (close == std::string::npos) return spans;
    if (close > open + 1) spans.push_back(text.substr(open + 1, close - open - 1));
    at = close + 1;
  }
}

namespace {

// The beginnings of the longer words, which other forms of them share.
std::set<std::string> StemsOf(std::string_view text) {
  constexpr std::size_t kStem = 5;
  std::set<std::string> stems;
  const std::string lower = ToLowerAscii(text);
  for (const std::string_view word : WordsIn(lower)) {
    if (word.size() >= kShortestIdentifier) stems.emplace(word.substr(0, kStem));
  }
  return stems;
}

// Whether a rule in prose is lost: no line has a fifth of its longer words. One in other words has more (of ten rules
// rewritten by hand, each had at least that), and of a lost one, other rules may have that many, too.
bool IsLost(std::string_view rule, const std::vector<std::set<std::string>>& lines) {
  const std::set<std::string> stems = StemsOf(rule);
  return !rule.starts_with('#') && stems.size() >= static_cast<std::size_t>(kWordsOfLine) &&
         std::none_of(lines.begin(), lines.end(), [&](const std::set<std::string>& line) {
           const auto kept =
               std::count_if(stems.begin(), stems.end(), [&](const auto& stem) { return line.contains(stem); });
           return 5 * static_cast<std::size_t>(kept) >= stems.size();
         });
}

}  // namespace

std::vector<std::string> LostFacts(const SkillText& before, const SkillText& after) {
  std::string now = after.description + "\n" + after.body;
  for (const auto* const files : {&after.references, &after.scripts}) {
    for (const auto& [name, text] : *files) now += fmt::format("\n{}\n{}", name, text);
  }
  std::vector<std::set<std::string>> lines;
  for (const std::string_view line : SplitLines(now)) lines.push_back(StemsOf(line));
  now = WithoutSpace(now);
  std::vector<std::string> lost;
  bool fenced = false;
  std::size_t number = 0;
  for (const std::string_view line : SplitLines(before.body)) {
    ++number;
    if (Trim(line).starts_with("```")) {
      fenced = !fenced;
      continue;
    }
    const bool counts = WithoutSpace(line).size() >= kShortestLine;
    std::vector<std::string> facts = CodeSpansOf(std::string(line));
    if (fenced) facts = counts ? std::vector<std::string>{std::string(Trim(line))} : std::vector<std::string>();
    const auto gone = std::find_if(facts.begin(), facts.end(), [&](const std::string& fact) {
      return now.find(WithoutSpace(fact)) == std::string::npos;
    });
    if (gone != facts.end()) {
      lost.push_back(fmt::format("line {}: `{}`", number, CutToColumns(OneLine(*gone), 60)));
    } else if (!fenced && IsLost(line, lines)) {
      lost.push_back(fmt::format("line {}: \"{}\"", number, CutToColumns(OneLine(line), 60)));
    }
  }
  return lost;
}

bool IsSupported(const Rule& rule, const Material& material, const std::vector<std::string>& own_files) {
  const Traits traits = TraitsOf(rule.text, own_files);
  bool cites = false;
  for (const std::string& id : rule.cites) {
    const MaterialItem* item = FindItem(material, id);
    if (item == nullptr) continue;
    cites = true;
    if (Supports(item->text, traits)) return true;
  }
  return traits.spans.empty() || !cites;
}

std::vector<std::string> DropUnsupportedRules(const Material& material, const PromptCopies& copies, Draft& draft) {
  std::vector<std::string> own_files;
  for (const auto* files : {&draft.references, &draft.scripts}) {
    for (const auto& [name, content] : *files) own_files.push_back(name);
  }
  std::vector<std::string> dropped;
  for (Section& section : draft.sections) {
    std::erase_if(section.rules, [&](const Rule& rule) {
      if (!SaysNothing(rule.text) && !copies.Has(rule.text) && IsSupported(rule, material, own_files)) return false;
      dropped.emplace_back(Trim(rule.text));
      if (!rule.cites.empty()) dropped.back() += fmt::format(" ({})", fmt::join(rule.cites, ", "));
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
  Coverage coverage;
  for (const MaterialItem& item : material.items) {
    const bool is_touched = touched.contains(item.id);
    if (!is_touched && !HasContent(item)) continue;
    ++coverage.items;
    if (!is_touched) rest.push_back(&item);
  }
  std::stable_sort(rest.begin(), rest.end(),
                   [](const MaterialItem* a, const MaterialItem* b) { return RankOf(a->kind) < RankOf(b->kind); });
  for (const MaterialItem* item : rest) coverage.untouched.push_back(item->id);
  return coverage;
}

std::string CoverageLine(const Coverage& coverage, const Material& material) {
  const std::size_t untouched = coverage.untouched.size();
  std::string line =
      fmt::format("{} of {} with content in the material {} in a rule or a test", coverage.items - untouched,
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
