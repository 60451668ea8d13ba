// SPDX-License-Identifier: Apache-2.0
// cvt in all its forms, and moving parts of registers.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cuda/ptx/alu.h"
#include "cuda/ptx/alu_lanes.h"
#include "cuda/ptx/number_formats.h"

namespace upskill::ptx {
namespace {

std::uint64_t LoadLane(char* const* bases, std::uint32_t operand, unsigned slot_size, int lane) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, Lanes<char>(bases, operand) + static_cast<std::size_t>(lane) * slot_size,
              std::min<std::size_t>(slot_size, 8));
  return bits;
}

void StoreLane(char* const* bases, std::uint32_t operand, unsigned slot_size, int lane, std::uint64_t bits) {
  std::memcpy(Lanes<char>(bases, operand) + static_cast<std::size_t>(lane) * slot_size, &bits,
              std::min<std::size_t>(slot_size, 8));
}

// The value of `size` bytes as 64 bits, with its sign.
std::uint64_t Extend(std::uint64_t bits, unsigned size, bool is_signed) {
  if (size >= 8) return bits;
  const unsigned shift = 64 - 8 * size;
  return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << shift) >> shift)
                   : (bits << shift) >> shift;
}

std::uint64_t SaturateInteger(std::uint64_t value, bool from_signed, Type to) {
  const unsigned bits = 8 * SizeOf(to);
  const auto value_signed = static_cast<std::int64_t>(value);
  if (IsSigned(to)) {
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
    if (!from_signed) return std::min<std::uint64_t>(value, static_cast<std::uint64_t>(most));
    return static_cast<std::uint64_t>(std::clamp(value_signed, -most - 1, most));
  }
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
  if (from_signed && value_signed < 0) return 0;
  return std::min(value, most);
}

double DecodeSource(std::uint64_t bits, Type type) {
  switch (type) {
    case Type::kF16:
      return static_cast<double>(HalfToFloat(static_cast<std::uint16_t>(bits)));
    case Type::kBf16:
      return static_cast<double>(BfloatToFloat(static_cast<std::uint16_t>(bits)));
    case Type::kF64:
      return std::bit_cast<double>(bits);
    default:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
}

double RoundToInteger(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::kRzi:
    case Rounding::kRz:
      return std::trunc(value);
    case Rounding::kRmi:
    case Rounding::kRm:
      return std::floor(value);
    case Rounding::kRpi:
    case Rounding::kRp:
      return std::ceil(value);
    default:
      return std::nearbyint(value);
  }
}

