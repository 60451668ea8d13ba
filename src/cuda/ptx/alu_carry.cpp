// SPDX-License-Identifier: Apache-2.0
// Instructions on masks of lanes: predicates, and the carry flag, which is a predicate in the frame's first slot. Dot
// products.
#include <type_traits>

#include "cuda/ptx/alu.h"
#include "cuda/ptx/alu_lanes.h"

namespace upskill::ptx {
namespace {

__extension__ using Signed128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;

// Predicates are masks of lanes.
template <typename F>
void Predicates(char* const* bases, const Inst& inst, std::uint32_t mask) {
  const std::uint32_t a = *Lanes<std::uint32_t>(bases, inst.op[1]);
  const std::uint32_t b = inst.op[2] == kNoSlot ? 0 : *Lanes<std::uint32_t>(bases, inst.op[2]);
  std::uint32_t& d = *Lanes<std::uint32_t>(bases, inst.op[0]);
  d = (d & ~mask) | (F{}(a, b) & mask);
}
struct PredicateMove {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t) const { return a; }
};
struct PredicateNot {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t) const { return ~a; }
};
struct PredicateAnd {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a & b; }
};
struct PredicateOr {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a | b; }
};
struct PredicateXor {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a ^ b; }
};

AluFunction PredicateAlu(AluOp op) {
  switch (op) {
    case AluOp::kMov:
      return Predicates<PredicateMove>;
    case AluOp::kNot:
      return Predicates<PredicateNot>;
    case AluOp::kAnd:
      return Predicates<PredicateAnd>;
    case AluOp::kOr:
      return Predicates<PredicateOr>;
    case AluOp::kXor:
      return Predicates<PredicateXor>;
    default:
      return nullptr;
  }
}

// One addend more: a + b + carry, with the carry out of it. Subtractions add the complement, so that their flag is 1 if
// nothing was borrowed: nvcc's division of 128 bits reads it by addc after sub.cc.
template <typename T>
void AddWithCarry(char* const* bases, const Inst& inst, std::uint32_t mask, bool subtracts) {
  T* d = Lanes<T>(bases, inst.op[0]);
  const T* a = Lanes<T>(bases, inst.op[1]);
  const T* b = Lanes<T>(bases, inst.op[2]);
  std::uint32_t& carry = *Lanes<std::uint32_t>(bases, 0);
  std::uint32_t out = 0;
  for (unsigned i = 0; i < 32; ++i) {
    if (((mask >> i) & 1U) == 0) continue;
    using Double = Unsigned128;
    const T second = subtracts ? static_cast<T>(~b[i]) : b[i];
    // Without a flag to read, an addition adds no more, and a subtraction the 1 of the complement.
    const bool added = (inst.flags & kFlagCarryIn) != 0 ? ((carry >> i) & 1U) != 0 : subtracts;
    const Double sum = Double{a[i]} + Double{second} + Double{added};
    d[i] = static_cast<T>(sum);
    if ((sum >> (8 * sizeof(T))) != 0) out |= 1U << i;
  }
  if ((inst.flags & kFlagCarryOut) != 0) carry = (carry & ~mask) | out;
}

template <typename T>
void MultiplyAddWithCarry(char* const* bases, const Inst& inst, std::uint32_t mask, bool high) {
  using U = std::make_unsigned_t<T>;
  T* d = Lanes<T>(bases, inst.op[0]);
  const T* a = Lanes<T>(bases, inst.op[1]);
  const T* b = Lanes<T>(bases, inst.op[2]);
  const T* c = Lanes<T>(bases, inst.op[3]);
  std::uint32_t& carry = *Lanes<std::uint32_t>(bases, 0);
  std::uint32_t out = 0;
  for (unsigned i = 0; i < 32; ++i) {
    if (((mask >> i) & 1U) == 0) continue;
    using Double = std::conditional_t<std::is_signed_v<T>, Signed128, Unsigned128>;
    const Double product = static_cast<Double>(a[i]) * static_cast<Double>(b[i]);
    const auto part = static_cast<U>(high ? product >> (8 * sizeof(T)) : product);
    const bool in = (inst.flags & kFlagCarryIn) != 0 && ((carry >> i) & 1U) != 0;
    const Unsigned128 sum = static_cast<Unsigned128>(part) + static_cast<U>(c[i]) + (in ? 1U : 0U);
    d[i] = static_cast<T>(sum);
    if ((sum >> (8 * sizeof(T))) != 0) out |= 1U << i;
  }
  if ((inst.flags & kFlagCarryOut) != 0) carry = (carry & ~mask) | out;
}

