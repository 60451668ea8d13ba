// SPDX-License-Identifier: Apache-2.0
#include "trace/digest/digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

constexpr std::array<DigestKind, 8> kKinds = {DigestKind::kEpisode, DigestKind::kCorrection, DigestKind::kFix,
                                              DigestKind::kCommand, DigestKind::kFile,       DigestKind::kFact,
                                              DigestKind::kFinding, DigestKind::kDeadEnd};

// What an item of several traces is worth more than one of a single trace.
constexpr double kAgreementValue = 6;
constexpr std::size_t kMaxPlaces = 6;

const char* DigestKindName(DigestKind kind) {
  switch (kind) {
    case DigestKind::kEpisode:
      return "request";
    case DigestKind::kCorrection:
      return "correction";
    case DigestKind::kFix:
      return "error and fix";
    case DigestKind::kCommand:
      return "command";
    case DigestKind::kFile:
      return "file";
    case DigestKind::kFact:
      return "fact";
    case DigestKind::kFinding:
      return "finding";
    case DigestKind::kDeadEnd:
      return "dead end";
  }
  return "item";
}

const char* OutcomeWord(const Trace& trace) {
  if (!trace.succeeded) return "outcome not recorded";
  return *trace.succeeded ? "succeeded" : "failed";
}

// Items with the same key in several traces become one: the form of the trace that succeeded, or the last one.
std::vector<DigestItem> Merge(std::vector<DigestItem> items, const std::vector<Trace>& traces) {
  std::vector<DigestItem> merged;
  std::map<std::pair<DigestKind, std::string>, std::size_t> known;
  std::map<std::size_t, std::vector<std::size_t>> in_traces;
  for (DigestItem& item : items) {
    const auto [entry, added] = known.try_emplace({item.kind, item.key}, merged.size());
    std::vector<std::size_t>& where = in_traces[entry->second];
    if (std::find(where.begin(), where.end(), item.trace) == where.end()) where.push_back(item.trace);
    if (added) {
      merged.push_back(std::move(item));
      continue;
    }
    DigestItem& first = merged[entry->second];
    std::vector<std::string> places = first.places;
    places.insert(places.end(), item.places.begin(), item.places.end());
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

std::string PlacesOf(const DigestItem& item) {
  std::string text;
  std::string_view file;  // of the place before: it is not said again
  for (std::size_t i = 0; i < std::min(item.places.size(), kMaxPlaces); ++i) {
    const std::string_view place = item.places[i];
    const std::string_view name = place.substr(0, place.rfind(':'));
    text += i == 0 ? "" : ", ";
    text += i > 0 && name == file ? place.substr(name.size()) : place;
    file = name;
  }
  if (item.places.size() > kMaxPlaces) text += fmt::format(" and {} more", item.places.size() - kMaxPlaces);
  return text;
}

// An item as a list entry: continuation lines indented, provenance at the end.
std::string EntryOf(const DigestItem& item, const std::string& body, std::size_t traces) {
  std::string text = "- ";
  for (const char c : body) {
    text += c;
    if (c == '\n') text += "  ";
  }
  const std::string agreement = traces > 1 ? fmt::format(" · in {} of {} traces", item.agreement, traces) : "";
  return text + fmt::format(" [{}{}]\n", PlacesOf(item), agreement);
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
  for (const auto& [kind, count] : dropped) {
    const std::string name = DigestKindName(kind);
    list += fmt::format("{}{} {}{}", list.empty() ? "" : ", ", count, name,
                        count == 1                ? ""
                        : name == "error and fix" ? " pairs"
                                                  : "s");
  }
  return list.empty() ? "" : fmt::format("\nLeft out to fit the budget, least useful first: {}.\n", list);
}

struct Chosen {
  const DigestItem* item = nullptr;
  bool full = false;
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

// `items`: the best first. Every item in its brief form: each kind in its own share, then all in what is left. Then the
// best ones grow to their full form.
std::vector<Chosen> Choose(const std::vector<DigestItem>& items, std::size_t traces, std::size_t budget) {
  std::vector<Chosen> chosen;
  std::vector<const DigestItem*> waiting;
  std::map<DigestKind, std::size_t> used_by_kind;
  std::size_t used = 0;
  const auto cost_of = [&](const DigestItem& item) { return EstimateTokens(EntryOf(item, item.brief, traces)) + 1; };
  for (const DigestItem& item : items) {
    const std::size_t cost = cost_of(item);
    std::size_t& used_here = used_by_kind[item.kind];
    if (used_here + cost > budget * ShareOf(item.kind) / 100) {
      waiting.push_back(&item);
      continue;
    }
    used_here += cost;
    used += cost;
    chosen.push_back({&item, false});
  }
  for (const DigestItem* item : waiting) {
    const std::size_t cost = cost_of(*item);
    if (used + cost > budget) continue;
    used += cost;
    chosen.push_back({item, false});
  }
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const Chosen& a, const Chosen& b) { return a.item->value > b.item->value; });
  for (Chosen& choice : chosen) {
    if (choice.item->full.size() <= choice.item->brief.size()) continue;
    const std::size_t brief = EstimateTokens(EntryOf(*choice.item, choice.item->brief, traces));
    const std::size_t full = EstimateTokens(EntryOf(*choice.item, choice.item->full, traces));
    if (full <= brief || used + full - brief > budget) continue;
    used += full - brief;
    choice.full = true;
  }
  return chosen;
}

}  // namespace

