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

const char* PrecisionName(Precision precision) {
  static constexpr std::array<const char*, kPrecisions> kNames = {"",     "f64",  "f32", "f16",
                                                                  "bf16", "tf32", "fp8", "int8"};
  return kNames[static_cast<std::size_t>(precision)];
}

Precision PrecisionOf(const std::vector<std::string_view>& parts) {
  constexpr std::array<std::string_view, 20> kComputes = {"add",  "sub", "mul", "fma",   "mad", "div",  "rcp",
                                                          "sqrt", "ex2", "lg2", "rsqrt", "sin", "cos",  "tanh",
                                                          "min",  "max", "abs", "neg",   "mma", "wgmma"};
  constexpr std::array<std::pair<std::string_view, Precision>, 15> kTypes = {{{"f64", Precision::kF64},
                                                                              {"f32", Precision::kF32},
                                                                              {"f32x2", Precision::kF32},
                                                                              {"f16", Precision::kF16},
                                                                              {"f16x2", Precision::kF16},
                                                                              {"bf16", Precision::kBf16},
                                                                              {"bf16x2", Precision::kBf16},
                                                                              {"tf32", Precision::kTf32},
                                                                              {"e4m3", Precision::kFp8},
                                                                              {"e5m2", Precision::kFp8},
                                                                              {"s8", Precision::kInt8},
                                                                              {"u8", Precision::kInt8},
                                                                              {"s32", Precision::kNone},
                                                                              {"u32", Precision::kNone},
                                                                              {"b32", Precision::kNone}}};
  if (parts.empty()) return Precision::kNone;
  if (parts.front() == "dp4a" || parts.front() == "dp2a") return Precision::kInt8;
  const bool is_wmma = parts.front() == "wmma" && parts.size() > 1 && parts[1] == "mma";
  if (!is_wmma && std::find(kComputes.begin(), kComputes.end(), parts.front()) == kComputes.end())
    return Precision::kNone;
  std::vector<Precision> types;
  for (const std::string_view part : parts) {
    const auto* const type =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& known) { return known.first == part; });
    if (type != kTypes.end()) types.push_back(type->second);
  }
  if (types.empty()) return Precision::kNone;
  // Of matrices, the second type is that of the factors; wmma leaves it out if it is f16.
  if (is_wmma && types.size() == 2) return Precision::kF16;
  const bool is_matrix = is_wmma || parts.front() == "mma" || parts.front() == "wgmma";
  return is_matrix && types.size() > 1 ? types[1] : types.front();
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
  const char* const reason =
      inst.ordering == Ordering::kVolatile && other.strong ? ": volatile alone orders nothing" : "";
  finding->detail =
      fmt::format("a {} by thread ({},{},{}) and a {} by thread ({},{},{}){} that nothing orders{}",
                  conflict.writes ? "write" : "read", finding->other_thread.x, finding->other_thread.y,
                  finding->other_thread.z, writes ? "write" : "read", finding->thread.x, finding->thread.y,
                  finding->thread.z, other.block == block_->index ? "" : " of another block", reason);
}

void Machine::FillCounters() {
  constexpr std::uint64_t kOfMatrices = 64;  // multiplications of a thread in one of their instructions, at least
  Counters& counters = outcome_.counters;
  for (std::size_t i = 0; i < tallies_.size(); ++i) {
    if (tallies_[i] == 0) continue;
    const auto inst_class = static_cast<InstClass>(i % kInstClasses);
    const auto precision = static_cast<Precision>(i / kInstClasses);
    counters.by_class[InstClassName(inst_class)] += tallies_[i];
    if (precision == Precision::kNone) continue;
    counters.by_precision[PrecisionName(precision)] +=
        tallies_[i] * (inst_class == InstClass::kMatrix ? kOfMatrices : 1);
  }
}

}  // namespace upskill::ptx
