// SPDX-License-Identifier: Apache-2.0
// Instructions against what the PTX ISA documents, and against the host's arithmetic.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "cuda/ptx/number_formats.h"
#include "cuda/ptx/ptx_test.h"
#include "util/rng.h"

namespace upskill::ptx {
namespace {

// d = op(a, b, c) of 32 bits for each thread.
std::vector<std::uint32_t> Run32(const std::string& instruction, const std::vector<std::uint32_t>& a,
                                 const std::vector<std::uint32_t>& b, const std::vector<std::uint32_t>& c = {}) {
  Device device(KernelText(".param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd, .param .u64 pn", R"(
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<12>; .reg .b64 %w<4>; .reg .b16 %h<4>;
  ld.param.u64 %rd1, [pa]; ld.param.u64 %rd2, [pb]; ld.param.u64 %rd3, [pc]; ld.param.u64 %rd4, [pd];
  ld.param.u32 %r6, [pn];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r0, %tid.x; mad.lo.s32 %r1, %r1, %r2, %r0;
  setp.ge.u32 %p1, %r1, %r6; @%p1 bra DONE;
  mul.wide.u32 %rd5, %r1, 4;
  add.s64 %rd6, %rd1, %rd5; add.s64 %rd7, %rd2, %rd5; add.s64 %rd8, %rd3, %rd5; add.s64 %rd9, %rd4, %rd5;
  ld.global.u32 %r2, [%rd6]; ld.global.u32 %r3, [%rd7]; ld.global.u32 %r4, [%rd8];
  )" + instruction + "\n st.global.u32 [%rd9], %r5;\nDONE:\n ret;"));
  const std::vector<std::uint32_t> third = c.empty() ? std::vector<std::uint32_t>(a.size(), 0) : c;
  const std::uint64_t out = device.Reserve(a.size() * 4);
  const auto blocks = static_cast<std::uint32_t>((a.size() + 255) / 256);
  const std::vector<std::uint64_t> arguments{device.Upload(a), device.Upload(b), device.Upload(third), out, a.size()};
  const LaunchOutcome outcome = device.Run(blocks, 256, arguments);
  EXPECT_EQ(outcome.ending, Ending::kCompleted) << instruction << ": " << outcome.reason;
  EXPECT_TRUE(outcome.findings.empty()) << outcome.findings[0].message;
  const auto results = device.Download<std::uint32_t>(out, a.size());
  EXPECT_TRUE(device.memory().Fill(out, 0xEE, a.size() * 4).ok());
  RunOptions unchecked;
  unchecked.check_races = unchecked.check_uninitialised = unchecked.count_memory = false;
  device.Run(blocks, 256, arguments, unchecked);
  EXPECT_EQ(device.Download<std::uint32_t>(out, a.size()), results) << instruction;
  return results;
}

std::uint32_t One(const std::string& instruction, std::uint32_t a, std::uint32_t b, std::uint32_t c = 0) {
  return Run32(instruction, {a}, {b}, {c})[0];
}

constexpr std::uint32_t kNan = 0x7FC00000U;
std::uint32_t F(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST(Instructions, LoadsAndStoresOfAllWidthsAndSpaces) {
  std::vector<std::uint32_t> words(300);  // the last warp has only some of its lanes
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(i * 0x9E3779B9U);
  const auto expect = [&](const std::string& instructions, std::uint32_t (*of)(std::uint32_t)) {
    const auto results = Run32(instructions, words, words);
    for (std::size_t i = 0; i < words.size(); ++i) ASSERT_EQ(results[i], of(words[i])) << instructions << i;
  };
  using Word = std::uint32_t;
  expect("ld.global.u8 %r5, [%rd6+1];", [](Word w) { return (w >> 8U) & 0xFFU; });
  expect("ld.global.s8 %r5, [%rd6+3];", [](Word w) { return static_cast<Word>(static_cast<std::int32_t>(w) >> 24); });
  expect("ld.global.s16 %r5, [%rd6+2];", [](Word w) { return static_cast<Word>(static_cast<std::int32_t>(w) >> 16); });
  expect("ld.global.v2.u16 {%r5, %r3}, [%rd6]; shl.b32 %r5, %r5, 16; or.b32 %r5, %r5, %r3;",
         [](Word w) { return (w << 16U) | (w >> 16U); });
  expect("ld.global.v4.u8 {%r3, %r3, %r3, %r5}, [%rd6];", [](Word w) { return w >> 24U; });
  expect("st.global.v2.u16 [%rd9], {%r2, %r2}; ld.global.u32 %r5, [%rd9];",
         [](Word w) { return (w & 0xFFFFU) * 0x10001U; });
  expect(
      "{ .local .align 8 .b8 own[8]; st.local.u32 [own+4], %r2; st.local.u8 [own+5], %r1; ld.local.u16 %r5, [own+6]; }",
      [](Word w) { return w >> 16U; });
  expect(
      "{ .local .align 8 .b8 own[8]; mov.u64 %w1, own; and.b32 %r4, %r2, 4; cvt.u64.u32 %w2, %r4;"
      " add.u64 %w1, %w1, %w2; st.local.u32 [%w1], %r2; ld.local.u32 %r5, [%w1]; }",
      [](Word w) { return w; });
  expect(
      "{ .shared .align 4 .b8 tile[1024]; mov.u64 %w1, tile; mul.wide.u32 %w2, %r0, 4; add.u64 %w1, %w1, %w2;"
      " st.volatile.shared.u32 [%w1], %r2; ld.volatile.shared.u32 %r5, [%w1]; }",
      [](Word w) { return w; });
}

TEST(Instructions, IntegerEdges) {
  EXPECT_EQ(One("div.u32 %r5, %r2, %r3;", 7, 0), 0xFFFFFFFFU);
  EXPECT_EQ(One("div.s32 %r5, %r2, %r3;", 0x80000000U, 0xFFFFFFFFU), 0x80000000U);
  EXPECT_EQ(One("rem.s32 %r5, %r2, %r3;", 0xFFFFFFF9U, 3), 0xFFFFFFFFU);
  EXPECT_EQ(One("shl.b32 %r5, %r2, %r3;", 1, 32), 0U);
  EXPECT_EQ(One("shr.s32 %r5, %r2, %r3;", 0x80000000U, 99), 0xFFFFFFFFU);
  EXPECT_EQ(One("shr.u32 %r5, %r2, %r3;", 0x80000000U, 32), 0U);
  EXPECT_EQ(One("mul.hi.s32 %r5, %r2, %r3;", 0xFFFFFFFFU, 0xFFFFFFFFU), 0U);
  EXPECT_EQ(One("mul.hi.u32 %r5, %r2, %r3;", 0xFFFFFFFFU, 0xFFFFFFFFU), 0xFFFFFFFEU);
  EXPECT_EQ(One("add.sat.s32 %r5, %r2, %r3;", 0x7FFFFFFFU, 1), 0x7FFFFFFFU);
  EXPECT_EQ(One("sad.s32 %r5, %r2, %r3, %r4;", 0xFFFFFFFFU, 4, 10), 15U);
  EXPECT_EQ(One("bfe.s32 %r5, %r2, %r3, %r4;", 0x00000F00U, 8, 4), 0xFFFFFFFFU);
  EXPECT_EQ(One("bfe.u32 %r5, %r2, %r3, %r4;", 0xFFFFFFFFU, 28, 8), 0xFU);
  EXPECT_EQ(One("bfi.b32 %r5, %r2, %r3, 8, 4;", 0xAU, 0xFFFFFFFFU), 0xFFFFFAFFU);
  EXPECT_EQ(One("brev.b32 %r5, %r2;", 1, 0), 0x80000000U);
  EXPECT_EQ(One("clz.b32 %r5, %r2;", 0, 0), 32U);
  EXPECT_EQ(One("popc.b32 %r5, %r2;", 0xF0F0U, 0), 8U);
  EXPECT_EQ(One("bfind.u32 %r5, %r2;", 0, 0), 0xFFFFFFFFU);
  EXPECT_EQ(One("bfind.shiftamt.u32 %r5, %r2;", 1, 0), 31U);
  EXPECT_EQ(One("prmt.b32 %r5, %r2, %r3, 0x7610;", 0x44332211U, 0x88776655U), 0x88772211U);
  EXPECT_EQ(One("prmt.b32 %r5, %r2, %r3, 0x0008;", 0x00000080U, 0), 0x808080FFU);
  EXPECT_EQ(One("shf.l.wrap.b32 %r5, %r2, %r3, 8;", 0xAABBCCDDU, 0x11223344U), 0x223344AAU);
  EXPECT_EQ(One("shf.r.clamp.b32 %r5, %r2, %r3, 40;", 0xAABBCCDDU, 0x11223344U), 0x11223344U);
  EXPECT_EQ(One("lop3.b32 %r5, %r2, %r3, %r4, 0x96;", 0xF0U, 0xCCU, 0xAAU), 0x96U);
  EXPECT_EQ(One("dp4a.s32.s32 %r5, %r2, %r3, %r4;", 0xFF010203U, 0x01010101U, 10), 15U);
  EXPECT_EQ(One("add.cc.u32 %r5, %r2, %r3; addc.u32 %r5, %r4, 0;", 0xFFFFFFFFU, 1, 5), 6U);
  EXPECT_EQ(One("sub.cc.u32 %r5, %r2, %r3; subc.u32 %r5, %r4, 0;", 0, 1, 5), 4U);
  // The flag of a subtraction is the carry of a + ~b + 1: 1 if nothing was borrowed.
  EXPECT_EQ(One("sub.cc.u32 %r5, %r2, %r3; addc.u32 %r5, 0, 0;", 5, 3), 1U);
  EXPECT_EQ(One("sub.cc.u32 %r5, %r2, %r3; addc.u32 %r5, 0, 0;", 3, 5), 0U);
  EXPECT_EQ(One("add.cc.u32 %r5, %r2, %r3; subc.u32 %r5, %r4, 1;", 0xFFFFFFFFU, 1, 5), 4U);
  EXPECT_EQ(One("add.cc.u32 %r5, %r2, %r3; subc.u32 %r5, %r4, 1;", 1, 1, 5), 3U);
}

// NVIDIA's headers for half precision leave no space between them.
TEST(Instructions, DirectivesMayFollowEachOtherWithoutASpace) {
  EXPECT_EQ(One("{.reg.b32 x, y;.reg.b16 h; add.u32 x, %r2, 1; mov.b32 y, x; mov.b32 %r5, y;}", 4, 0), 5U);
}

TEST(Instructions, FloatEdges) {
  EXPECT_EQ(One("min.f32 %r5, %r2, %r3;", kNan, F(2)), F(2));
  EXPECT_EQ(One("max.NaN.f32 %r5, %r2, %r3;", kNan, F(2)), 0x7FFFFFFFU);
  EXPECT_EQ(One("min.f32 %r5, %r2, %r3;", F(0.0F), F(-0.0F)), F(-0.0F));
  EXPECT_EQ(One("add.sat.f32 %r5, %r2, %r3;", F(2), F(3)), F(1));
  EXPECT_EQ(One("add.sat.f32 %r5, %r2, %r3;", kNan, F(3)), F(0));
  EXPECT_EQ(One("add.ftz.f32 %r5, %r2, %r3;", 0x80000001U, 0x80000001U), 0x80000000U);
  EXPECT_EQ(One("add.rz.f32 %r5, %r2, %r3;", F(1), F(0x1.8p-24F)), F(1));
  EXPECT_EQ(One("add.rp.f32 %r5, %r2, %r3;", F(1), F(0x1p-30F)), F(0x1.000002p0F));
  EXPECT_EQ(One("rcp.rn.f32 %r5, %r2;", F(0.0F), 0), F(std::numeric_limits<float>::infinity()));
  EXPECT_EQ(One("copysign.f32 %r5, %r2, %r3;", F(-1), F(3)), F(-3));
  EXPECT_EQ(One("setp.neu.f32 %p2, %r2, %r3; selp.b32 %r5, 1, 0, %p2;", kNan, F(1)), 1U);
  EXPECT_EQ(One("setp.ne.f32 %p2, %r2, %r3; selp.b32 %r5, 1, 0, %p2;", kNan, F(1)), 0U);
  EXPECT_EQ(One("setp.lt.and.s32 %p2, %r2, %r3, !%p1; selp.b32 %r5, 1, 0, %p2;", 0xFFFFFFFFU, 0), 1U);
}

TEST(Instructions, Conversions) {
  EXPECT_EQ(One("cvt.rzi.s32.f32 %r5, %r2;", F(-2.7F), 0), static_cast<std::uint32_t>(-2));
  EXPECT_EQ(One("cvt.rni.s32.f32 %r5, %r2;", F(2.5F), 0), 2U);
  EXPECT_EQ(One("cvt.rzi.s32.f32 %r5, %r2;", F(1e20F), 0), 0x7FFFFFFFU);
  EXPECT_EQ(One("cvt.rzi.u32.f32 %r5, %r2;", F(-1), 0), 0U);
  EXPECT_EQ(One("cvt.rzi.s32.f32 %r5, %r2;", kNan, 0), 0U);
  EXPECT_EQ(One("cvt.s32.s8 %r5, %r2;", 0x180U, 0), 0xFFFFFF80U);
  EXPECT_EQ(One("cvt.sat.u8.s32 %r5, %r2;", 300, 0), 255U);
  EXPECT_EQ(One("cvt.rn.f16x2.f32 %r5, %r2, %r3;", F(1), F(-2)), 0x3C00C000U);
  EXPECT_EQ(One("cvt.rna.tf32.f32 %r5, %r2;", 0x3F801000U, 0), 0x3F802000U);
  EXPECT_EQ(One("cvt.rn.satfinite.e4m3x2.f32 %h1, %r2, %r3; cvt.u32.u16 %r5, %h1;", F(1000), F(1)), 0x7E38U);
  EXPECT_EQ(One("fma.rn.f16x2 %r5, %r2, %r3, %r4;", 0x3C004000U, 0x40004000U, 0x3C003C00U), 0x42004500U);
}

TEST(Instructions, AgreeWithTheHostOnRandomInputs) {
  Rng rng(7);
  std::vector<std::uint32_t> a(4096);
  std::vector<std::uint32_t> b(4096);
  std::vector<std::uint32_t> c(4096);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<std::uint32_t>(rng.Next());
    b[i] = static_cast<std::uint32_t>(rng.Next());
    c[i] = static_cast<std::uint32_t>(rng.Next());
  }
  const auto expect = [&](const std::string& instruction,
                          const std::function<std::uint32_t(std::uint32_t, std::uint32_t, std::uint32_t)>& host) {
    const std::vector<std::uint32_t> results = Run32(instruction, a, b, c);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::uint32_t expected = host(a[i], b[i], c[i]);
      const bool both_nan = std::isnan(std::bit_cast<float>(expected)) && instruction.find(".f32") != std::string::npos;
      ASSERT_EQ(both_nan ? expected : results[i], expected) << instruction << " of " << a[i] << ", " << b[i];
    }
  };
  using U = std::uint32_t;
  const auto f = [](U bits) { return std::bit_cast<float>(bits); };
  expect("add.s32 %r5, %r2, %r3;", [](U x, U y, U) { return x + y; });
  expect("mad.lo.s32 %r5, %r2, %r3, %r4;", [](U x, U y, U z) { return x * y + z; });
  expect("div.s32 %r5, %r2, %r3;",
         [](U x, U y, U) { return static_cast<U>(static_cast<std::int32_t>(x) / static_cast<std::int32_t>(y)); });
  expect("mul.wide.s32 %w1, %r2, %r3; shr.u64 %w1, %w1, 13; cvt.u32.u64 %r5, %w1;", [](U x, U y, U) {
    const std::int64_t product = std::int64_t{static_cast<std::int32_t>(x)} * static_cast<std::int32_t>(y);
    return static_cast<U>(static_cast<std::uint64_t>(product) >> 13U);
  });
  expect("add.f32 %r5, %r2, %r3;", [&](U x, U y, U) { return F(f(x) + f(y)); });
  expect("mul.f32 %r5, %r2, %r3;", [&](U x, U y, U) { return F(f(x) * f(y)); });
  expect("div.rn.f32 %r5, %r2, %r3;", [&](U x, U y, U) { return F(f(x) / f(y)); });
  expect("fma.rn.f32 %r5, %r2, %r3, %r4;", [&](U x, U y, U z) { return F(std::fma(f(x), f(y), f(z))); });
}

TEST(Instructions, HalvesSurviveTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const float value = HalfToFloat(static_cast<std::uint16_t>(bits));
    EXPECT_EQ(static_cast<double>(value) == DecodeFloat(bits, kHalfFormat), !std::isnan(value)) << bits;
    if (std::isnan(value)) continue;
    EXPECT_EQ(HalfFromDouble(static_cast<double>(value)), bits);
  }
}

}  // namespace
}  // namespace upskill::ptx
