// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/race_checker.h"

#include <algorithm>

namespace upskill::ptx {
namespace {

constexpr std::size_t kMostPublished = 200'000;
constexpr std::size_t kMostWatchedPlaces = 20'000;
constexpr std::size_t kMostReaders = 32;  // of one place

std::uint64_t Known(const Knowledge& knowledge, std::uint64_t key) {
  const auto found = knowledge->find(key);
  return found == knowledge->end() ? 0 : found->second;
}

}  // namespace

std::uint64_t BlockKey(std::uint32_t block) { return (std::uint64_t{block} << 16U) | 0xFFFFU; }
std::uint64_t WarpKey(std::uint32_t block, std::uint32_t warp) {
  return (std::uint64_t{block} << 16U) | 0x8000U | warp;
}
std::uint64_t ThreadKey(ThreadId thread) { return (std::uint64_t{thread.block} << 16U) | thread.thread; }

Knowledge Join(const Knowledge& a, const Knowledge& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  auto joined = std::make_shared<KnowledgeMap>(*a);
  for (const auto& [key, time] : *b) {
    std::uint64_t& known = (*joined)[key];
    known = std::max(known, time);
  }
  return joined;
}

bool RaceChecker::Knows(const BlockClock& clock, ThreadId self, const MemoryAccess& other) const {
  if (other.Thread() == self) return true;
  if (other.block == self.block) {
    if (other.time <= clock.barrier) return true;
    if (other.Warp() == self.Warp()) {
      const WarpClock& warp = clock.warps[self.Warp()];
      if (other.time <= warp.synchronised) return true;
      const std::size_t pair = (self.thread % 32U) * 32U + other.thread % 32U;
      if (warp.pairs && other.time <= (*warp.pairs)[pair]) return true;
    }
  }
  const Knowledge& knowledge = clock.threads[self.thread].knowledge;
  if (!knowledge) return false;
  return other.time <= Known(knowledge, BlockKey(other.block)) ||
         other.time <= Known(knowledge, WarpKey(other.block, other.Warp())) ||
         other.time <= Known(knowledge, ThreadKey(other.Thread()));
}

std::optional<Conflict> RaceChecker::Check(ShadowCell& cell, const BlockClock& clock, const MemoryAccess& access,
                                           bool writes, bool same_value) const {
  std::optional<Conflict> conflict;
  const auto races = [&](const MemoryAccess& other) {
    const bool in_scope = other.block == access.block || !(other.block_scope || access.block_scope);
    return other.time != 0 && (other.bytes & access.bytes) != 0 && !(other.strong && access.strong && in_scope) &&
           !Knows(clock, access.Thread(), other);
  };
  if (!(writes && same_value) && races(cell.write)) conflict = Conflict{cell.write, true};
  if (writes) {
    for (const MemoryAccess& read : cell.reads) {
      // A read that finds the value which is written again isn't disturbed by it.
      if (!conflict && !same_value && races(read)) conflict = Conflict{read, false};
    }
    if (same_value && cell.write.time != 0 && !Knows(clock, access.Thread(), cell.write)) return conflict;
    cell.write = access;
    cell.reads = {};
    return conflict;
  }
  RecordRead(cell, access);
  return conflict;
}

void RaceChecker::NoteStrongRead(std::uint32_t scope, std::uint64_t address, const MemoryAccess& access) {
  auto found = strong_reads_.find({scope, address});
  if (found == strong_reads_.end()) {
    if (strong_reads_.size() >= kMostWatchedPlaces) return;
    found = strong_reads_.emplace(std::pair{scope, address}, std::vector<StrongRead>{}).first;
  }
  std::vector<StrongRead>& readers = found->second;
  const auto own = std::find_if(readers.begin(), readers.end(),
                                [&](const StrongRead& reader) { return reader.read.Thread() == access.Thread(); });
  if (own != readers.end()) {
    *own = StrongRead{access, {}};
  } else if (readers.size() < kMostReaders) {
    readers.push_back(StrongRead{access, {}});
  }
}

std::optional<MemoryAccess> RaceChecker::StrongWrite(std::uint32_t scope, std::uint64_t address,
                                                     const MemoryAccess& access) {
  const auto found = strong_reads_.find({scope, address});
  if (found == strong_reads_.end()) return std::nullopt;
  std::optional<MemoryAccess> lost;
  for (StrongRead& reader : found->second) {
    if (reader.read.Thread() != access.Thread()) {
      reader.overwritten_by = access;
    } else if (reader.overwritten_by.time != 0) {
      lost = reader.overwritten_by;
      reader.overwritten_by = {};
    }
  }
  return lost;
}

const RaceChecker::Page* RaceChecker::KnownPage(std::uint64_t page) const {
  const auto found = pages_.find(page);
  return found == pages_.end() ? nullptr : found->second.get();
}

bool RaceChecker::FindPage(std::uint64_t page) {
  auto found = pages_.find(page);
  if (found == pages_.end()) {
    if (pool_ != nullptr ? !pool_->Take(sizeof(Page)) : used_ + sizeof(Page) > budget_) {
      incomplete_ = true;
      return false;
    }
    used_ += sizeof(Page);
    const Page* const earlier = earlier_ == nullptr ? nullptr : earlier_->KnownPage(page);
    found = pages_.emplace(page, earlier ? std::make_unique<Page>(*earlier) : std::make_unique<Page>()).first;
  }
  last_page_ = page;
  last_ = found->second.get();
  return true;
}

void RaceChecker::BlockBarrier(BlockClock& clock) {
  clock.barrier = Tick();
  if (!clock.has_knowledge) return;
  Knowledge joined;
  for (const ThreadClock& thread : clock.threads) joined = Join(joined, thread.knowledge);
  for (ThreadClock& thread : clock.threads) thread.knowledge = joined;
}

void RaceChecker::SomeWarpsBarrier(BlockClock& clock, std::uint32_t block, const std::vector<std::uint16_t>& threads) {
  const std::uint64_t now = Tick();
  const auto joined = std::make_shared<KnowledgeMap>();
  (*joined)[BlockKey(block)] = clock.barrier;
  Knowledge all = joined;
  for (const std::uint16_t thread : threads) {
    (*joined)[ThreadKey(ThreadId{block, thread})] = now;
    all = clock.threads[thread].knowledge ? Join(all, clock.threads[thread].knowledge) : all;
  }
  all = Join(all, joined);
  for (const std::uint16_t thread : threads) clock.threads[thread].knowledge = all;
  clock.has_knowledge = true;
}

void RaceChecker::WarpBarrier(BlockClock& clock, std::uint32_t warp, std::uint32_t mask, std::uint32_t all) {
  WarpClock& lanes = clock.warps[warp];
  const std::uint64_t now = Tick();
  if ((mask & all) == all) {
    lanes.synchronised = now;
  } else {
    if (!lanes.pairs) lanes.pairs = std::make_unique<std::array<std::uint64_t, 1024>>();
    for (std::size_t a = 0; a < 32; ++a) {
      if (((mask >> a) & 1U) == 0) continue;
      for (std::size_t b = 0; b < 32; ++b) {
        if (((mask >> b) & 1U) != 0) (*lanes.pairs)[a * 32 + b] = now;
      }
    }
  }
  if (!clock.has_knowledge) return;
  Knowledge joined;
  const std::size_t first = std::size_t{warp} * 32;
  const auto each = [&](auto&& use) {
    for (std::size_t lane = 0; lane < 32 && first + lane < clock.threads.size(); ++lane) {
      if (((mask >> lane) & 1U) != 0) use(clock.threads[first + lane]);
    }
  };
  each([&](const ThreadClock& thread) { joined = Join(joined, thread.knowledge); });
  each([&](ThreadClock& thread) { thread.knowledge = joined; });
}

void RaceChecker::Gather(Gathering& gathering, const BlockClock& clock, std::uint32_t block, std::uint32_t warp,
                         std::uint32_t mask, std::uint32_t all) {
  if (!gathering.map) gathering.map = std::make_shared<KnowledgeMap>();
  const auto raise = [&](std::uint64_t key, std::uint64_t time) {
    std::uint64_t& known = (*gathering.map)[key];
    known = std::max(known, time);
  };
  const auto join = [&](const Knowledge& knowledge) {
    if (!knowledge || !gathering.joined.insert(knowledge).second) return;
    for (const auto& [key, time] : *knowledge) raise(key, time);
  };
  Tick();
  const bool together = (mask & all) == all;
  raise(BlockKey(block), clock.barrier);
  if (together) raise(WarpKey(block, warp), time_);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::size_t thread = std::size_t{warp} * 32 + lane;
    if (((mask >> lane) & 1U) == 0 || thread >= clock.threads.size()) continue;
    join(together ? clock.threads[thread].knowledge
                  : Everything(clock, ThreadId{block, static_cast<std::uint16_t>(thread)}));
  }
}

