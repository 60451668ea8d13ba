// SPDX-License-Identifier: Apache-2.0
#include "trace/digest/digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "trace/digest/detail_lines.h"
#include "trace/digest/digest_text.h"
#include "trace/digest/excerpt.h"
#include "trace/digest/transcript.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

constexpr std::array<DigestKind, 8> kKinds = {DigestKind::kEpisode, DigestKind::kCorrection, DigestKind::kFix,
                                              DigestKind::kCommand, DigestKind::kFile,       DigestKind::kFact,
                                              DigestKind::kFinding, DigestKind::kDeadEnd};

// What an item of several traces is worth more than one of a single trace.
constexpr double kAgreementValue = 6;

const char* OutcomeWord(const Trace& trace) {
  if (trace.passed_checks) return "passed the checks of its task";
  if (!trace.succeeded) return "outcome not recorded";
  return *trace.succeeded ? "succeeded" : "failed";
}

// Items with the same key in several traces become one: the form of the trace that succeeded, or the last one.
std::vector<DigestItem> Merge(std::vector<DigestItem> items, const std::vector<Trace>& traces) {
  std::vector<DigestItem> merged;
  std::map<std::pair<DigestKind, std::string>, std::size_t> known;
  std::vector<std::vector<std::size_t>> in_traces;  // of each merged item; the items of a trace are next to each other
  for (DigestItem& item : items) {
    const auto [entry, added] = known.try_emplace({item.kind, item.key}, merged.size());
    if (added) in_traces.emplace_back();
    std::vector<std::size_t>& where = in_traces[entry->second];
    if (where.empty() || where.back() != item.trace) where.push_back(item.trace);
    if (added) {
      merged.push_back(std::move(item));
      continue;
    }
    DigestItem& first = merged[entry->second];
    std::vector<EventPlace> places = std::move(first.places);
    std::move(item.places.begin(), item.places.end(), std::back_inserter(places));
    const bool known_good = traces[first.trace].succeeded.value_or(false);
    const double value = std::max(first.value, item.value);
    if (!known_good || traces[item.trace].succeeded.value_or(false)) {
      const std::size_t event = item.trace == first.trace ? first.event : item.event;
      first = std::move(item);
      first.event = event;
    }
    first.value = value;
    first.places = std::move(places);
  }
  for (std::size_t i = 0; i < merged.size(); ++i) {
    merged[i].agreement = in_traces[i].size();
    merged[i].value += kAgreementValue * static_cast<double>(merged[i].agreement - 1);
  }
  return merged;
}

// An item as a list entry: continuation lines indented, provenance at the end.
std::string EntryOf(const DigestItem& item, const std::string& body, std::size_t traces) {
  std::string text = "- ";
  for (const char c : body) {
    text += c;
    if (c == '\n') text += "  ";
  }
  const std::string agreement = traces > 1 ? fmt::format(" · in {} of {} traces", item.agreement, traces) : "";
  return text + fmt::format(" [{} · {}{}]\n", PlacesText(item.places), EvidenceWords(item.evidence), agreement);
}

std::string HeaderOf(const std::vector<Trace>& traces) {
  std::string text = fmt::format("# Digest of {} trace{}\n", traces.size(), traces.size() == 1 ? "" : "s");
  constexpr std::size_t kMaxTraces = 40;
  for (std::size_t i = 0; i < std::min(traces.size(), kMaxTraces); ++i) {
    const Trace& trace = traces[i];
    const TraceCounts counts = CountTrace(trace);
    std::string models;
    for (const std::string& model : trace.models) models += (models.empty() ? " · " : ", ") + model;
    text += fmt::format("{}: {}{} · {}, {}, {} · {}{}\n", trace.source, trace.agent_name, models,
                        Counted(counts.human_turns, "turn"), Counted(counts.tool_calls, "tool call"),
                        Counted(counts.tool_errors, "error"), OutcomeWord(trace),
                        trace.lossy ? " · the recording leaves text out" : "");
  }
  if (traces.size() > kMaxTraces) text += fmt::format("and {} more\n", traces.size() - kMaxTraces);
  return text;
}