template <typename T>
void Add(char* const* bases, const Inst& inst, std::uint32_t mask) {
  AddWithCarry<T>(bases, inst, mask, false);
}
template <typename T>
void Subtract(char* const* bases, const Inst& inst, std::uint32_t mask) {
  AddWithCarry<T>(bases, inst, mask, true);
}
template <typename T>
void MultiplyLow(char* const* bases, const Inst& inst, std::uint32_t mask) {
  MultiplyAddWithCarry<T>(bases, inst, mask, false);
}
template <typename T>
void MultiplyHigh(char* const* bases, const Inst& inst, std::uint32_t mask) {
  MultiplyAddWithCarry<T>(bases, inst, mask, true);
}

void DotProduct(char* const* bases, const Inst& inst, std::uint32_t mask, bool four) {
  const bool signed_a = IsSigned(inst.type);
  const bool signed_b = (inst.flags & kFlagSourceBSigned) != 0;
  const unsigned first = (inst.flags & kFlagHigh) != 0 ? 2 : 0;
  ForLanes3<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>(
      bases, inst, mask, [=](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        const auto byte = [](std::uint32_t word, unsigned i, bool is_signed) -> std::int32_t {
          const std::uint32_t bits = (word >> (8 * i)) & 0xFFU;
          return is_signed ? static_cast<std::int8_t>(bits) : static_cast<std::int32_t>(bits);
        };
        const auto half = [](std::uint32_t word, unsigned i, bool is_signed) -> std::int32_t {
          const std::uint32_t bits = (word >> (16 * i)) & 0xFFFFU;
          return is_signed ? static_cast<std::int16_t>(bits) : static_cast<std::int32_t>(bits);
        };
        for (unsigned i = 0; i < (four ? 4U : 2U); ++i) {
          const std::int32_t left = four ? byte(a, i, signed_a) : half(a, i, signed_a);
          c += static_cast<std::uint32_t>(left) * static_cast<std::uint32_t>(byte(b, first + i, signed_b));
        }
        return c;
      });
}
void Dp4a(char* const* bases, const Inst& inst, std::uint32_t mask) { DotProduct(bases, inst, mask, true); }
void Dp2a(char* const* bases, const Inst& inst, std::uint32_t mask) { DotProduct(bases, inst, mask, false); }

}  // namespace

AluFunction CarryAlu(AluOp op, const Inst& inst) {
  if (inst.type == Type::kPred) return PredicateAlu(op);
  const bool wide = SizeOf(inst.type) == 8;
  switch (op) {
    case AluOp::kAddCarry:
      return wide ? Add<std::uint64_t> : Add<std::uint32_t>;
    case AluOp::kSubCarry:
      return wide ? Subtract<std::uint64_t> : Subtract<std::uint32_t>;
    case AluOp::kMadLoCarry:
      return wide ? MultiplyLow<std::uint64_t> : MultiplyLow<std::uint32_t>;
    case AluOp::kMadHiCarry:
      if (IsSigned(inst.type)) return wide ? MultiplyHigh<std::int64_t> : MultiplyHigh<std::int32_t>;
      return wide ? MultiplyHigh<std::uint64_t> : MultiplyHigh<std::uint32_t>;
    case AluOp::kDp4a:
      return Dp4a;
    case AluOp::kDp2a:
      return Dp2a;
    default:
      return nullptr;
  }
}

}  // namespace upskill::ptx