void RaceChecker::Learn(BlockClock& clock, std::uint16_t thread, const Knowledge& knowledge) {
  Knowledge& known = clock.threads[thread].knowledge;
  // Most threads learn the same and have known the same.
  if (last_learnt_[0] != known || last_learnt_[1] != knowledge || !last_learnt_[2]) {
    last_learnt_ = {known, knowledge, Join(known, knowledge)};
  }
  known = last_learnt_[2];
  clock.has_knowledge = true;
}

bool RaceChecker::KnowsOf(const BlockClock& clock, std::uint16_t thread, std::uint32_t block) {
  const Knowledge& knowledge = clock.threads[thread].knowledge;
  if (!knowledge) return false;
  const auto found = knowledge->lower_bound(ThreadKey(ThreadId{block, 0}));
  return found != knowledge->end() && found->first <= BlockKey(block);
}

Knowledge RaceChecker::Everything(const BlockClock& clock, ThreadId self) const {
  const ThreadClock& thread = clock.threads[self.thread];
  auto map = thread.knowledge ? std::make_shared<KnowledgeMap>(*thread.knowledge) : std::make_shared<KnowledgeMap>();
  const auto raise = [&](std::uint64_t key, std::uint64_t time) {
    std::uint64_t& known = (*map)[key];
    known = std::max(known, time);
  };
  raise(BlockKey(self.block), clock.barrier);
  raise(WarpKey(self.block, self.Warp()), clock.warps[self.Warp()].synchronised);
  raise(ThreadKey(self), time_);
  const WarpClock& warp = clock.warps[self.Warp()];
  for (std::uint16_t lane = 0; warp.pairs && lane < 32; ++lane) {
    const std::uint64_t time = (*warp.pairs)[(self.thread % 32U) * 32U + lane];
    const auto first = static_cast<std::uint16_t>(self.Warp() * 32);
    if (time > 0) raise(ThreadKey(ThreadId{self.block, static_cast<std::uint16_t>(first + lane)}), time);
  }
  return map;
}

