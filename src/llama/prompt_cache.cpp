// SPDX-License-Identifier: Apache-2.0
#include "llama/prompt_cache.h"

#include <algorithm>

#include "util/invariant.h"

namespace upskill {

PromptCache::PromptCache(int first_sequence, int count, bool exact_only)
    : first_sequence_(first_sequence), exact_only_(exact_only), entries_(static_cast<std::size_t>(count)) {}

PromptCache::Match PromptCache::Find(const std::vector<Token>& tokens, std::size_t limit) {
  Match best;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!entry.used) continue;
    const std::size_t bound = std::min({entry.tokens.size(), tokens.size(), limit});
    const auto end = entry.tokens.begin() + static_cast<std::ptrdiff_t>(bound);
    const auto shared =
        static_cast<std::size_t>(std::mismatch(entry.tokens.begin(), end, tokens.begin()).first - entry.tokens.begin());
    if (exact_only_ && shared != entry.tokens.size()) continue;
    if (shared > best.length) best = {static_cast<int>(i), first_sequence_ + static_cast<int>(i), shared};
  }
  if (best.entry >= 0) entries_[static_cast<std::size_t>(best.entry)].last_use = ++now_;
  return best;
}

std::optional<PromptCache::Insertion> PromptCache::Insert(std::vector<Token> tokens, const Match& parent) {
  Insertion insertion;
  Retain(parent.entry);  // the parent must not be the one that is evicted
  auto place = std::find_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return !entry.used; });
  if (place == entries_.end()) {
    const std::optional<std::size_t> oldest = OldestFree();
    if (!oldest) {
      Release(parent.entry);
      return std::nullopt;
    }
    insertion.evicted_sequence = first_sequence_ + static_cast<int>(*oldest);
    Drop(*oldest);
    place = entries_.begin() + static_cast<std::ptrdiff_t>(*oldest);
  }
  CHECK(parent.length <= tokens.size());
  insertion.entry = static_cast<int>(place - entries_.begin());
  insertion.sequence = first_sequence_ + insertion.entry;
  place->own_cells = tokens.size() - parent.length;
  place->tokens = std::move(tokens);
  place->parent = parent.entry;
  place->references = 0;
  place->last_use = ++now_;
  place->used = true;
  cells_ += place->own_cells;
  return insertion;
}

std::optional<int> PromptCache::EvictOne() {
  const std::optional<std::size_t> oldest = OldestFree();
  if (!oldest) return std::nullopt;
  Drop(*oldest);
  return first_sequence_ + static_cast<int>(*oldest);
}

void PromptCache::Retain(int entry) {
  if (entry >= 0) ++entries_[static_cast<std::size_t>(entry)].references;
}

void PromptCache::Release(int entry) {
  if (entry < 0) return;
  int& references = entries_[static_cast<std::size_t>(entry)].references;
  CHECK(references > 0);
  --references;
}

void PromptCache::Clear() {
  for (Entry& entry : entries_) entry = Entry{};
  cells_ = 0;
}

std::optional<std::size_t> PromptCache::OldestFree() const {
  std::optional<std::size_t> oldest;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!entry.used || entry.references > 0) continue;
    if (!oldest || entry.last_use < entries_[*oldest].last_use) oldest = i;
  }
  return oldest;
}

void PromptCache::Drop(std::size_t index) {
  Entry& entry = entries_[index];
  cells_ -= entry.own_cells;
  const int parent = entry.parent;
  entry = Entry{};
  Release(parent);
}

}  // namespace upskill
