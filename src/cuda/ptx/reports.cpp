// SPDX-License-Identifier: Apache-2.0
// What the checks found, and the counters.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "cuda/ptx/machine.h"

namespace upskill::ptx {

const char* FindingKindName(FindingKind kind) {
  switch (kind) {
    case FindingKind::kOutOfBounds:
      return "out-of-bounds";
    case FindingKind::kMisaligned:
      return "misaligned";
    case FindingKind::kReadOnlyWrite:
      return "read-only-write";
    case FindingKind::kUninitialised:
      return "uninitialised";
    case FindingKind::kRace:
      return "race";
    case FindingKind::kAsyncRead:
      return "async-read";
    case FindingKind::kDivergentBarrier:
      return "divergent-barrier";
    case FindingKind::kDeadlock:
      return "deadlock";
    case FindingKind::kBadSynchronisation:
      return "bad-synchronisation";
    case FindingKind::kTrap:
      return "trap";
    case FindingKind::kUnsupported:
      return "unsupported";
  }
  return "";
}

const char* InstClassName(InstClass inst_class) {
  static constexpr std::array<const char*, kInstClasses> kNames = {
      "integer", "float32",         "float64", "half",    "conversion", "control",
      "memory",  "synchronisation", "matrix",  "special", "move"};
  return kNames[static_cast<std::size_t>(inst_class)];
}

Dim3 Machine::BlockDim(std::uint32_t block) const {
  return Dim3{block % config_.grid.x, block / config_.grid.x % config_.grid.y,
              static_cast<std::uint32_t>(block / (std::uint64_t{config_.grid.x} * config_.grid.y))};
}

Dim3 Machine::ThreadDim(std::uint32_t thread) const {
  return Dim3{thread % config_.block.x, thread / config_.block.x % config_.block.y,
              static_cast<std::uint32_t>(thread / (std::uint64_t{config_.block.x} * config_.block.y))};
}

SourceLine Machine::SourceOf(std::uint32_t location) const {
  const Location& place = program_.locations[location];
  const auto file = program_.files.find(place.file);
  return SourceLine{file == program_.files.end() ? std::string{} : file->second, place.line};
}

void Machine::Place(Finding& finding, std::uint32_t pc, std::uint32_t block, std::uint32_t thread) const {
  const Inst& inst = program_.code[pc];
  finding.kernel = kernel_.name;
  finding.ptx_line = inst.ptx_line;
  finding.instruction = program_.names[inst.name];
  finding.source = SourceOf(inst.location);
  for (std::uint32_t at = program_.locations[inst.location].inlined_at; at != 0 && finding.inlined_at.size() < 32;
       at = program_.locations[at].inlined_at) {
    finding.inlined_at.push_back(SourceOf(at));
  }
  finding.block = BlockDim(block);
  finding.thread = ThreadDim(thread);
}

// A new finding, or nullptr if there is already one at this place (which is counted) or there are too many.
Finding* Machine::FindingAt(FindingKind kind, std::uint32_t pc, std::uint64_t other) {
  if (workers_ != nullptr) {
    GiveUp();
    return nullptr;
  }
  const auto [at, added] = finding_index_.emplace(std::tuple{kind, pc, other}, outcome_.findings.size());
  if (!added) {
    ++outcome_.findings[at->second].count;
    return nullptr;
  }
  if (outcome_.findings.size() >= options_.max_findings) {
    finding_index_.erase(at);
    ++outcome_.findings_dropped;
    return nullptr;
  }
  outcome_.findings.emplace_back();
  outcome_.findings.back().kind = kind;
  return &outcome_.findings.back();
}

void Machine::Report(FindingKind kind, const Inst& inst, std::uint32_t lane, std::string message, std::string detail,
                     std::uint64_t address, std::uint32_t bytes, Space space) {
  const std::uint32_t pc = LocationPc(inst);
  Finding* finding = FindingAt(kind, pc, 0);
  if (finding == nullptr) return;
  Place(*finding, pc, block_->index, warp_->index * 32 + lane);
  finding->message = std::move(message);
  finding->detail = std::move(detail);
  finding->address = address;
  finding->bytes = bytes;
  finding->space = space;
}

// The place is where the value was loaded, if it was.
void Machine::ReportUninitialised(const Inst& inst, std::uint32_t lane, const Taint& taint) {
  const std::uint32_t pc = taint.origin == kNowhere ? LocationPc(inst) : taint.origin;
  const Inst& origin = program_.code[pc];
  const bool exchanged = taint.origin != kNowhere && origin.action == Action::kShuffle;
  Finding* finding = FindingAt(exchanged ? FindingKind::kBadSynchronisation : FindingKind::kUninitialised, pc, 0);
  if (finding == nullptr) return;
  Place(*finding, pc, block_->index, warp_->index * 32 + lane);
  finding->bytes = SizeOf(origin.type);
  finding->space = origin.space;
  if (taint.origin == kNowhere) {
    finding->message = "Uninitialized register read";
  } else if (exchanged) {
    finding->message = "Shuffle reads the value of a thread that has ended";
  } else {
    finding->message =
        fmt::format("Uninitialized __{}__ memory read of size {} bytes", SpaceName(origin.space), finding->bytes);
  }
  if (pc != LocationPc(inst)) {
    const SourceLine use = SourceOf(inst.location);
    finding->detail = use.line > 0 ? fmt::format("the value is used in line {}", use.line)
                                   : fmt::format("the value is used in line {} of the PTX", inst.ptx_line);
  }
}

void Machine::ReportRace(const Inst& inst, std::uint32_t lane, const Target& target, std::uint32_t bytes, bool writes,
                         const Conflict& conflict) {
  const MemoryAccess& other = conflict.access;
  const std::uint32_t pc = LocationPc(inst);
  Finding* finding = FindingAt(FindingKind::kRace, pc, other.pc);
  if (finding == nullptr) return;
  Place(*finding, pc, block_->index, warp_->index * 32 + lane);
  const Inst& first = program_.code[other.pc];
  const char* hazard = writes ? (conflict.writes ? "WAW" : "WAR") : "RAW";
  finding->message = fmt::format("Potential {} hazard detected at __{}__ address {:#x}", hazard,
                                 SpaceName(target.space), target.address);
  finding->address = target.address;
  finding->bytes = bytes;
  finding->space = target.space;
  finding->other_source = SourceOf(first.location);
  finding->other_ptx_line = first.ptx_line;
  finding->other_block = BlockDim(other.block);
  finding->other_thread = ThreadDim(other.thread);
  finding->detail =
      fmt::format("a {} by thread ({},{},{}) and a {} by thread ({},{},{}){} that nothing orders",
                  conflict.writes ? "write" : "read", finding->other_thread.x, finding->other_thread.y,
                  finding->other_thread.z, writes ? "write" : "read", finding->thread.x, finding->thread.y,
                  finding->thread.z, other.block == block_->index ? "" : " of another block");
}

void Machine::FillCounters() {
  for (std::size_t i = 0; i < kInstClasses; ++i) {
    if (class_counts_[i] > 0) outcome_.counters.by_class[InstClassName(static_cast<InstClass>(i))] = class_counts_[i];
  }
}

}  // namespace upskill::ptx