const char* DigestKindTitle(DigestKind kind) {
  switch (kind) {
    case DigestKind::kEpisode:
      return "Requests and how they ended";
    case DigestKind::kCorrection:
      return "Corrections by the person";
    case DigestKind::kFix:
      return "Errors and what fixed them";
    case DigestKind::kCommand:
      return "Commands that worked";
    case DigestKind::kFile:
      return "Files written";
    case DigestKind::kFact:
      return "Facts looked up";
    case DigestKind::kFinding:
      return "Findings";
    case DigestKind::kDeadEnd:
      return "Dead ends";
  }
  return "";
}

std::string KeptLine(const Digest& digest) {
  const auto counted = [&](DigestKind kind, const char* one) {
    const auto found = digest.kept.find(kind);
    const std::size_t count = found == digest.kept.end() ? 0 : found->second;
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
  };
  return fmt::format("{} tokens: {}, {}, {}, {}", WithThousands(static_cast<long long>(digest.tokens)),
                     counted(DigestKind::kFix, "error → fix pair"), counted(DigestKind::kFile, "file"),
                     counted(DigestKind::kCommand, "command"), counted(DigestKind::kCorrection, "correction"));
}

std::vector<DigestItem> CollectDigestItems(const std::vector<Trace>& traces) {
  std::vector<DigestItem> items;
  for (std::size_t i = 0; i < traces.size(); ++i) {
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

Digest MakeDigest(const std::vector<Trace>& traces, const DigestOptions& options) {
  const std::vector<DigestItem> items = CollectDigestItems(traces);
  Digest digest;
  digest.text = HeaderOf(traces);
  // Headings and the line of what was left out.
  constexpr std::size_t kFrame = 140;
  const std::size_t fixed = EstimateTokens(digest.text) + kFrame;
  const std::size_t budget = options.budget_tokens > fixed ? options.budget_tokens - fixed : 0;
  std::vector<Chosen> chosen = Choose(items, traces.size(), budget);
  std::stable_sort(chosen.begin(), chosen.end(), [](const Chosen& a, const Chosen& b) {
    return std::pair(a.item->trace, a.item->event) < std::pair(b.item->trace, b.item->event);
  });
  for (const DigestKind kind : kKinds) {
    std::string section;
    for (const Chosen& choice : chosen) {
      if (choice.item->kind != kind) continue;
      section += EntryOf(*choice.item, choice.full ? choice.item->full : choice.item->brief, traces.size());
      ++digest.kept[kind];
      digest.items.push_back(*choice.item);
      digest.items.back().in_full = choice.full;
    }
    if (!section.empty()) digest.text += fmt::format("\n## {}\n{}", DigestKindTitle(kind), section);
  }
  for (const DigestItem& item : items) ++digest.dropped[item.kind];
  for (const auto& [kind, count] : digest.kept) digest.dropped[kind] -= count;
  std::erase_if(digest.dropped, [](const auto& entry) { return entry.second == 0; });
  digest.text += DroppedLine(digest.dropped);
  digest.tokens = EstimateTokens(digest.text);
  return digest;
}

}  // namespace upskill
