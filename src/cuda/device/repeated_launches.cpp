// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/repeated_launches.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

namespace upskill {
namespace {

using Range = std::span<std::uint8_t>;

constexpr int kRuns = 2;  // in the same memory, before a launch is known
constexpr std::uint64_t kMostMemory = std::uint64_t{512}
                                      << 20U;  // hashing makes untouched memory take up space on this machine
constexpr std::uint64_t kMostKept = std::uint64_t{256} << 20U;  // of changes
constexpr std::size_t kMostKnown = 10'000;
constexpr std::uint32_t kLongestPause = 63;
constexpr std::size_t kChunkBytes = std::size_t{64} << 10U;
constexpr std::uint64_t kBytesPerInstruction = 4;  // that may be hashed, for each that threads have executed

// Fast, but no defence against contents that are chosen to collide: whoever chooses them deceives only themselves.
std::uint64_t HashOf(std::span<const std::uint8_t> bytes, std::uint64_t seed) {
  constexpr std::uint64_t kOdd = 0x9E3779B185EBCA87ULL;
  constexpr std::uint64_t kOther = 0xC2B2AE3D27D4EB4FULL;
  std::array<std::uint64_t, 4> lanes{seed, seed + kOdd, seed ^ kOther, ~seed};
  const auto add = [&](const std::uint8_t* from) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, from + i * sizeof(word), sizeof(word));
      lanes[i] = std::rotl(lanes[i] + word * kOther, 31) * kOdd;
    }
  };
  constexpr std::size_t kStep = sizeof(lanes);
  std::size_t at = 0;
  for (; bytes.size() - at >= kStep; at += kStep) add(bytes.data() + at);
  std::array<std::uint8_t, kStep> rest{};
  std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), rest.begin());
  add(rest.data());
  std::uint64_t hash = bytes.size();
  for (const std::uint64_t lane : lanes) {
    hash = (hash ^ lane) * kOdd;
    hash ^= hash >> 29U;
  }
  return hash;
}

std::uint64_t HashOf(const std::vector<std::uint64_t>& numbers) {
  return HashOf({reinterpret_cast<const std::uint8_t*>(numbers.data()), numbers.size() * sizeof(std::uint64_t)}, 0);
}

void AddChunks(Range bytes, std::vector<Range>& chunks) {
  for (; !bytes.empty(); bytes = bytes.subspan(chunks.back().size()))
    chunks.push_back(bytes.first(std::min(bytes.size(), kChunkBytes)));
}

// The memory, and who wrote it, in parts.
std::vector<Range> ChunksOf(ptx::DeviceMemory& memory) {
  std::vector<Range> chunks;
  for (const ptx::Allocation* const each : memory.Allocations()) {
    ptx::Allocation* const allocation = memory.Find(each->address);
    if (allocation == nullptr) continue;  // of zero bytes
    AddChunks({allocation->data.begin(), allocation->data.end()}, chunks);
    auto* const writers = reinterpret_cast<std::uint8_t*>(allocation->writer.data());
    AddChunks({writers, allocation->writer.size()}, chunks);
  }
  return chunks;
}

bool CanBeRepeated(const ptx::LaunchOutcome& outcome) {
  return outcome.ending == ptx::Ending::kCompleted && outcome.findings.empty() && outcome.printed.empty() &&
         !outcome.reads_clock;
}

}  // namespace

// Nothing if hashing would take too long or too much memory.
std::optional<RepeatedLaunches::State> RepeatedLaunches::StateOf(ptx::DeviceMemory& memory) {
  const std::uint64_t cost = 2 * memory.UsedBytes() + 256 * memory.AllocationCount();
  if (memory.UsedBytes() > kMostMemory || cost > credit_) return std::nullopt;
  credit_ -= cost;
  State state;
  std::uint64_t seed = 0;
  for (const Range chunk : ChunksOf(memory)) state.chunks.push_back(HashOf(chunk, ++seed));
  std::vector<std::uint64_t> all = state.chunks;
  for (const ptx::Allocation* const each : memory.Allocations())
    all.insert(all.end(), {each->address, each->data.size(), each->read_only ? 1U : 0U});
  state.id = HashOf(all);
  return state;
}

const ptx::LaunchOutcome* RepeatedLaunches::Repeat(std::string_view launch, ptx::DeviceMemory& memory) {
  std::optional<State> state = std::exchange(state_, std::nullopt);
  before_.reset();
  launch_ = HashOf({reinterpret_cast<const std::uint8_t*>(launch.data()), launch.size()}, 0);
  if (seen_.size() > kMostKnown) seen_.clear();
  const auto [seen, first] = seen_.try_emplace(launch_);
  if (first) return nullptr;
  if (seen->second.left > 0) {
    --seen->second.left;
    return nullptr;
  }
  if (!state) state = StateOf(memory);
  if (!state) return nullptr;
  const auto known = outcomes_.find({launch_, state->id});
  if (known == outcomes_.end() || known->second.runs < kRuns) {
    before_ = std::move(state);
    return nullptr;
  }
  if (!known->second.changes.empty()) {
    const std::vector<Range> chunks = ChunksOf(memory);
    for (const Change& change : known->second.changes) {
      std::copy(change.bytes.begin(), change.bytes.end(), chunks[change.chunk].begin());
      state->chunks[change.chunk] = change.hash;
    }
  }
  state->id = known->second.after;
  state_ = std::move(state);
  return &known->second.outcome;
}

void RepeatedLaunches::Ran(const ptx::LaunchOutcome& outcome, ptx::DeviceMemory& memory) {
  credit_ += kBytesPerInstruction * outcome.counters.thread_instructions;
  const std::optional<State> before = std::exchange(before_, std::nullopt);
  if (!before) return;
  Pause& pause = seen_[launch_];
  if (NoteResult(*before, outcome, memory)) {
    pause = {};
  } else {
    pause.left = std::exchange(pause.length, std::min(2 * pause.length + 1, kLongestPause));
  }
}

// Records the result. True if it equals the previous one in the same memory, and its changes could be kept.
bool RepeatedLaunches::NoteResult(const State& before, const ptx::LaunchOutcome& outcome, ptx::DeviceMemory& memory) {
  if (outcomes_.size() > kMostKnown) Forget();
  if (CanBeRepeated(outcome)) state_ = StateOf(memory);
  if (!state_) {
    outcomes_.erase({launch_, before.id});
    return false;
  }
  Known& known = outcomes_[{launch_, before.id}];
  known.runs = known.runs > 0 && known.after == state_->id ? known.runs + 1 : 1;
  known.after = state_->id;
  if (known.runs < kRuns) return false;
  known.outcome = outcome;
  const std::vector<Range> chunks = ChunksOf(memory);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (before.chunks[i] == state_->chunks[i]) continue;
    kept_bytes_ += chunks[i].size();
    if (kept_bytes_ > kMostKept) {
      Forget();
      return false;
    }
    known.changes.push_back({i, state_->chunks[i], {chunks[i].begin(), chunks[i].end()}});
  }
  return true;
}

void RepeatedLaunches::Forget() {
  outcomes_.clear();
  kept_bytes_ = 0;
}

}  // namespace upskill
