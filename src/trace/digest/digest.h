// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/digest/digest_item.h"
#include "trace/trace.h"

namespace upskill {

// The default size of what `trace digest` shows and `generate` sends to the teacher: most traces fit whole, and current
// teachers have room for twice as much.
inline constexpr std::size_t kDefaultDigestTokens = 60'000;

struct DigestOptions {
  std::size_t budget_tokens = kDefaultDigestTokens;
  // Nothing is left out if it fits. Otherwise the traces are always condensed, to what programs use: without lines
  // whose form says nothing.
  bool whole = true;
  // Most tokens of what is told whole, for a reader who takes it in several parts; less than `budget_tokens`: that.
  std::size_t whole_tokens = 0;
};

struct Digest {
  std::string text;  // Markdown
  std::size_t tokens = 0;
  bool whole = false;  // it is the traces' whole text, in order, but for what is cut from long items
  std::size_t cut_items = 0;
  std::size_t cut_characters = 0;
  std::vector<DigestItem> items;  // the items in the text, in order
  std::map<DigestKind, std::size_t> kept;
  std::map<DigestKind, std::size_t> dropped;
};

// What a reader must know of the items: how they are known, and that gaps are not to be filled.
std::string_view DigestReadingNote();

// One trace, or several of the same task, which must be redacted already: whole if they fit into the budget, otherwise
// condensed to the most important items. Deterministic.
//
// Importance, where something has to be left out: each kind of item has a share of the budget (ShareOf), and what a
// kind leaves goes to the best items of all kinds. Requests, corrections, and errors with their fixes come first, then
// what came late in the trace, because it is what worked. Items that differ only in their numbers are worth less with
// each one more. Within an item, lines are weighed (LineImportance): registrations, export lists, versions, shapes,
// signatures and configuration keys are kept before other lines and never lose to near-duplicates; of lines that differ
// only in names and numbers, each further one is worth less. Such lines of items that weren't chosen are gathered
// (DetailLines) in a share of their own.
Digest MakeDigest(const std::vector<Trace>& traces, const DigestOptions& options);

// "6,900 tokens, condensed: 6 error → fix pairs, 5 files, 9 commands, 3 corrections"; of whole traces "nothing left
// out", or what is cut.
std::string KeptLine(const Digest& digest);

}  // namespace upskill