void RaceChecker::Fence(BlockClock& clock, ThreadId self, bool block_scope) {
  ThreadClock& thread = clock.threads[self.thread];
  thread.fenced_in_block = Everything(clock, self);
  if (!block_scope) thread.fenced = thread.fenced_in_block;
}

void RaceChecker::Release(std::uint32_t scope, std::uint64_t address, const Knowledge& knowledge) {
  if (!knowledge) return;
  if (published_.size() >= kMostPublished && !published_.contains({scope, address})) {
    incomplete_ = true;
    return;
  }
  Knowledge& published = published_[{scope, address}];
  published = Join(published, knowledge);
}

void RaceChecker::Acquire(BlockClock& clock, ThreadId self, std::uint32_t scope, std::uint64_t address) {
  if (published_.empty()) return;
  const auto found = published_.find({scope, address});
  if (found == published_.end()) return;
  Knowledge& knowledge = clock.threads[self.thread].knowledge;
  knowledge = Join(knowledge, found->second);
  clock.has_knowledge = true;
}

void RaceChecker::ForgetShared(std::uint32_t block) {
  const std::uint32_t scope = block + 1;
  const auto forget = [&](auto& map) {
    const auto first = map.lower_bound({scope, 0});
    auto last = first;
    while (last != map.end() && last->first.first == scope) ++last;
    map.erase(first, last);
  };
  forget(published_);
  forget(strong_reads_);
}

}  // namespace upskill::ptx
