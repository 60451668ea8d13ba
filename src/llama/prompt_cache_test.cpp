// SPDX-License-Identifier: Apache-2.0
#include "llama/prompt_cache.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>

#include "util/rng.h"

namespace upskill {
namespace {

using Tokens = std::vector<PromptCache::Token>;
using Match = PromptCache::Match;
constexpr int kFirst = 10;

Tokens FromText(const std::string& text) { return {text.begin(), text.end()}; }

Match Find(PromptCache& cache, const std::string& text, std::size_t limit = 1000) {
  return cache.Find(FromText(text), limit);
}

// Inserts `text` below the entry with which it shares a prefix. Returns the entry, or −1.
int Insert(PromptCache& cache, const std::string& text) {
  const auto insertion = cache.Insert(FromText(text), Find(cache, text));
  return insertion ? insertion->entry : -1;
}

TEST(PromptCache, FindsTheLongestSharedPrefix) {
  PromptCache cache(kFirst, 4, false);
  EXPECT_EQ(Find(cache, "abc").entry, -1);
  const int shorter = Insert(cache, "abc");
  const int longer = Insert(cache, "abcdef");
  const int other = Insert(cache, "xyz");
  EXPECT_EQ(Find(cache, "abcdeX").entry, longer);
  EXPECT_EQ(Find(cache, "abcdeX").length, 5U);
  EXPECT_EQ(Find(cache, "abcdeX").sequence, kFirst + longer);
  EXPECT_EQ(Find(cache, "abX").length, 2U);
  EXPECT_EQ(Find(cache, "xyz").entry, other);
  EXPECT_EQ(Find(cache, "q").entry, -1);
  EXPECT_EQ(Find(cache, "q").length, 0U);
  EXPECT_EQ(Find(cache, "").length, 0U);
  EXPECT_EQ(Find(cache, "abcdef", 3).length, 3U);
  EXPECT_EQ(Find(cache, "abc", 0).entry, -1);
  EXPECT_NE(shorter, longer);
}

TEST(PromptCache, ExactOnlySharesAllOrNothing) {
  PromptCache cache(kFirst, 4, true);
  const int shorter = Insert(cache, "abc");
  const int longer = Insert(cache, "abcdef");
  EXPECT_EQ(Find(cache, "abcdeX").entry, shorter);
  EXPECT_EQ(Find(cache, "abcdeX").length, 3U);
  EXPECT_EQ(Find(cache, "abcdefg").entry, longer);
  EXPECT_EQ(Find(cache, "abX").entry, -1);
  EXPECT_EQ(Find(cache, "abcdef", 5).entry, shorter);  // the longer one would have to be cut
}

TEST(PromptCache, CountsTheCellsBeyondTheParent) {
  PromptCache cache(kFirst, 4, false);
  Insert(cache, "abc");
  EXPECT_EQ(cache.cells(), 3U);
  Insert(cache, "abcdef");
  EXPECT_EQ(cache.cells(), 6U);
  Insert(cache, "abX");
  EXPECT_EQ(cache.cells(), 7U);
  cache.Clear();
  EXPECT_EQ(cache.cells(), 0U);
  EXPECT_EQ(Find(cache, "abc").entry, -1);
  EXPECT_EQ(cache.capacity(), 4U);
}

TEST(PromptCache, EvictsTheLeastRecentlyUsed) {
  PromptCache cache(kFirst, 3, false);
  const int a = Insert(cache, "a1");
  const int b = Insert(cache, "b1");
  const int c = Insert(cache, "c1");
  Find(cache, "a1");  // used again
  const auto insertion = cache.Insert(FromText("d1"), {});
  ASSERT_TRUE(insertion.has_value());
  EXPECT_EQ(insertion->evicted_sequence, kFirst + b);
  EXPECT_EQ(insertion->entry, b);
  EXPECT_EQ(insertion->sequence, kFirst + b);
  EXPECT_EQ(cache.EvictOne(), kFirst + c);
  EXPECT_EQ(cache.EvictOne(), kFirst + a);
  EXPECT_EQ(cache.EvictOne(), kFirst + b);
  EXPECT_EQ(cache.EvictOne(), std::nullopt);
  EXPECT_EQ(cache.cells(), 0U);
}

TEST(PromptCache, KeepsWhatIsInUse) {
  PromptCache cache(kFirst, 2, false);
  const int a = Insert(cache, "a1");
  cache.Retain(a);
  cache.Retain(a);
  const int b = Insert(cache, "b1");
  EXPECT_EQ(cache.EvictOne(), kFirst + b);
  EXPECT_EQ(cache.EvictOne(), std::nullopt);
  cache.Release(a);
  EXPECT_EQ(cache.EvictOne(), std::nullopt);  // the second sequence still shares it
  cache.Release(a);
  EXPECT_EQ(cache.EvictOne(), kFirst + a);
  cache.Retain(-1);
  cache.Release(-1);
}

TEST(PromptCache, KeepsParentsOfEntries) {
  PromptCache cache(kFirst, 3, false);
  const int parent = Insert(cache, "ab");
  const int child = Insert(cache, "abcd");
  cache.Retain(child);
  EXPECT_EQ(cache.EvictOne(), std::nullopt);
  cache.Release(child);
  EXPECT_EQ(cache.EvictOne(), kFirst + child);
  EXPECT_EQ(cache.EvictOne(), kFirst + parent);
}

TEST(PromptCache, AParentDoesNotMakeRoomForItsChild) {
  PromptCache cache(kFirst, 1, false);
  const int parent = Insert(cache, "ab");
  EXPECT_EQ(Insert(cache, "abcd"), -1);
  EXPECT_EQ(cache.cells(), 2U);
  EXPECT_EQ(cache.EvictOne(), kFirst + parent);  // nothing refers to it any more
}

TEST(PromptCacheDeathTest, ReleaseWithoutRetainIsABug) {
  PromptCache cache(kFirst, 1, false);
  const int entry = Insert(cache, "ab");
  EXPECT_DEATH(cache.Release(entry), "broken invariant");
}

// The same bookkeeping, written for clarity.
struct Reference {
  struct Entry {
    Tokens tokens;
    int parent = -1;
    std::size_t own = 0;
    int retained = 0;
    int last_use = 0;
  };
  std::map<int, Entry> entries;
  int now = 0;

