// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda/ptx/finding.h"
#include "cuda/ptx/module.h"
#include "cuda/ptx/types.h"

namespace upskill::ptx {

struct Inst;
struct WarpView;

// Instructions that only compute. `bases` are those of the frame's registers and of the constants; they write the
// results of the lanes in `mask`.
using AluFunction = void (*)(char* const* bases, const Inst& inst, std::uint32_t mask);

// What the machine does for an instruction; one handler each in the executor.
enum class Action : std::uint8_t {
  kAlu,
  kUnsupported,
  kBranch,
  kBranchIndexed,
  kCall,
  kReturn,
  kExit,
  kTrap,
  kSpecialRegister,
  kLocalAddress,
  kConvertAddress,
  kIsSpace,
  kLoad,
  kStore,
  kLoadArgument,
  kAtomic,
  kBarrier,
  kWarpBarrier,
  kClusterBarrier,
  kMapToRank,
  kShuffle,
  kVote,
  kMatch,
  kRedux,
  kActiveMask,
  kElect,
  kFence,
  kYield,
  kNop,
  kAsyncCopy,
  kAsyncCommit,
  kAsyncWait,
  kAsyncArrive,
  kMbarrierInit,
  kMbarrierInval,
  kMbarrierArrive,
  kMbarrierExpect,
  kMbarrierTest,
  kLoadMatrix,
  kStoreMatrix,
  kMma,
  kWmmaLoad,
  kWmmaStore,
  kWmmaMultiply,
  kWgmma,
  kBulkCopy,
  kTensorCopy,
};

enum class InstClass : std::uint8_t {
  kInteger,
  kFloat32,
  kFloat64,
  kHalf,
  kConversion,
  kControl,
  kMemory,
  kSynchronisation,
  kMatrix,
  kSpecial,
  kMove,
};
constexpr std::size_t kInstClasses = 11;
const char* InstClassName(InstClass inst_class);

// The numbers that an instruction computes with; those that only convert or move them have kNone.
enum class Precision : std::uint8_t { kNone, kF64, kF32, kF16, kBf16, kTf32, kFp8, kInt8 };
constexpr std::size_t kPrecisions = 8;
const char* PrecisionName(Precision precision);                     // "f64"
Precision PrecisionOf(const std::vector<std::string_view>& parts);  // of an opcode, split at its dots

constexpr std::uint32_t kNoSlot = 0xFFFFFFFFU;
// Operands are offsets into a frame's registers, or, with this bit, into the constants.
constexpr std::uint32_t kConstantBit = 0x80000000U;

// How the address of a memory access is made: base + imm.
enum class AddressMode : std::uint8_t { kRegister64, kRegister32, kFrame };

enum class Ordering : std::uint8_t { kWeak, kVolatile, kRelaxed, kAcquire, kRelease, kAcqRel };

enum class AtomicOp : std::uint8_t { kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor, kExch, kCas };

// One instruction, decoded. The results' slots come first in `op`, then the sources; if they are more than `op` holds,
// all are in Program::operands from `first_operand`.
struct Inst {
  AluFunction alu = nullptr;
  std::array<std::uint32_t, 6> op{kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  std::int64_t imm = 0;
  std::uint32_t guard = kNoSlot;
  std::uint32_t target = 0;  // an index of an instruction, function, prototype or list of targets
  std::uint32_t first_operand = 0;
  std::uint32_t ptx_line = 0;
  std::uint32_t location = 0;  // Program::locations
  std::uint32_t name = 0;      // Program::names
  std::uint8_t results = 0;
  std::uint8_t sources = 0;
  Action action = Action::kAlu;
  InstClass inst_class = InstClass::kInteger;
  std::uint8_t tally = 0;          // the class and the precision: where executions are counted
  Type type = Type::kNone;         // of the operation
  Type source_type = Type::kNone;  // of a conversion's source
  std::uint8_t slot_size = 4;      // bytes of a lane of the first result (of a store: of the data)
  std::uint8_t source_slot_size = 4;
  std::uint8_t vector = 1;  // elements of a load or store
  Space space = Space::kGeneric;
  AddressMode address_mode = AddressMode::kRegister64;
  Ordering ordering = Ordering::kWeak;
  bool block_scope = false;  // a fence, or an access that isn't weak, orders nothing between blocks
  AtomicOp atomic = AtomicOp::kAdd;
  Rounding rounding = Rounding::kNone;
  bool guard_negated = false;
  bool ftz = false;
  bool saturate = false;
  bool copies = false;   // moves values without computing with them
  std::uint8_t sub = 0;  // which form, a constant of the action
  std::uint32_t flags = 0;
};

struct Relocation {
  enum class Kind : std::uint8_t { kVariable, kShared, kDynamicShared, kFunction, kArguments };
  Kind kind = Kind::kVariable;
  std::uint32_t index = 0;
  std::int64_t addend = 0;
  std::uint32_t offset = 0;  // in the constants (in an initialiser: in the variable's bytes)
  std::uint8_t bytes = 8;
  bool generic = false;  // the generic address of something in shared memory
};

struct SharedVariable {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;
  std::uint32_t function = kNoSlot;  // of the kernel that alone sees it; kNoSlot: visible to all
};

struct GlobalVariable {
  Variable info;
  std::vector<std::uint8_t> initial;  // shorter than the variable: the rest is zero
  std::vector<Relocation> relocations;
};

struct LocalRange {
  std::uint32_t offset = 0;  // in the function's local frame
  std::uint32_t bytes = 0;
};

struct Function {
  std::string name;
  bool is_kernel = false;
  bool has_body = false;
  std::uint32_t entry = 0;  // index of the first instruction
  std::uint32_t end = 0;
  std::uint32_t frame_bytes = 64;  // of registers; the first slot is the carry flag
  std::uint32_t local_bytes = 0;
  std::vector<LocalRange> parameters;  // of a function that isn't a kernel
  std::vector<LocalRange> results;
  std::uint32_t kernel = kNoSlot;  // index in Program::kernels
};

// What a call passes: ranges of the caller's local frame, in order.
struct CallSite {
  std::uint32_t function = kNoSlot;  // kNoSlot: indirect, by a register
  std::vector<LocalRange> arguments;
  std::vector<LocalRange> results;
};

struct Location {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t inlined_at = 0;  // a location; 0: not inlined
};

struct Program {
  std::string version;
  std::string target;
  bool debug = false;  // made without optimisation, by nvcc -G
  std::vector<Inst> code;
  std::vector<std::uint32_t> operands;
  std::vector<std::uint32_t> priority;  // of each instruction: the fragment with the least runs first
  std::vector<std::uint8_t> constants;
  std::vector<Relocation> relocations;
  std::vector<Function> functions;
  std::vector<CallSite> calls;
  std::vector<std::vector<std::uint32_t>> branch_targets;
  std::vector<GlobalVariable> globals;
  std::vector<Variable> variables;  // GlobalVariable::info of each
  std::vector<SharedVariable> shared;
  std::uint64_t dynamic_shared_alignment = 1024;
  std::vector<KernelInfo> kernels;
  std::vector<std::string> names;
  std::vector<std::string> unsupported;
  std::vector<Location> locations{Location{}};
  std::map<std::uint32_t, std::string> files;
};

}  // namespace upskill::ptx
