// SPDX-License-Identifier: Apache-2.0
// For tests that compare instructions with the host's compiler and floating-point unit on random inputs: 10,000 of
// each, or as many as UPSKILL_PTX_INPUTS says.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "cuda/ptx/ptx_test.h"
#include "util/rng.h"

namespace upskill::ptx {

struct Operands {
  std::vector<std::uint64_t> a, b, c;
};

// Bits of all kinds: random, edges of integers and floats of every width, floats of similar size, small numbers.
inline std::uint64_t RandomBits(Rng& rng) {
  static constexpr std::array<std::uint64_t, 24> kEdges = {0,
                                                           1,
                                                           0xFFFFFFFFFFFFFFFF,
                                                           0x7FFFFFFF,
                                                           0x80000000,
                                                           0x7FFFFFFFFFFFFFFF,
                                                           1ULL << 63,
                                                           0x7FC00000,
                                                           0x7F800000,
                                                           0xFF800000,
                                                           0x00000001,
                                                           0x007FFFFF,
                                                           0x00800000,
                                                           0x7F7FFFFF,
                                                           0x3F800000,
                                                           0xBF800000,
                                                           0x7FF0000000000000,
                                                           0xFFF0000000000000,
                                                           0x7FF8ULL << 48,
                                                           0x3FF0000000000000,
                                                           0x000FFFFFFFFFFFFF,
                                                           0x0010000000000000,
                                                           0x7C007C00FC00FC00,
                                                           0x7F7FFF7F00010001};
  const std::uint64_t bits = rng.Next();
  switch (rng.Next() % 6) {
    case 0:
      return kEdges[bits % kEdges.size()];
    case 1:
      return bits & 0x3F;
    case 2: {  // an f32 of 2^-8 to 2^8, twice
      const std::uint64_t exponents = (119 + bits % 16) << 23U;
      return (bits & 0x807FFFFF807FFFFFULL) | exponents | (exponents << 32U);
    }
    case 3:  // an f64 of 2^-8 to 2^8
      return (bits & 0x800FFFFFFFFFFFFFULL) | ((1015 + bits % 16) << 52U);
    case 4: {  // an f16 and a bf16 of moderate size
      const std::uint64_t halves = (12 + bits % 8) << 10U;
      return (bits & 0x83FF83FF83FF83FFULL) | halves | (halves << 16U) | (halves << 32U);
    }
    default:
      return bits;
  }
}

inline const Operands& RandomOperands() {
  static const Operands operands = [] {
    const char* wanted = std::getenv("UPSKILL_PTX_INPUTS");
    const std::size_t count = wanted == nullptr ? 10'000 : std::max<std::size_t>(std::strtoull(wanted, nullptr, 10), 1);
    Rng rng(11);
    Operands made;
    for (std::size_t i = 0; i < count; ++i) {
      made.a.push_back(RandomBits(rng));
      made.b.push_back(RandomBits(rng));
      made.c.push_back(RandomBits(rng));
    }
    return made;
  }();
  return operands;
}

// What the instructions leave in %ld for each of the inputs. They find them as %la, %lb and %lc (64 bits), %ra … (the
// lower 32) and %ha … (the lower 16), and may leave results in %rd or %hd instead, as `result` says.
inline std::vector<std::uint64_t> RunOnRandomInputs(const std::string& instructions, char result) {
  const Operands& in = RandomOperands();
  const std::string widen = result == 'l' ? "" : result == 'r' ? "cvt.u64.u32 %ld, %rd;" : "cvt.u64.u16 %ld, %hd;";
  Device device(KernelText(".param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd, .param .u64 pn", R"(
  .reg .pred %p, %q; .reg .b16 %ha, %hb, %hc, %hd, %he; .reg .b32 %ra, %rb, %rc, %rd, %re, %r<6>;
  .reg .b64 %la, %lb, %lc, %ld, %le, %pa, %pb, %pc, %pd, %at;
  ld.param.u64 %pa, [pa]; ld.param.u64 %pb, [pb]; ld.param.u64 %pc, [pc]; ld.param.u64 %pd, [pd];
  ld.param.u32 %r4, [pn];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r1, %r1, %r2, %r3;
  setp.ge.u32 %p, %r1, %r4; @%p bra DONE;
  mul.wide.u32 %at, %r1, 8;
  add.s64 %pa, %pa, %at; add.s64 %pb, %pb, %at; add.s64 %pc, %pc, %at; add.s64 %pd, %pd, %at;
  ld.global.u64 %la, [%pa]; ld.global.u64 %lb, [%pb]; ld.global.u64 %lc, [%pc];
  cvt.u32.u64 %ra, %la; cvt.u32.u64 %rb, %lb; cvt.u32.u64 %rc, %lc;
  cvt.u16.u64 %ha, %la; cvt.u16.u64 %hb, %lb; cvt.u16.u64 %hc, %lc;
  )" + instructions + "\n" + widen + "\n st.global.u64 [%pd], %ld;\nDONE:\n ret;"));
  const std::size_t count = in.a.size();
  const std::uint64_t out = device.Reserve(count * 8);
  RunOptions options;
  options.check_races = options.check_uninitialised = options.count_memory = false;
  const LaunchOutcome outcome =
      device.Run(static_cast<std::uint32_t>((count + 255) / 256), 256,
                 {device.Upload(in.a), device.Upload(in.b), device.Upload(in.c), out, count}, options);
  EXPECT_EQ(outcome.ending, Ending::kCompleted) << instructions << ": " << outcome.reason;
  return device.Download<std::uint64_t>(out, count);
}

// `host(a, b, c)` has the expected bits.
template <typename Host>
void ExpectAsOnHost(const std::string& instructions, char result, Host host) {
  const std::vector<std::uint64_t> got = RunOnRandomInputs(instructions, result);
  const Operands& in = RandomOperands();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::uint64_t expected = host(in.a[i], in.b[i], in.c[i]);
    if (got[i] == expected) continue;
    if (++wrong > 3) continue;
    ADD_FAILURE() << instructions << std::hex << " of " << in.a[i] << ", " << in.b[i] << ", " << in.c[i] << ": "
                  << got[i] << " instead of " << expected;
  }
  EXPECT_EQ(wrong, 0U) << instructions;
}

}  // namespace upskill::ptx