std::string DroppedLine(const std::map<DigestKind, std::size_t>& dropped) {
  std::string list;
  for (const auto& [kind, count] : dropped) list += (list.empty() ? "" : ", ") + CountedItems(count, kind);
  return list.empty() ? "" : fmt::format("\nLeft out to fit the budget, least useful first: {}.\n", list);
}

struct Chosen {
  const DigestItem* item = nullptr;
  std::string text;        // the form that is shown
  std::size_t tokens = 0;  // of its entry
};

// Part of the budget that a kind has for itself, in percent; what it leaves goes to the best of all kinds.
std::size_t ShareOf(DigestKind kind) {
  switch (kind) {
    case DigestKind::kEpisode:
      return 14;
    case DigestKind::kCorrection:
      return 12;
    case DigestKind::kFix:
      return 28;
    case DigestKind::kCommand:
      return 8;
    case DigestKind::kFile:
      return 12;
    case DigestKind::kFact:
      return 8;
    case DigestKind::kFinding:
      return 10;
    case DigestKind::kDeadEnd:
      return 4;
  }
  return 0;
}

void SortByValue(std::vector<DigestItem>& items) {
  std::stable_sort(items.begin(), items.end(), [](const DigestItem& a, const DigestItem& b) {
    if (a.value != b.value) return a.value > b.value;
    return std::pair(a.trace, a.event) < std::pair(b.trace, b.event);
  });
}

// Items that differ in their numbers only ("make part_17") tell less with each one more; the best keeps its value.
void LowerRepetitions(std::vector<DigestItem>& items) {
  constexpr double kStep = 6;
  constexpr double kMax = 36;
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) order.emplace_back(-items[i].value, i);
  std::sort(order.begin(), order.end());
  std::map<std::string, std::size_t> seen;
  for (const auto& [value, i] : order) {
    std::string pattern(1, static_cast<char>('a' + static_cast<int>(items[i].kind)));
    std::copy_if(items[i].key.begin(), items[i].key.end(), std::back_inserter(pattern),
                 [](char c) { return c < '0' || c > '9'; });
    items[i].value -= std::min(kMax, kStep * static_cast<double>(seen[pattern]++));
  }
}

std::size_t TokensOfEntry(const DigestItem& item, const std::string& text, std::size_t traces) {
  return EstimateTokens(EntryOf(item, text, traces));
}

std::size_t UsedBy(const std::vector<Chosen>& chosen) {
  std::size_t used = 0;
  for (const Chosen& choice : chosen) used += choice.tokens + 1;
  return used;
}

// `items`: the best first. Every item in its brief form: each kind in its own share, then all in what is left. Files
// beyond their share have only their names: what they state is among the single lines.
std::vector<Chosen> Choose(const std::vector<DigestItem>& items, std::size_t traces, std::size_t budget) {
  std::vector<Chosen> chosen;
  std::vector<Chosen> waiting;
  std::map<DigestKind, std::size_t> used_by_kind;
  std::size_t used = 0;
  const auto take = [&](Chosen choice) {
    used += choice.tokens + 1;
    chosen.push_back(std::move(choice));
  };
  for (const DigestItem& item : items) {
    Chosen choice{&item, ItemText(item, ItemForm::kBrief), 0};
    choice.tokens = TokensOfEntry(item, choice.text, traces);
    std::size_t& used_here = used_by_kind[item.kind];
    if (used_here + choice.tokens + 1 > budget * ShareOf(item.kind) / 100) {
      if (item.kind == DigestKind::kFile) {
        choice.text.resize(std::min(choice.text.find('\n'), choice.text.size()));
        choice.tokens = TokensOfEntry(item, choice.text, traces);
      }
      waiting.push_back(std::move(choice));
      continue;
    }
    used_here += choice.tokens + 1;
    take(std::move(choice));
  }
  for (Chosen& choice : waiting) {
    if (used + choice.tokens + 1 <= budget) take(std::move(choice));
  }
  return chosen;
}

