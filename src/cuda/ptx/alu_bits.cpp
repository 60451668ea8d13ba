// SPDX-License-Identifier: Apache-2.0
// Integer instructions that are too rare, or too far from a processor's own, for alu_fast.h.
#include <bit>
#include <limits>
#include <type_traits>

#include "cuda/ptx/alu.h"
#include "cuda/ptx/alu_lanes.h"

namespace upskill::ptx {
namespace {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;
__extension__ using Signed128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;

template <typename D, typename A, typename F>
void Each1(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes1<D, A>(bases, inst, mask, [&](A a) { return static_cast<D>(F{}(a, inst)); });
}
template <typename T, typename F>
void Each2(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes2<T, T, T>(bases, inst, mask, [&](T a, T b) { return static_cast<T>(F{}(a, b, inst)); });
}
template <typename T, typename F>
void Each3(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes3<T, T, T, T>(bases, inst, mask, [&](T a, T b, T c) { return static_cast<T>(F{}(a, b, c, inst)); });
}

template <typename T>
T HighProduct(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    using Double = std::conditional_t<std::is_signed_v<T>, Signed128, Unsigned128>;
    return static_cast<T>((static_cast<Double>(a) * static_cast<Double>(b)) >> 64U);
  } else {
    using Double = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return static_cast<T>((Double{a} * Double{b}) >> (8 * sizeof(T)));
  }
}

template <typename T>
T Sum(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
}

std::int32_t Clamp32(std::int64_t value) {
  if (value > std::numeric_limits<std::int32_t>::max()) return std::numeric_limits<std::int32_t>::max();
  if (value < std::numeric_limits<std::int32_t>::min()) return std::numeric_limits<std::int32_t>::min();
  return static_cast<std::int32_t>(value);
}

struct MulHi {
  template <typename T>
  T operator()(T a, T b, const Inst&) const {
    return HighProduct(a, b);
  }
};
struct MadHi {
  template <typename T>
  T operator()(T a, T b, T c, const Inst& inst) const {
    if (inst.saturate) {
      return static_cast<T>(Clamp32(static_cast<std::int64_t>(HighProduct(a, b)) + static_cast<std::int64_t>(c)));
    }
    return Sum(HighProduct(a, b), c);
  }
};
struct AbsoluteDifference {
  template <typename T>
  T operator()(T a, T b, T c, const Inst&) const {
    const T difference = static_cast<T>(a < b ? static_cast<Unsigned<T>>(b) - static_cast<Unsigned<T>>(a)
                                              : static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
    return Sum(difference, c);
  }
};
// Division by zero gives all ones, as the hardware's routines do; its remainder is the dividend.
struct Divide {
  template <typename T>
  T operator()(T a, T b, const Inst&) const {
    if (b == 0) return static_cast<T>(~T{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return static_cast<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(a));
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  template <typename T>
  T operator()(T a, T b, const Inst&) const {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
struct AddSaturated {
  std::int32_t operator()(std::int32_t a, std::int32_t b, const Inst&) const { return Clamp32(std::int64_t{a} + b); }
};
struct SubtractSaturated {
  std::int32_t operator()(std::int32_t a, std::int32_t b, const Inst&) const { return Clamp32(std::int64_t{a} - b); }
};

template <typename T>
std::int64_t Product24(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    const auto extend = [](T value) {
      return static_cast<std::int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(value) << 8U) >> 8);
    };
    return extend(a) * extend(b);
  } else {
    return static_cast<std::int64_t>(std::uint64_t{a & 0xFFFFFFU} * std::uint64_t{b & 0xFFFFFFU});
  }
}
struct Mul24Lo {
  template <typename T>
  T operator()(T a, T b, const Inst&) const {
    return static_cast<T>(Product24(a, b));
  }
};
struct Mul24Hi {
  template <typename T>
  T operator()(T a, T b, const Inst&) const {
    return static_cast<T>(Product24(a, b) >> 16U);
  }
};
struct Mad24Lo {
  template <typename T>
  T operator()(T a, T b, T c, const Inst&) const {
    return Sum(static_cast<T>(Product24(a, b)), c);
  }
};
struct Mad24Hi {
  template <typename T>
  T operator()(T a, T b, T c, const Inst&) const {
    return Sum(static_cast<T>(Product24(a, b) >> 16U), c);
  }
};

struct LogicalNot {
  template <typename T>
  T operator()(T a, const Inst&) const {
    return a == 0 ? T{1} : T{0};
  }
};
struct CountLeadingZeros {
  template <typename T>
  int operator()(T a, const Inst&) const {
    return std::countl_zero(a);
  }
};
struct CountOnes {
  template <typename T>
  int operator()(T a, const Inst&) const {
    return std::popcount(a);
  }
};
struct ReverseBits {
  template <typename T>
  T operator()(T a, const Inst&) const {
    T result = 0;
    for (unsigned i = 0; i < sizeof(T) * 8; ++i) {
      result = static_cast<T>((result << 1U) | ((a >> i) & 1U));
    }
    return result;
  }
};
// The highest bit that differs from the sign, or all ones if there is none.
struct FindHighest {
  template <typename T>
  std::uint32_t operator()(T a, const Inst& inst) const {
    auto bits = static_cast<Unsigned<T>>(a);
    if (std::is_signed_v<T> && a < 0) bits = static_cast<Unsigned<T>>(~bits);
    if (bits == 0) return 0xFFFFFFFFU;
    const auto zeros = static_cast<std::uint32_t>(std::countl_zero(bits));
    return (inst.flags & kFlagShiftAmount) != 0 ? zeros : static_cast<std::uint32_t>(sizeof(T) * 8 - 1) - zeros;
  }
};

template <typename T>
void ExtractBits(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes3<T, T, std::uint32_t, std::uint32_t>(bases, inst, mask, [](T a, std::uint32_t b, std::uint32_t c) {
    constexpr std::uint32_t kTop = sizeof(T) * 8 - 1;
    const std::uint32_t position = b & 0xFFU;
    const std::uint32_t length = c & 0xFFU;
    const auto bits = static_cast<Unsigned<T>>(a);
    bool sign = false;
    if (std::is_signed_v<T> && length != 0) {
      const std::uint32_t at = position + length - 1 > kTop ? kTop : position + length - 1;
      sign = ((bits >> at) & 1U) != 0;
    }
    Unsigned<T> result = sign ? static_cast<Unsigned<T>>(~Unsigned<T>{0}) : Unsigned<T>{0};
    for (std::uint32_t i = 0; i <= kTop && i < length && position + i <= kTop; ++i) {
      const auto one = static_cast<Unsigned<T>>(Unsigned<T>{1} << i);
      result = ((bits >> (position + i)) & 1U) != 0 ? (result | one) : (result & static_cast<Unsigned<T>>(~one));
    }
    return static_cast<T>(result);
  });
}

template <typename T>
void InsertBits(char* const* bases, const Inst& inst, std::uint32_t mask) {
  T* d = Lanes<T>(bases, inst.op[0]);
  const T* a = Lanes<T>(bases, inst.op[1]);
  const T* b = Lanes<T>(bases, inst.op[2]);
  const auto* c = Lanes<std::uint32_t>(bases, inst.op[3]);
  const auto* length = Lanes<std::uint32_t>(bases, inst.op[4]);
  for (int i = 0; i < 32; ++i) {
    if (!Active(mask, i)) continue;
    T result = b[i];
    const std::uint32_t position = c[i] & 0xFFU;
    for (std::uint32_t k = 0; k < (length[i] & 0xFFU) && position + k < sizeof(T) * 8; ++k) {
      const T one = T{1} << (position + k);
      result = ((a[i] >> k) & 1U) != 0 ? (result | one) : (result & ~one);
    }
    d[i] = result;
  }
}

void FunnelShift(char* const* bases, const Inst& inst, std::uint32_t mask, bool left) {
  const bool wrap = (inst.flags & kFlagWrap) != 0;
  ForLanes3<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>(
      bases, inst, mask, [=](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        const std::uint32_t shift = wrap ? c & 31U : (c > 32 ? 32U : c);
        const std::uint64_t both = (std::uint64_t{b} << 32U) | a;
        return static_cast<std::uint32_t>(left ? (both << shift) >> 32U : both >> shift);
      });
}
void FunnelLeft(char* const* bases, const Inst& inst, std::uint32_t mask) { FunnelShift(bases, inst, mask, true); }
void FunnelRight(char* const* bases, const Inst& inst, std::uint32_t mask) { FunnelShift(bases, inst, mask, false); }

void Lop3(char* const* bases, const Inst& inst, std::uint32_t mask) {
  const auto table = static_cast<std::uint32_t>(inst.imm);
  ForLanes3<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>(
      bases, inst, mask, [=](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        std::uint32_t result = 0;
        for (unsigned row = 0; row < 8; ++row) {
          if (((table >> row) & 1U) == 0) continue;
          result |= ((row & 4U) != 0 ? a : ~a) & ((row & 2U) != 0 ? b : ~b) & ((row & 1U) != 0 ? c : ~c);
        }
        return result;
      });
}

std::uint32_t Selector(std::uint32_t mode, std::uint32_t c) {
  const std::uint32_t s = c & 3U;
  constexpr std::uint32_t kTables[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543},  // f4e
      {0x5670, 0x6701, 0x7012, 0x0123},  // b4e
      {0x0000, 0x1111, 0x2222, 0x3333},  // rc8
      {0x3210, 0x3211, 0x3222, 0x3333},  // ecl
      {0x0000, 0x1110, 0x2210, 0x3210},  // ecr
      {0x1010, 0x3232, 0x1010, 0x3232},  // rc16
  };
  return mode == 0 ? c : kTables[mode - 1][s];
}

void Permute(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes3<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>(
      bases, inst, mask, [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        const std::uint64_t bytes = (std::uint64_t{b} << 32U) | a;
        const std::uint32_t selector = Selector(inst.sub, c);
        std::uint32_t result = 0;
        for (unsigned i = 0; i < 4; ++i) {
          const std::uint32_t choice = (selector >> (4 * i)) & 0xFU;
          auto byte = static_cast<std::uint32_t>((bytes >> (8 * (choice & 7U))) & 0xFFU);
          if ((choice & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xFFU : 0U;
          result |= byte << (8 * i);
        }
        return result;
      });
}

// szext.{clamp,wrap}: extends from bit b on. bmsk: b ones from bit a on.
void SignExtend(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes2<std::uint32_t, std::uint32_t, std::uint32_t>(bases, inst, mask, [&](std::uint32_t a, std::uint32_t b) {
    if ((inst.flags & kFlagWrap) != 0) b &= 31U;
    if (b == 0) return 0U;
    if (b >= 32) return a;
    const std::uint32_t low = a & ((1U << b) - 1);
    return IsSigned(inst.type) && ((a >> (b - 1)) & 1U) != 0 ? low | ~((1U << b) - 1) : low;
  });
}
void BitMask(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes2<std::uint32_t, std::uint32_t, std::uint32_t>(bases, inst, mask, [&](std::uint32_t a, std::uint32_t b) {
    if ((inst.flags & kFlagWrap) != 0) {
      a &= 31U;
      b &= 31U;
    }
    if (a >= 32 || b == 0) return 0U;
    const std::uint32_t ones = b >= 32 ? 0xFFFFFFFFU : (1U << b) - 1;
    return ones << a;
  });
}
void FindNthSet(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes3<std::uint32_t, std::uint32_t, std::uint32_t, std::int32_t>(
      bases, inst, mask, [](std::uint32_t a, std::uint32_t base, std::int32_t offset) {
        std::int64_t missing = offset == 0 ? 1 : (offset < 0 ? -std::int64_t{offset} : offset);
        for (std::int64_t i = base; i >= 0 && i < 32; i += offset < 0 ? -1 : 1) {
          if (((a >> i) & 1U) != 0 && --missing == 0) return static_cast<std::uint32_t>(i);
          if (offset == 0) break;
        }
        return 0xFFFFFFFFU;
      });
}

// The functions for 16, 32 and 64 bits, signed or not.
template <template <typename> typename Pick>
AluFunction ByType(Type type) {
  switch (SizeOf(type)) {
    case 2:
      return IsSigned(type) ? Pick<std::int16_t>::kFunction : Pick<std::uint16_t>::kFunction;
    case 4:
      return IsSigned(type) ? Pick<std::int32_t>::kFunction : Pick<std::uint32_t>::kFunction;
    case 8:
      return IsSigned(type) ? Pick<std::int64_t>::kFunction : Pick<std::uint64_t>::kFunction;
    default:
      return nullptr;
  }
}
template <typename F>
struct Two {
  template <typename T>
  struct Of {
    static constexpr AluFunction kFunction = Each2<T, F>;
  };
};
template <typename F>
struct Three {
  template <typename T>
  struct Of {
    static constexpr AluFunction kFunction = Each3<T, F>;
  };
};

template <typename F>
AluFunction Unsigned1(const Inst& inst, bool result_is_32) {
  switch (SizeOf(inst.type)) {
    case 2:
      return Each1<std::uint16_t, std::uint16_t, F>;
    case 4:
      return Each1<std::uint32_t, std::uint32_t, F>;
    case 8:
      return result_is_32 ? Each1<std::uint32_t, std::uint64_t, F> : Each1<std::uint64_t, std::uint64_t, F>;
    default:
      return nullptr;
  }
}

AluFunction FindHighestAlu(Type type) {
  if (SizeOf(type) == 8) {
    return IsSigned(type) ? Each1<std::uint32_t, std::int64_t, FindHighest>
                          : Each1<std::uint32_t, std::uint64_t, FindHighest>;
  }
  return IsSigned(type) ? Each1<std::uint32_t, std::int32_t, FindHighest>
                        : Each1<std::uint32_t, std::uint32_t, FindHighest>;
}

AluFunction ExtractAlu(Type type) {
  if (SizeOf(type) == 8) return IsSigned(type) ? ExtractBits<std::int64_t> : ExtractBits<std::uint64_t>;
  return IsSigned(type) ? ExtractBits<std::int32_t> : ExtractBits<std::uint32_t>;
}

AluFunction Mul24Alu(AluOp op, Type type) {
  if (SizeOf(type) != 4) return nullptr;
  const bool is_signed = IsSigned(type);
  switch (op) {
    case AluOp::kMul24Lo:
      return is_signed ? Each2<std::int32_t, Mul24Lo> : Each2<std::uint32_t, Mul24Lo>;
    case AluOp::kMul24Hi:
      return is_signed ? Each2<std::int32_t, Mul24Hi> : Each2<std::uint32_t, Mul24Hi>;
    case AluOp::kMad24Lo:
      return is_signed ? Each3<std::int32_t, Mad24Lo> : Each3<std::uint32_t, Mad24Lo>;
    default:
      return is_signed ? Each3<std::int32_t, Mad24Hi> : Each3<std::uint32_t, Mad24Hi>;
  }
}

}  // namespace

AluFunction BitsAlu(AluOp op, const Inst& inst) {
  const Type type = inst.type;
  if (type == Type::kPred) return nullptr;
  if (IsFloat(type) || type == Type::kU16x2 || type == Type::kS16x2) return nullptr;
  switch (op) {
    case AluOp::kAdd:
      return type == Type::kS32 && inst.saturate ? Each2<std::int32_t, AddSaturated> : nullptr;
    case AluOp::kSub:
      return type == Type::kS32 && inst.saturate ? Each2<std::int32_t, SubtractSaturated> : nullptr;
    case AluOp::kMulHi:
      return ByType<Two<MulHi>::Of>(type);
    case AluOp::kMadHi:
      return ByType<Three<MadHi>::Of>(type);
    case AluOp::kSad:
      return ByType<Three<AbsoluteDifference>::Of>(type);
    case AluOp::kDiv:
      return ByType<Two<Divide>::Of>(type);
    case AluOp::kRem:
      return ByType<Two<Remainder>::Of>(type);
    case AluOp::kMul24Lo:
    case AluOp::kMul24Hi:
    case AluOp::kMad24Lo:
    case AluOp::kMad24Hi:
      return Mul24Alu(op, type);
    case AluOp::kCnot:
      return Unsigned1<LogicalNot>(inst, false);
    case AluOp::kClz:
      return Unsigned1<CountLeadingZeros>(inst, true);
    case AluOp::kPopc:
      return Unsigned1<CountOnes>(inst, true);
    case AluOp::kBrev:
      return Unsigned1<ReverseBits>(inst, false);
    case AluOp::kBfind:
      return FindHighestAlu(type);
    case AluOp::kBfe:
      return ExtractAlu(type);
    case AluOp::kBfi:
      return SizeOf(type) == 8 ? InsertBits<std::uint64_t> : InsertBits<std::uint32_t>;
    case AluOp::kShfLeft:
      return FunnelLeft;
    case AluOp::kShfRight:
      return FunnelRight;
    case AluOp::kLop3:
      return Lop3;
    case AluOp::kPrmt:
      return Permute;
    case AluOp::kSzext:
      return SignExtend;
    case AluOp::kBmsk:
      return BitMask;
    case AluOp::kFns:
      return FindNthSet;
    default:
      return nullptr;
  }
}

}  // namespace upskill::ptx
