// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cuda/ptx/program.h"

namespace upskill::ptx {

enum class AluOp : std::uint8_t {
  kMov,
  kAdd,
  kSub,
  kMulLo,  // of floats: mul
  kMulHi,
  kMulWide,
  kMadLo,
  kMadHi,
  kMadWide,
  kMul24Lo,
  kMul24Hi,
  kMad24Lo,
  kMad24Hi,
  kSad,
  kDiv,
  kRem,
  kAbs,
  kNeg,
  kMin,
  kMax,
  kAnd,
  kOr,
  kXor,
  kNot,
  kCnot,
  kShl,
  kShr,
  kShfLeft,
  kShfRight,
  kLop3,
  kPrmt,
  kBfe,
  kBfi,
  kBfind,
  kBrev,
  kClz,
  kPopc,
  kFns,
  kSzext,
  kBmsk,
  kDp4a,
  kDp2a,
  kAddCarry,  // add.cc, addc, sub.cc, subc: kCarryIn, kCarryOut in flags
  kSubCarry,
  kMadLoCarry,
  kMadHiCarry,
  kFma,
  kRcp,
  kSqrt,
  kRsqrt,
  kEx2,
  kLg2,
  kSin,
  kCos,
  kTanh,
  kCopysign,
  kTestp,
  kSetp,
  kSet,
  kSelp,
  kSlct,
  kCvt,
  kCvtPack,  // two floats into one register
  kPack,     // mov.b64 %rd, {…}
  kUnpack,   // mov.b64 {…}, %rd
};

enum class Compare : std::uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kEqu, kNeu, kLtu, kLeu, kGtu, kGeu, kNum, kNan };

// Bits of Inst::flags for instructions that compute.
constexpr std::uint32_t kFlagWrap = 1;         // shf.wrap
constexpr std::uint32_t kFlagShiftAmount = 1;  // bfind.shiftamt
constexpr std::uint32_t kFlagNan = 1;          // min.NaN
constexpr std::uint32_t kFlagXorsign = 2;      // min.xorsign.abs
constexpr std::uint32_t kFlagApprox = 4;       // div.approx, sqrt.approx
constexpr std::uint32_t kFlagRelu = 8;         // fma.relu, cvt.relu
constexpr std::uint32_t kFlagCarryIn = 1;
constexpr std::uint32_t kFlagCarryOut = 2;
constexpr std::uint32_t kFlagSourceBSigned = 1;  // dp4a: type of b
constexpr std::uint32_t kFlagHigh = 2;           // dp2a.hi
constexpr std::uint32_t kFlagFinite = 16;        // cvt.satfinite
// setp: how the comparison is combined with op[4].
constexpr std::uint32_t kCombineAnd = 1;
constexpr std::uint32_t kCombineOr = 2;
constexpr std::uint32_t kCombineXor = 3;

// The function that computes `op` for the types, rounding and flags of `inst`, or nullptr if there is none. The
// variant for the processor's vector instructions is chosen.
AluFunction FindAlu(AluOp op, Compare compare, const Inst& inst);

// The parts that FindAlu is made of. What is frequent is compiled for several kinds of processors (alu_fast.h).
namespace generic {
AluFunction FastAlu(AluOp op, Compare compare, const Inst& inst);
}
namespace avx2 {
AluFunction FastAlu(AluOp op, Compare compare, const Inst& inst);
}
AluFunction BitsAlu(AluOp op, const Inst& inst);     // alu_bits.cpp
AluFunction CarryAlu(AluOp op, const Inst& inst);    // alu_carry.cpp
AluFunction FloatAlu(AluOp op, const Inst& inst);    // alu_float.cpp
AluFunction HalfAlu(AluOp op, const Inst& inst);     // alu_half.cpp
AluFunction ConvertAlu(AluOp op, const Inst& inst);  // alu_convert.cpp
AluFunction CompareAlu(AluOp op, const Inst& inst);  // alu_compare.cpp; the comparison is Inst::sub

}  // namespace upskill::ptx