// Gives the best items their full form, or their brief one, as far as that fits.
void Grow(std::vector<Chosen>& chosen, std::size_t traces, std::size_t budget) {
  std::size_t used = UsedBy(chosen);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const Chosen& a, const Chosen& b) { return a.item->value > b.item->value; });
  for (Chosen& choice : chosen) {
    if (used >= budget) break;
    for (const ItemForm form : {ItemForm::kFull, ItemForm::kBrief}) {
      std::string longer = ItemText(*choice.item, form);
      if (longer.size() <= choice.text.size()) continue;
      const std::size_t tokens = TokensOfEntry(*choice.item, longer, traces);
      if (tokens <= choice.tokens || used + tokens - choice.tokens > budget) continue;
      used += tokens - choice.tokens;
      choice.text = std::move(longer);
      choice.tokens = tokens;
      break;
    }
  }
}

// Everything, if it fits. A trace much larger than the budget isn't even written out.
std::optional<Digest> WholeDigest(const std::vector<Trace>& traces, std::size_t budget, bool repeats_once) {
  // Repeated outputs and earlier versions of files are said once; of repeated lines, more than that.
  const std::size_t most_times_budget = repeats_once ? 40 : 8;
  std::size_t bytes = 0;
  for (const Trace& trace : traces) {
    for (const Event& event : trace.events) bytes += event.text.size();
  }
  if (bytes / kBytesPerToken > budget * most_times_budget) return std::nullopt;
  Digest digest;
  digest.whole = true;
  digest.text = HeaderOf(traces) + fmt::format("{}\n", DigestReadingNote());
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (traces.size() > 1) digest.text += fmt::format("\n# {}\n", traces[i].source);
    for (DigestItem& item : TranscriptOf(traces[i], i, repeats_once)) {
      digest.text += fmt::format("\n[{}] {} · {}\n{}\n", PlacesText(item.places), DigestItemTitle(item.kind),
                                 EvidenceWords(item.evidence), item.text);
      if (EstimateTokens(digest.text) > budget) return std::nullopt;
      ++digest.kept[item.kind];
      digest.cut_items += item.cut_characters > 0 ? 1 : 0;
      digest.cut_characters += item.cut_characters;
      digest.items.push_back(std::move(item));
    }
  }
  digest.tokens = EstimateTokens(digest.text);
  return digest;
}

// Parts of the budget for DetailLines, in percent: what the items leave in any case, and the most that they get of what
// the items could use to grow.
constexpr std::size_t kDetailShare = 65;
constexpr std::size_t kMostDetails = 80;

std::string ShownText(const std::vector<Chosen>& chosen) {
  std::string text;
  for (const Chosen& choice : chosen) text += choice.text + "\n";
  return text;
}

std::size_t DetailTokens(const std::vector<Chosen>& chosen, std::size_t budget) {
  const std::size_t used = UsedBy(chosen);
  return used < budget ? std::min(budget - used, budget * kMostDetails / 100) : 0;
}

// Where the session worked: paths and commands are relative to that folder.
DigestItem FolderItem(const Trace& trace, std::size_t trace_index) {
  constexpr double kAlways = 1000;
  constexpr std::size_t kMostBytes = 400;
  DigestItem item;
  item.kind = DigestKind::kFact;
  item.key = "folder " + trace.cwd;
  item.detail = TextDetail{"Working directory: " + HeadAndTail(trace.cwd, kMostBytes), false};
  item.value = kAlways;
  item.places = {PlaceOf(trace, 0)};
  item.trace = trace_index;
  item.evidence = HowKnown::kReadInFiles;
  return item;
}

// Items of all traces, merged and valued, the most useful first.
std::vector<DigestItem> CollectDigestItems(const std::vector<Trace>& traces) {
  std::vector<DigestItem> items;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (!traces[i].cwd.empty() && !traces[i].events.empty()) items.push_back(FolderItem(traces[i], i));
    for (auto* collect : {&CollectTalk, &CollectCalls, &CollectFiles}) {
      std::vector<DigestItem> more = collect(traces[i], i);
      std::move(more.begin(), more.end(), std::back_inserter(items));
    }
  }
  items = Merge(std::move(items), traces);
  LowerRepetitions(items);
  SortByValue(items);
  return items;
}

}  // namespace