  bool MayGo(int entry) const {
    return entries.at(entry).retained == 0 && std::none_of(entries.begin(), entries.end(), [&](const auto& other) {
             return other.second.parent == entry;
           });
  }
  int Oldest(int except) const {
    int oldest = -1;
    for (const auto& [id, entry] : entries) {
      if (id != except && MayGo(id) && (oldest < 0 || entry.last_use < entries.at(oldest).last_use)) oldest = id;
    }
    return oldest;
  }
  std::size_t Longest(const Tokens& tokens, std::size_t limit, bool exact_only) const {
    std::size_t longest = 0;
    for (const auto& [id, entry] : entries) {
      std::size_t shared = 0;
      while (shared < std::min({limit, tokens.size(), entry.tokens.size()}) && tokens[shared] == entry.tokens[shared])
        ++shared;
      if (!exact_only || shared == entry.tokens.size()) longest = std::max(longest, shared);
    }
    return longest;
  }
  std::size_t Cells() const {
    std::size_t cells = 0;
    for (const auto& [id, entry] : entries) cells += entry.own;
    return cells;
  }
};

class RandomOperations {
 public:
  RandomOperations(std::uint64_t seed, bool exact_only)
      : rng_(seed), exact_only_(exact_only), cache_(kFirst, kPlaces, exact_only) {}

  void Step() {
    switch (rng_.Next() % 6) {
      case 0:
      case 1:
        InsertSomething();
        break;
      case 2:
        FindSomething(SomeTokens());
        break;
      case 3:
        Retain();
        break;
      case 4:
        Release();
        break;
      default:
        EvictOne();
        break;
    }
    ASSERT_EQ(cache_.cells(), reference_.Cells());
    ASSERT_LE(reference_.entries.size(), static_cast<std::size_t>(kPlaces));
  }

 private:
  static constexpr int kPlaces = 6;

  Tokens SomeTokens() {
    Tokens tokens(1 + rng_.Next() % 6);
    for (auto& token : tokens) token = static_cast<PromptCache::Token>(rng_.Next() % 2);
    return tokens;
  }

  Match FindSomething(const Tokens& tokens) {
    const std::size_t limit = rng_.Next() % 8;
    const Match match = cache_.Find(tokens, limit);
    EXPECT_EQ(match.length, reference_.Longest(tokens, limit, exact_only_));
    EXPECT_EQ(match.entry < 0, match.length == 0);
    if (match.entry >= 0) {
      EXPECT_EQ(match.sequence, kFirst + match.entry);
      reference_.entries.at(match.entry).last_use = ++reference_.now;
    }
    return match;
  }

  void InsertSomething() {
    const Tokens tokens = SomeTokens();
    const Match parent = FindSomething(tokens);
    const bool full = reference_.entries.size() == kPlaces;
    const int oldest = full ? reference_.Oldest(parent.entry) : -1;
    const auto insertion = cache_.Insert(tokens, parent);
    ASSERT_EQ(insertion.has_value(), !full || oldest >= 0);
    if (!insertion) return;
    ASSERT_EQ(insertion->evicted_sequence.has_value(), full);
    if (full) {
      ASSERT_EQ(*insertion->evicted_sequence, kFirst + oldest);
      reference_.entries.erase(oldest);
    }
    ASSERT_FALSE(reference_.entries.contains(insertion->entry));
    reference_.entries[insertion->entry] = {tokens, parent.entry, tokens.size() - parent.length, 0, ++reference_.now};
  }

  void Retain() {
    if (reference_.entries.empty()) return;
    const auto chosen =
        std::next(reference_.entries.begin(), static_cast<std::ptrdiff_t>(rng_.Next() % reference_.entries.size()));
    cache_.Retain(chosen->first);
    ++chosen->second.retained;
  }

  void Release() {
    for (auto& [id, entry] : reference_.entries) {
      if (entry.retained == 0) continue;
      cache_.Release(id);
      --entry.retained;
      return;
    }
  }

  void EvictOne() {
    const int oldest = reference_.Oldest(-1);
    const auto evicted = cache_.EvictOne();
    ASSERT_EQ(evicted.has_value(), oldest >= 0);
    if (!evicted) return;
    ASSERT_EQ(*evicted, kFirst + oldest);
    reference_.entries.erase(oldest);
  }

  Rng rng_;
  bool exact_only_;
  PromptCache cache_;
  Reference reference_;
};

TEST(PromptCache, AnyOrderOfOperations) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    RandomOperations operations(seed, seed % 2 == 1);
    for (int i = 0; i < 500; ++i) {
      operations.Step();
      if (testing::Test::HasFailure()) FAIL() << "seed " << seed << ", step " << i;
    }
  }
}

}  // namespace
}  // namespace upskill
