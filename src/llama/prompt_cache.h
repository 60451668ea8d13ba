// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace upskill {

// Which token prefixes are evaluated in the KV cache, and how many cells each holds beyond its parent. Pure
// bookkeeping: the engine copies and removes the sequences that the return values name. Not thread-safe.
//
// Invariant: an entry is evicted only if nothing refers to it (no child entry, no running sequence), so the cells in
// use are never counted as free.
class PromptCache {
 public:
  using Token = std::int32_t;

  struct Match {
    int entry = -1;          // -1: nothing shared
    int sequence = -1;       // the sequence that holds the tokens
    std::size_t length = 0;  // number of leading tokens that it shares
  };

  // Entries use the sequences first_sequence … first_sequence + count − 1. With `exact_only` (for models whose state
  // can't be cut back to a shorter prefix), either all tokens of an entry match or none.
  PromptCache(int first_sequence, int count, bool exact_only);

  // The entry that shares the longest prefix with `tokens`, up to `limit` tokens. Marks it as used now.
  Match Find(const std::vector<Token>& tokens, std::size_t limit);

  // A place for a new entry made of `tokens`, whose first `parent.length` tokens are shared with `parent` (or nothing).
  // Evicts the least recently used entry if all places are taken; no value if none can be evicted.
  struct Insertion {
    int entry = -1;
    int sequence = -1;
    std::optional<int> evicted_sequence;  // remove its cells first
  };
  std::optional<Insertion> Insert(std::vector<Token> tokens, const Match& parent);

  // Evicts the least recently used entry; returns its sequence, or nothing if none can be evicted.
  std::optional<int> EvictOne();

  void Retain(int entry);   // a running sequence shares this entry's cells (−1: no effect)
  void Release(int entry);  // … no longer

  std::size_t cells() const { return cells_; }  // held by all entries
  std::size_t capacity() const { return entries_.size(); }
  void Clear();

 private:
  struct Entry {
    std::vector<Token> tokens;
    int parent = -1;
    std::size_t own_cells = 0;
    int references = 0;
    std::uint64_t last_use = 0;
    bool used = false;
  };

  std::optional<std::size_t> OldestFree() const;
  void Drop(std::size_t index);

  int first_sequence_;
  bool exact_only_;
  std::vector<Entry> entries_;
  std::uint64_t now_ = 0;
  std::size_t cells_ = 0;
};

}  // namespace upskill