// Out of range: the nearest integer of the type. NaN becomes 0, as the documentation says for f32 and narrower
// sources; for f64 sources the hardware gives the sign bit alone.
std::uint64_t FloatToInteger(double value, const Inst& inst) {
  const unsigned bits = 8 * SizeOf(inst.type);
  if (std::isnan(value)) {
    return inst.source_type == Type::kF64 || bits == 64 ? std::uint64_t{1} << (bits - 1) : 0;
  }
  value = RoundToInteger(value, inst.rounding);
  if (IsSigned(inst.type)) {
    const double limit = std::ldexp(1.0, static_cast<int>(bits) - 1);
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
    if (value >= limit) return static_cast<std::uint64_t>(most);
    if (value < -limit) return static_cast<std::uint64_t>(-most - 1);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
  if (value <= 0) return 0;
  if (value >= std::ldexp(1.0, static_cast<int>(bits))) {
    return std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
  }
  return static_cast<std::uint64_t>(value);
}

std::uint64_t EncodeResult(double value, Type type, const Inst& inst) {
  const Rounding rounding = inst.rounding;
  const bool finite = (inst.flags & kFlagFinite) != 0;
  if ((inst.flags & kFlagRelu) != 0 && !(value > 0) && !std::isnan(value)) value = 0;
  switch (type) {
    case Type::kF16:
    case Type::kF16x2:
      return EncodeFloat(value, kHalfFormat, rounding, finite);
    case Type::kBf16:
    case Type::kBf16x2:
      return EncodeFloat(value, kBfloatFormat, rounding, finite);
    case Type::kTf32:
      return std::uint64_t{EncodeFloat(value, kTf32Format, rounding, finite)} << 13U;
    case Type::kE4m3x2:
      return EncodeFloat(value, kE4m3Format, rounding, true);
    case Type::kE5m2x2:
      return EncodeFloat(value, kE5m2Format, rounding, true);
    case Type::kF64:
      return std::bit_cast<std::uint64_t>(value);
    default:
      break;
  }
  auto result = static_cast<float>(value);  // in the processor's rounding
  if (inst.ftz) result = FlushSubnormal(result);
  return std::isnan(result) ? 0x7FFFFFFFU : std::bit_cast<std::uint32_t>(result);
}

double Saturated(double value, const Inst& inst) {
  if (!inst.saturate) return value;
  return value >= 1 ? 1.0 : (value > 0 ? value : 0.0);
}

std::uint64_t IntegerToFloat(std::uint64_t value, bool is_signed, const Inst& inst) {
  const auto value_signed = static_cast<std::int64_t>(value);
  if (inst.type == Type::kF32) {
    const float result = is_signed ? static_cast<float>(value_signed) : static_cast<float>(value);
    return std::bit_cast<std::uint32_t>(inst.saturate ? static_cast<float>(Saturated(static_cast<double>(result), inst))
                                                      : result);
  }
  if (inst.type == Type::kF64) {
    return std::bit_cast<std::uint64_t>(is_signed ? static_cast<double>(value_signed) : static_cast<double>(value));
  }
  // Beyond 2^53 a half is infinite, and a bfloat16 is rounded from an odd double.
  double exact = is_signed ? static_cast<double>(value_signed) : static_cast<double>(value);
  const std::uint64_t magnitude = is_signed && value_signed < 0 ? 0 - value : value;
  if (magnitude >> 53U != 0) {
    const std::uint64_t odd = (magnitude & ~std::uint64_t{0xFFF}) | ((magnitude & 0xFFFU) != 0 ? 0x1000U : 0U);
    exact = is_signed && value_signed < 0 ? -static_cast<double>(odd) : static_cast<double>(odd);
  }
  return EncodeResult(Saturated(exact, inst), inst.type, inst);
}

std::uint64_t ConvertOne(std::uint64_t bits, const Inst& inst) {
  const Type from = inst.source_type;
  const Type to = inst.type;
  if (!IsFloat(from)) {
    const std::uint64_t value = Extend(bits, SizeOf(from), IsSigned(from));
    if (IsFloat(to)) return IntegerToFloat(value, IsSigned(from), inst);
    if (inst.saturate) return SaturateInteger(value, IsSigned(from), to);
    // What is stored beyond the type's own bits is its sign or zero.
    return Extend(value, SizeOf(to), IsSigned(to));
  }
  double value = DecodeSource(bits, from);
  if (inst.ftz && from == Type::kF32) value = static_cast<double>(FlushSubnormal(static_cast<float>(value)));
  if (!IsFloat(to)) return FloatToInteger(value, inst);
  const bool to_integer = inst.rounding == Rounding::kRni || inst.rounding == Rounding::kRzi ||
                          inst.rounding == Rounding::kRmi || inst.rounding == Rounding::kRpi;
  if (to_integer && SizeOf(from) >= SizeOf(to)) value = RoundToInteger(value, inst.rounding);
  return EncodeResult(Saturated(value, inst), to, inst);
}

void Convert(char* const* bases, const Inst& inst, std::uint32_t mask) {
  const RoundingScope scope(SizeOf(inst.type) >= 4 && inst.type != Type::kTf32 ? inst.rounding : Rounding::kNone);
  for (int i = 0; i < 32; ++i) {
    if (!Active(mask, i)) continue;
    const std::uint64_t bits = LoadLane(bases, inst.op[1], inst.source_slot_size, i);
    StoreLane(bases, inst.op[0], inst.slot_size, i, ConvertOne(bits, inst));
  }
}

// The most frequent conversions, as loops.
template <typename D, typename A>
void Plain(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes1<D, A>(bases, inst, mask, [](A a) { return static_cast<D>(a); });
}

// Registers of 8-bit types have 16 bits, of which a source's upper ones don't count.
template <typename T>
using Slot =
    std::conditional_t<sizeof(T) == 1, std::conditional_t<std::is_signed_v<T>, std::int16_t, std::uint16_t>, T>;

template <typename D, typename A, typename From = Slot<A>>
void IntegerToInteger(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes1<Slot<D>, From>(bases, inst, mask, [](From a) -> Slot<D> { return static_cast<D>(static_cast<A>(a)); });
}

template <typename F>
AluFunction ForInteger(Type type, F f) {
  switch (type) {
    case Type::kU8:
      return f(std::uint8_t{});
    case Type::kS8:
      return f(std::int8_t{});
    case Type::kU16:
      return f(std::uint16_t{});
    case Type::kS16:
      return f(std::int16_t{});
    case Type::kU32:
      return f(std::uint32_t{});
    case Type::kS32:
      return f(std::int32_t{});
    case Type::kU64:
      return f(std::uint64_t{});
    case Type::kS64:
      return f(std::int64_t{});
    default:
      return nullptr;
  }
}

AluFunction IntegerConversion(const Inst& inst) {
  return ForInteger(inst.source_type, [&](auto a) {
    return ForInteger(inst.type, [&](auto d) -> AluFunction {
      if (inst.source_slot_size == sizeof(Slot<decltype(a)>)) return IntegerToInteger<decltype(d), decltype(a)>;
      if (inst.source_slot_size == 8) return IntegerToInteger<decltype(d), decltype(a), std::uint64_t>;
      return nullptr;
    });
  });
}

void DoubleToSingle(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes1<std::uint32_t, double>(bases, inst, mask, [](double a) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(a));
    return std::isnan(a) ? 0x7FFFFFFFU : bits;
  });
}
void HalfToSingle(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes1<float, std::uint16_t>(bases, inst, mask, [](std::uint16_t a) { return HalfToFloat(a); });
}
void BfloatToSingle(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes1<float, std::uint16_t>(bases, inst, mask, [](std::uint16_t a) { return BfloatToFloat(a); });
}

