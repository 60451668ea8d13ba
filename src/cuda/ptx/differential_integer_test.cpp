// SPDX-License-Identifier: Apache-2.0
// Integer instructions against the same expressions, compiled by the host's compiler.
#include <bit>
#include <limits>

#include "cuda/ptx/differential_test.h"

namespace upskill::ptx {
namespace {

using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S8 = std::int8_t;
using S16 = std::int16_t;
using S32 = std::int32_t;
using S64 = std::int64_t;
__extension__ using U128 = unsigned __int128;
__extension__ using S128 = __int128;

U64 Low32(U64 x) { return x & 0xFFFFFFFFU; }
U64 Low16(U64 x) { return x & 0xFFFFU; }
S32 I32(U64 x) { return static_cast<S32>(x); }
S64 I64(U64 x) { return static_cast<S64>(x); }
S16 I16(U64 x) { return static_cast<S16>(x); }

TEST(DifferentialInteger, AddAndMultiply) {
  ExpectAsOnHost("add.u32 %rd, %ra, %rb;", 'r', [](U64 a, U64 b, U64) { return Low32(a + b); });
  ExpectAsOnHost("sub.s64 %ld, %la, %lb;", 'l', [](U64 a, U64 b, U64) { return a - b; });
  ExpectAsOnHost("add.u16 %hd, %ha, %hb;", 'h', [](U64 a, U64 b, U64) { return Low16(a + b); });
  ExpectAsOnHost("add.sat.s32 %rd, %ra, %rb;", 'r', [](U64 a, U64 b, U64) {
    S32 sum = 0;
    if (!__builtin_add_overflow(I32(a), I32(b), &sum)) return Low32(static_cast<U64>(sum));
    return I32(a) < 0 ? U64{0x80000000U} : U64{0x7FFFFFFFU};
  });
  ExpectAsOnHost("mul.lo.s32 %rd, %ra, %rb;", 'r', [](U64 a, U64 b, U64) { return Low32(a * b); });
  ExpectAsOnHost("mul.hi.u32 %rd, %ra, %rb;", 'r', [](U64 a, U64 b, U64) { return (Low32(a) * Low32(b)) >> 32U; });
  ExpectAsOnHost("mul.hi.s32 %rd, %ra, %rb;", 'r',
                 [](U64 a, U64 b, U64) { return Low32(static_cast<U64>((S64{I32(a)} * I32(b)) >> 32)); });
  ExpectAsOnHost("mul.hi.u64 %ld, %la, %lb;", 'l',
                 [](U64 a, U64 b, U64) { return static_cast<U64>((U128{a} * b) >> 64); });
  ExpectAsOnHost("mul.hi.s64 %ld, %la, %lb;", 'l',
                 [](U64 a, U64 b, U64) { return static_cast<U64>((S128{I64(a)} * I64(b)) >> 64); });
  ExpectAsOnHost("mul.hi.s16 %hd, %ha, %hb;", 'h',
                 [](U64 a, U64 b, U64) { return Low16(static_cast<U64>((S32{I16(a)} * I16(b)) >> 16)); });
  ExpectAsOnHost("mul.wide.s32 %ld, %ra, %rb;", 'l',
                 [](U64 a, U64 b, U64) { return static_cast<U64>(S64{I32(a)} * I32(b)); });
  ExpectAsOnHost("mul.wide.u16 %rd, %ha, %hb;", 'r', [](U64 a, U64 b, U64) { return Low16(a) * Low16(b); });
  ExpectAsOnHost("mad.lo.u32 %rd, %ra, %rb, %rc;", 'r', [](U64 a, U64 b, U64 c) { return Low32(a * b + c); });
  ExpectAsOnHost("mad.lo.s64 %ld, %la, %lb, %lc;", 'l', [](U64 a, U64 b, U64 c) { return a * b + c; });
  ExpectAsOnHost("mad.hi.u32 %rd, %ra, %rb, %rc;", 'r',
                 [](U64 a, U64 b, U64 c) { return Low32(((Low32(a) * Low32(b)) >> 32U) + c); });
  ExpectAsOnHost("mad.wide.u32 %ld, %ra, %rb, %lc;", 'l', [](U64 a, U64 b, U64 c) { return Low32(a) * Low32(b) + c; });
  ExpectAsOnHost("mul24.lo.u32 %rd, %ra, %rb;", 'r',
                 [](U64 a, U64 b, U64) { return Low32((a & 0xFFFFFFU) * (b & 0xFFFFFFU)); });
  ExpectAsOnHost("sad.u32 %rd, %ra, %rb, %rc;", 'r', [](U64 a, U64 b, U64 c) {
    return Low32((Low32(a) > Low32(b) ? Low32(a) - Low32(b) : Low32(b) - Low32(a)) + c);
  });
}

TEST(DifferentialInteger, CarryChains) {
  ExpectAsOnHost("add.cc.u32 %rd, %ra, %rb; addc.u32 %rd, %rb, %rc;", 'r',
                 [](U64 a, U64 b, U64 c) { return Low32(b + c + ((Low32(a) + Low32(b)) >> 32U)); });
  ExpectAsOnHost("sub.cc.u32 %rd, %ra, %rb; subc.u32 %rd, %rb, %rc;", 'r',
                 [](U64 a, U64 b, U64 c) { return Low32(b - c - (Low32(a) < Low32(b) ? 1 : 0)); });
  ExpectAsOnHost("add.cc.u64 %ld, %la, %lb; addc.cc.u64 %ld, %lb, %lc; addc.u64 %ld, %la, %lc;", 'l',
                 [](U64 a, U64 b, U64 c) {
                   const U64 first = static_cast<U64>((U128{a} + b) >> 64);
                   const U64 second = static_cast<U64>((U128{b} + c + first) >> 64);
                   return a + c + second;
                 });
  ExpectAsOnHost("mad.lo.cc.u32 %rd, %ra, %rb, %rc; madc.hi.u32 %rd, %ra, %rb, %rc;", 'r', [](U64 a, U64 b, U64 c) {
    const U64 product = Low32(a) * Low32(b);
    return Low32((product >> 32U) + c + ((Low32(product) + Low32(c)) >> 32U));
  });
}

TEST(DifferentialInteger, DivideAndCompare) {
  ExpectAsOnHost("or.b32 %rb, %rb, 1; div.u32 %rd, %ra, %rb;", 'r',
                 [](U64 a, U64 b, U64) { return Low32(a) / (Low32(b) | 1U); });
  ExpectAsOnHost("or.b32 %rb, %rb, 1; rem.s32 %rd, %ra, %rb;", 'r',
                 [](U64 a, U64 b, U64) { return Low32(static_cast<U64>(S64{I32(a)} % (I32(b) | 1))); });
  ExpectAsOnHost("or.b64 %lb, %lb, 1; div.u64 %ld, %la, %lb;", 'l', [](U64 a, U64 b, U64) { return a / (b | 1U); });
  ExpectAsOnHost("or.b64 %lb, %lb, 1; div.s64 %ld, %la, %lb;", 'l',
                 [](U64 a, U64 b, U64) { return static_cast<U64>(S128{I64(a)} / (I64(b) | 1)); });
  ExpectAsOnHost("min.s32 %rd, %ra, %rb;", 'r',
                 [](U64 a, U64 b, U64) { return Low32(static_cast<U64>(std::min(I32(a), I32(b)))); });
  ExpectAsOnHost("max.u64 %ld, %la, %lb;", 'l', [](U64 a, U64 b, U64) { return std::max(a, b); });
  ExpectAsOnHost("abs.s64 %ld, %la;", 'l', [](U64 a, U64, U64) { return I64(a) < 0 ? 0 - a : a; });
  ExpectAsOnHost("setp.lt.s32 %p, %ra, %rb; selp.u32 %rd, 1, 0, %p;", 'r',
                 [](U64 a, U64 b, U64) { return U64{I32(a) < I32(b)}; });
  ExpectAsOnHost("setp.hs.u64 %p, %la, %lb; selp.u32 %rd, 1, 0, %p;", 'r',
                 [](U64 a, U64 b, U64) { return U64{a >= b}; });
  ExpectAsOnHost("set.gt.u32.u32 %rd, %ra, %rb;", 'r',
                 [](U64 a, U64 b, U64) { return Low32(a) > Low32(b) ? U64{0xFFFFFFFFU} : U64{0}; });
  ExpectAsOnHost("slct.u32.s32 %rd, %ra, %rb, %rc;", 'r',
                 [](U64 a, U64 b, U64 c) { return I32(c) >= 0 ? Low32(a) : Low32(b); });
}

TEST(DifferentialInteger, Shifts) {
  ExpectAsOnHost("shl.b32 %rd, %ra, %rb;", 'r',
                 [](U64 a, U64 b, U64) { return Low32(b) > 31 ? 0 : Low32(a << (b & 31U)); });
  ExpectAsOnHost("shr.u64 %ld, %la, %rb;", 'l', [](U64 a, U64 b, U64) { return Low32(b) > 63 ? 0 : a >> (b & 63U); });
  ExpectAsOnHost("shr.s32 %rd, %ra, %rb;", 'r',
                 [](U64 a, U64 b, U64) { return Low32(static_cast<U64>(S64{I32(a)} >> std::min<U64>(Low32(b), 31))); });
  ExpectAsOnHost("shr.s16 %hd, %ha, %rb;", 'h',
                 [](U64 a, U64 b, U64) { return Low16(static_cast<U64>(S64{I16(a)} >> std::min<U64>(Low32(b), 15))); });
  ExpectAsOnHost("shf.l.wrap.b32 %rd, %ra, %rb, %rc;", 'r',
                 [](U64 a, U64 b, U64 c) { return Low32((((Low32(b) << 32U) | Low32(a)) << (c & 31U)) >> 32U); });
  ExpectAsOnHost("shf.l.clamp.b32 %rd, %ra, %rb, %rc;", 'r', [](U64 a, U64 b, U64 c) {
    const U64 n = std::min<U64>(Low32(c), 32);
    return n == 32 ? Low32(a) : Low32((((Low32(b) << 32U) | Low32(a)) << n) >> 32U);
  });
  ExpectAsOnHost("shf.r.clamp.b32 %rd, %ra, %rb, %rc;", 'r', [](U64 a, U64 b, U64 c) {
    return Low32(((Low32(b) << 32U) | Low32(a)) >> std::min<U64>(Low32(c), 32));
  });
}

TEST(DifferentialInteger, Bits) {
  ExpectAsOnHost("lop3.b32 %rd, %ra, %rb, %rc, 0xE8;", 'r',
                 [](U64 a, U64 b, U64 c) { return Low32((a & b) | (a & c) | (b & c)); });
  ExpectAsOnHost("lop3.b32 %rd, %ra, %rb, %rc, 0x2D;", 'r', [](U64 a, U64 b, U64 c) {
    U64 result = 0;
    for (unsigned i = 0; i < 32; ++i) {
      const U64 index = (((a >> i) & 1U) << 2U) | (((b >> i) & 1U) << 1U) | ((c >> i) & 1U);
      result |= ((U64{0x2DU} >> index) & 1U) << i;
    }
    return result;
  });
  ExpectAsOnHost("prmt.b32 %rd, %ra, %rb, %rc;", 'r', [](U64 a, U64 b, U64 c) {
    const U64 both = (Low32(b) << 32U) | Low32(a);
    U64 result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const U64 selector = (c >> (4 * i)) & 0xFU;
      U64 byte = (both >> (8 * (selector & 7U))) & 0xFFU;
      if ((selector & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xFF : 0;
      result |= byte << (8 * i);
    }
    return result;
  });
  ExpectAsOnHost("and.b32 %rb, %rb, 255; and.b32 %rc, %rc, 255; bfe.u32 %rd, %ra, %rb, %rc;", 'r',
                 [](U64 a, U64 b, U64 c) {
                   U64 result = 0;
                   for (U64 i = 0; i < (c & 0xFFU) && i < 32; ++i) {
                     const U64 at = (b & 0xFFU) + i;
                     if (at < 32) result |= ((a >> at) & 1U) << i;
                   }
                   return result;
                 });
  ExpectAsOnHost("bfe.s64 %ld, %la, %rb, %rc;", 'l', [](U64 a, U64 b, U64 c) {
    const U64 position = b & 0xFFU;
    const U64 length = c & 0xFFU;
    const U64 sign_at = std::min<U64>(position + length - 1, 63);
    const U64 sign = length == 0 ? 0 : (a >> sign_at) & 1U;
    U64 result = 0;
    for (U64 i = 0; i < 64; ++i) {
      const U64 bit = i < length && position + i <= 63 ? (a >> (position + i)) & 1U : sign;
      result |= bit << i;
    }
    return result;
  });
  ExpectAsOnHost("shr.u32 %r1, %rc, 8; bfi.b32 %rd, %ra, %rb, %rc, %r1;", 'r', [](U64 a, U64 b, U64 c) {
    U64 result = Low32(b);
    for (U64 i = 0; i < ((c >> 8U) & 0xFFU) && (c & 0xFFU) + i < 32; ++i) {
      const U64 at = (c & 0xFFU) + i;
      result = (result & ~(U64{1} << at)) | (((a >> i) & 1U) << at);
    }
    return result;
  });
  ExpectAsOnHost("brev.b64 %ld, %la;", 'l', [](U64 a, U64, U64) {
    U64 result = 0;
    for (unsigned i = 0; i < 64; ++i) result |= ((a >> i) & 1U) << (63 - i);
    return result;
  });
  ExpectAsOnHost("clz.b64 %rd, %la;", 'r', [](U64 a, U64, U64) { return static_cast<U64>(std::countl_zero(a)); });
  ExpectAsOnHost("popc.b32 %rd, %ra;", 'r', [](U64 a, U64, U64) { return static_cast<U64>(std::popcount(Low32(a))); });
  ExpectAsOnHost("bfind.s32 %rd, %ra;", 'r', [](U64 a, U64, U64) {
    const U64 x = I32(a) < 0 ? Low32(~a) : Low32(a);
    return x == 0 ? U64{0xFFFFFFFFU} : static_cast<U64>(63 - std::countl_zero(x));
  });
}

TEST(DifferentialInteger, DotProducts) {
  ExpectAsOnHost("dp4a.s32.u32 %rd, %ra, %rb, %rc;", 'r', [](U64 a, U64 b, U64 c) {
    S64 sum = I32(c);
    for (unsigned i = 0; i < 4; ++i) sum += S64{static_cast<S8>(a >> (8 * i))} * static_cast<U8>(b >> (8 * i));
    return Low32(static_cast<U64>(sum));
  });
  ExpectAsOnHost("dp4a.u32.u32 %rd, %ra, %rb, %rc;", 'r', [](U64 a, U64 b, U64 c) {
    U64 sum = c;
    for (unsigned i = 0; i < 4; ++i) sum += U64{static_cast<U8>(a >> (8 * i))} * static_cast<U8>(b >> (8 * i));
    return Low32(sum);
  });
  ExpectAsOnHost("dp2a.hi.s32.s32 %rd, %ra, %rb, %rc;", 'r', [](U64 a, U64 b, U64 c) {
    S64 sum = I32(c);
    for (unsigned i = 0; i < 2; ++i) sum += S64{I16(a >> (16 * i))} * static_cast<S8>(b >> (16 + 8 * i));
    return Low32(static_cast<U64>(sum));
  });
}

template <typename T>
U64 Clamped(S128 value) {
  const S128 least = std::numeric_limits<T>::min();
  const S128 most = std::numeric_limits<T>::max();
  return static_cast<U64>(std::clamp(value, least, most));
}

TEST(DifferentialInteger, Conversions) {
  ExpectAsOnHost("cvt.s32.s8 %rd, %ra;", 'r',
                 [](U64 a, U64, U64) { return Low32(static_cast<U64>(S64{static_cast<S8>(a)})); });
  ExpectAsOnHost("cvt.s64.s32 %ld, %ra;", 'l', [](U64 a, U64, U64) { return static_cast<U64>(S64{I32(a)}); });
  ExpectAsOnHost("cvt.s64.s32 %ld, %la;", 'l', [](U64 a, U64, U64) { return static_cast<U64>(S64{I32(a)}); });
  ExpectAsOnHost("cvt.u64.u32 %ld, %la;", 'l', [](U64 a, U64, U64) { return Low32(a); });
  ExpectAsOnHost("cvt.s16.s8 %hd, %ha;", 'h',
                 [](U64 a, U64, U64) { return Low16(static_cast<U64>(S64{static_cast<S8>(a)})); });
  ExpectAsOnHost("cvt.u16.u8 %hd, %ha;", 'h', [](U64 a, U64, U64) { return a & 0xFFU; });
  ExpectAsOnHost("cvt.sat.s8.s32 %rd, %ra;", 'r', [](U64 a, U64, U64) { return Low32(Clamped<S8>(I32(a))); });
  ExpectAsOnHost("cvt.sat.u8.s32 %rd, %ra;", 'r', [](U64 a, U64, U64) { return Low32(Clamped<U8>(I32(a))); });
  ExpectAsOnHost("cvt.sat.s16.u32 %hd, %ra;", 'h', [](U64 a, U64, U64) { return Low16(Clamped<S16>(S128{Low32(a)})); });
  ExpectAsOnHost("cvt.sat.u32.s64 %rd, %la;", 'r', [](U64 a, U64, U64) { return Clamped<U32>(S128{I64(a)}); });
  ExpectAsOnHost("cvt.sat.s32.u64 %rd, %la;", 'r', [](U64 a, U64, U64) { return Clamped<S32>(S128{a}); });
}

}  // namespace
}  // namespace upskill::ptx