std::string_view DigestReadingNote() {
  return "Each item says how it is known; \"only written\" means that nothing in the recording tried it. Lines in "
         "square "
         "brackets, such as \"[lines 10 to 27 are not in the recording]\", mark what the recording leaves out, and … "
         "marks "
         "what is left out here: don't fill these gaps with guesses.";
}

std::string KeptLine(const Digest& digest) {
  const auto counted = [&](DigestKind kind, const char* one) {
    const auto found = digest.kept.find(kind);
    const std::size_t count = found == digest.kept.end() ? 0 : found->second;
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
  };
  const std::string whole = digest.cut_items == 0
                                ? "nothing left out"
                                : fmt::format("whole but for {} characters cut from {}",
                                              WithThousands(static_cast<long long>(digest.cut_characters)),
                                              Counted(digest.cut_items, "long item"));
  return fmt::format("{} tokens, {}: {}, {}, {}, {}", WithThousands(static_cast<long long>(digest.tokens)),
                     digest.whole ? whole : "condensed", counted(DigestKind::kFix, "error → fix pair"),
                     counted(DigestKind::kFile, "file"), counted(DigestKind::kCommand, "command"),
                     counted(DigestKind::kCorrection, "correction"));
}

Digest MakeDigest(const std::vector<Trace>& traces, const DigestOptions& options) {
  for (const bool repeats_once : {false, true}) {
    if (!options.whole) break;
    const std::size_t most =
        repeats_once ? std::max(options.budget_tokens, options.whole_tokens) : options.budget_tokens;
    if (std::optional<Digest> whole = WholeDigest(traces, most, repeats_once)) return *std::move(whole);
  }
  const std::vector<DigestItem> items = CollectDigestItems(traces);
  Digest digest;
  digest.text = HeaderOf(traces) + fmt::format("{}\n", DigestReadingNote());
  // Headings and the line of what was left out.
  constexpr std::size_t kFrame = 140;
  const std::size_t fixed = EstimateTokens(digest.text) + kFrame;
  const std::size_t budget = options.budget_tokens > fixed ? options.budget_tokens - fixed : 0;
  const std::size_t details = budget * kDetailShare / 100;
  std::vector<Chosen> chosen = Choose(items, traces.size(), budget - details);
  const std::vector<DigestItem> lines =
      DetailLines(traces, ShownText(chosen), DetailTokens(chosen, budget) * kBytesPerToken, options.whole);
  std::size_t used_by_lines = 0;
  for (const DigestItem& line : lines) used_by_lines += TokensOfEntry(line, line.text, traces.size()) + 1;
  Grow(chosen, traces.size(), budget - std::min(budget, used_by_lines));
  for (const DigestItem& line : lines) chosen.push_back({&line, line.text, 0});
  std::stable_sort(chosen.begin(), chosen.end(), [](const Chosen& a, const Chosen& b) {
    return std::pair(a.item->trace, a.item->event) < std::pair(b.item->trace, b.item->event);
  });
  for (const DigestKind kind : kKinds) {
    std::string section;
    for (const Chosen& choice : chosen) {
      if (choice.item->kind != kind) continue;
      section += EntryOf(*choice.item, choice.text, traces.size());
      ++digest.kept[kind];
      digest.items.push_back(*choice.item);
      digest.items.back().text = choice.text;
    }
    if (!section.empty()) digest.text += fmt::format("\n## {}\n{}", DigestKindTitle(kind), section);
  }
  for (const DigestItem& item : items) ++digest.dropped[item.kind];
  if (!lines.empty()) digest.kept[DigestKind::kFact] -= lines.size();  // not among the candidates
  for (const auto& [kind, count] : digest.kept) digest.dropped[kind] -= count;
  std::erase_if(digest.dropped, [](const auto& entry) { return entry.second == 0; });
  digest.text += DroppedLine(digest.dropped);
  digest.tokens = EstimateTokens(digest.text);
  return digest;
}

}  // namespace upskill