AluFunction FrequentConversion(const Inst& inst) {
  if (inst.saturate || inst.ftz || inst.flags != 0) return nullptr;
  if (inst.slot_size != std::max(SizeOf(inst.type), 2U)) return nullptr;
  if (!IsFloat(inst.type) && !IsFloat(inst.source_type)) return IntegerConversion(inst);
  if (inst.source_slot_size != SizeOf(inst.source_type)) return nullptr;
  const auto is = [&](Type to, Type from) { return inst.type == to && inst.source_type == from; };
  if (is(Type::kF32, Type::kF16)) return HalfToSingle;
  if (is(Type::kF32, Type::kBf16)) return BfloatToSingle;
  if (is(Type::kF64, Type::kF32)) return Plain<double, float>;
  if (is(Type::kF64, Type::kS32)) return Plain<double, std::int32_t>;
  if (is(Type::kF64, Type::kU32)) return Plain<double, std::uint32_t>;
  if (inst.rounding == Rounding::kRn) {
    if (is(Type::kF32, Type::kS32)) return Plain<float, std::int32_t>;
    if (is(Type::kF32, Type::kU32)) return Plain<float, std::uint32_t>;
    if (is(Type::kF32, Type::kF64)) return DoubleToSingle;
  }
  return nullptr;
}

// cvt.rn.f16x2.f32 d, a, b: a is the upper half. e4m3x2 and e5m2x2 likewise, from f32 or an f16x2.
void ConvertPair(char* const* bases, const Inst& inst, std::uint32_t mask) {
  const unsigned part = SizeOf(inst.type) * 4;  // bits of each half of the result
  const bool from_pair =
      inst.source_type == Type::kF16x2 || inst.source_type == Type::kE4m3x2 || inst.source_type == Type::kE5m2x2;
  for (int i = 0; i < 32; ++i) {
    if (!Active(mask, i)) continue;
    double high = 0;
    double low = 0;
    const std::uint64_t a = LoadLane(bases, inst.op[1], inst.source_slot_size, i);
    if (!from_pair) {
      high = DecodeSource(a, Type::kF32);
      low = DecodeSource(LoadLane(bases, inst.op[2], 4, i), Type::kF32);
    } else if (inst.source_type == Type::kF16x2) {
      high = DecodeSource(a >> 16U, Type::kF16);
      low = DecodeSource(a & 0xFFFFU, Type::kF16);
    } else {
      const FloatFormat& format = inst.source_type == Type::kE4m3x2 ? kE4m3Format : kE5m2Format;
      high = DecodeFloat(static_cast<std::uint32_t>((a >> 8U) & 0xFFU), format);
      low = DecodeFloat(static_cast<std::uint32_t>(a & 0xFFU), format);
    }
    const std::uint64_t bits = (EncodeResult(high, inst.type, inst) << part) | EncodeResult(low, inst.type, inst);
    StoreLane(bases, inst.op[0], inst.slot_size, i, bits);
  }
}

void Pack(char* const* bases, const Inst& inst, std::uint32_t mask) {
  const unsigned parts = inst.sources;
  const unsigned size = inst.slot_size / parts;
  for (int i = 0; i < 32; ++i) {
    if (!Active(mask, i)) continue;
    for (unsigned k = 0; k < parts; ++k) {
      std::memcpy(Lanes<char>(bases, inst.op[0]) + static_cast<std::size_t>(i) * inst.slot_size +
                      static_cast<std::size_t>(k) * size,
                  Lanes<char>(bases, inst.op[1 + k]) + static_cast<std::size_t>(i) * inst.source_slot_size, size);
    }
  }
}

void Unpack(char* const* bases, const Inst& inst, std::uint32_t mask) {
  const unsigned parts = inst.results;
  const unsigned size = inst.source_slot_size / parts;
  for (int i = 0; i < 32; ++i) {
    if (!Active(mask, i)) continue;
    char whole[16];
    std::memcpy(whole, Lanes<char>(bases, inst.op[parts]) + static_cast<std::size_t>(i) * inst.source_slot_size,
                inst.source_slot_size);
    for (unsigned k = 0; k < parts; ++k) {
      std::memcpy(Lanes<char>(bases, inst.op[k]) + static_cast<std::size_t>(i) * inst.slot_size,
                  whole + static_cast<std::size_t>(k) * size, size);
    }
  }
}

void MoveWide(char* const* bases, const Inst& inst, std::uint32_t mask) {
  for (int i = 0; i < 32; ++i) {
    if (!Active(mask, i)) continue;
    const std::size_t at = static_cast<std::size_t>(i) * 16;
    std::memcpy(Lanes<char>(bases, inst.op[0]) + at, Lanes<char>(bases, inst.op[1]) + at, 16);
  }
}

}  // namespace

AluFunction ConvertAlu(AluOp op, const Inst& inst) {
  switch (op) {
    case AluOp::kCvt:
      if (const AluFunction frequent = FrequentConversion(inst)) return frequent;
      return Convert;
    case AluOp::kCvtPack:
      return ConvertPair;
    case AluOp::kPack:
      return Pack;
    case AluOp::kUnpack:
      return Unpack;
    case AluOp::kMov:
      return inst.type == Type::kB128 ? MoveWide : nullptr;
    default:
      return nullptr;
  }
}

bool HasAvx2() {
#if defined(__x86_64__) && defined(UPSKILL_PTX_AVX2)
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#else
  return false;
#endif
}

AluFunction FindAlu(AluOp op, Compare compare, const Inst& inst) {
#ifdef UPSKILL_PTX_AVX2
  const AluFunction fast = HasAvx2() ? avx2::FastAlu(op, compare, inst) : generic::FastAlu(op, compare, inst);
#else
  const AluFunction fast = generic::FastAlu(op, compare, inst);
#endif
  if (fast != nullptr) return fast;
  if (const AluFunction found = BitsAlu(op, inst)) return found;
  if (const AluFunction found = CarryAlu(op, inst)) return found;
  if (const AluFunction found = FloatAlu(op, inst)) return found;
  if (const AluFunction found = HalfAlu(op, inst)) return found;
  if (const AluFunction found = ConvertAlu(op, inst)) return found;
  return CompareAlu(op, inst);
}

}  // namespace upskill::ptx
