// SPDX-License-Identifier: Apache-2.0
// Matrix instructions of warps and warp groups, bulk copies, and accesses of whole warps, against the host.
#include <cmath>

#include "cuda/ptx/number_formats.h"
#include "cuda/ptx/ptx_test.h"
#include "util/rng.h"

namespace upskill::ptx {
namespace {

std::vector<double> SmallNumbers(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> values(count);
  for (double& value : values) value = static_cast<double>(rng.Next() % 17) - 8;
  return values;
}

template <typename T, typename F>
std::vector<T> As(const std::vector<double>& values, F convert) {
  std::vector<T> converted;
  for (const double value : values) converted.push_back(static_cast<T>(convert(value)));
  return converted;
}

// a (m x k, by rows) times b (k x n, by columns).
std::vector<double> Product(const std::vector<double>& a, const std::vector<double>& b, std::size_t m, std::size_t n,
                            std::size_t k) {
  std::vector<double> product(m * n);
  for (std::size_t i = 0; i < m * n; ++i) {
    for (std::size_t j = 0; j < k; ++j) product[i] += a[i / n * k + j] * b[i % n * k + j];
  }
  return product;
}

std::string Registers(const std::string& name, int count) {
  std::string list = "{";
  for (int i = 0; i < count; ++i) list += (i > 0 ? ", " : "") + name + std::to_string(i);
  return list + "}";
}

// out = 2 a b, through a first product of zero.
std::string WmmaKernel(const std::string& type, const std::string& shape, int registers_a, int registers_b,
                       const std::string& types, const std::string& result) {
  const std::string a = Registers("%ra", registers_a);
  const std::string b = Registers("%rb", registers_b);
  const std::string d = Registers("%d", 8);
  return KernelText(".param .u64 pa, .param .u64 pb, .param .u64 pd",
                    ".reg .b32 %ra<9>, %rb<9>, %d<9>;\n.reg .b64 %rd<4>;\n"
                    "ld.param.u64 %rd1, [pa]; ld.param.u64 %rd2, [pb]; ld.param.u64 %rd3, [pd];\n"
                    "mov.b32 %d0, 0; mov.b32 %d1, 0; mov.b32 %d2, 0; mov.b32 %d3, 0;\n"
                    "mov.b32 %d4, 0; mov.b32 %d5, 0; mov.b32 %d6, 0; mov.b32 %d7, 0;\n"
                    "wmma.load.a.sync.aligned.row." +
                        shape + ".global." + type + " " + a +
                        ", [%rd1];\n"
                        "wmma.load.b.sync.aligned.col." +
                        shape + ".global." + type + " " + b +
                        ", [%rd2];\n"
                        "wmma.mma.sync.aligned.row.col." +
                        shape + types + " " + d + ", " + a + ", " + b + ", " + d +
                        ";\n"
                        "wmma.mma.sync.aligned.row.col." +
                        shape + types + " " + d + ", " + a + ", " + b + ", " + d +
                        ";\n"
                        "wmma.store.d.sync.aligned.row." +
                        shape + ".global." + result + " [%rd3], " + d + ";\nret;");
}

template <typename In, typename Out, typename F>
void ExpectProduct(const std::string& kernel, std::size_t m, std::size_t n, std::size_t k, F convert) {
  const std::vector<double> a = SmallNumbers(m * k, 1);
  const std::vector<double> b = SmallNumbers(k * n, 2);
  Device device(kernel);
  const std::uint64_t out = device.Reserve(m * n * sizeof(Out));
  const LaunchOutcome outcome =
      device.Run(1, 32, {device.Upload(As<In>(a, convert)), device.Upload(As<In>(b, convert)), out});
  EXPECT_EQ(outcome.ending, Ending::kCompleted) << outcome.reason;
  EXPECT_TRUE(outcome.findings.empty()) << outcome.findings[0].message;
  const std::vector<double> expected = Product(a, b, m, n, k);
  const std::vector<Out> got = device.Download<Out>(out, m * n);
  for (std::size_t i = 0; i < m * n; ++i) EXPECT_EQ(static_cast<double>(got[i]), 2 * expected[i]) << i;
}

TEST(Wmma, MultipliesAllItsTypes) {
  const auto half = [](double value) { return HalfFromDouble(value); };
  const auto bfloat = [](double value) { return BfloatFromDouble(value); };
  const auto number = [](double value) { return value; };
  ExpectProduct<std::uint16_t, float>(WmmaKernel("f16", "m16n16k16", 8, 8, ".f32.f32", "f32"), 16, 16, 16, half);
  ExpectProduct<std::uint16_t, float>(WmmaKernel("f16", "m8n32k16", 8, 8, ".f32.f32", "f32"), 8, 32, 16, half);
  ExpectProduct<std::uint16_t, float>(WmmaKernel("bf16", "m16n16k16", 4, 4, ".f32.bf16.bf16.f32", "f32"), 16, 16, 16,
                                      bfloat);
  ExpectProduct<float, float>(WmmaKernel("tf32", "m16n16k8", 4, 4, ".f32.tf32.tf32.f32", "f32"), 16, 16, 8, number);
  ExpectProduct<std::int8_t, std::int32_t>(WmmaKernel("s8", "m32n8k16", 4, 1, ".s32.s8.s8.s32", "s32"), 32, 8, 16,
                                           number);
}

TEST(Wmma, CountsTheSectorsOfItsRows) {
  Device device(WmmaKernel("f16", "m16n16k16", 8, 8, ".f32.f32", "f32"));
  const std::vector<std::uint16_t> ones(256, 0x3C00);
  const LaunchOutcome outcome = device.Run(1, 32, {device.Upload(ones), device.Upload(ones), device.Reserve(1024)});
  EXPECT_EQ(outcome.counters.global_load_sectors, 32U);
  EXPECT_EQ(outcome.counters.global_store_sectors, 32U);
}

TEST(Wmma, ReportsWhatIsOutOfBounds) {
  Device device(WmmaKernel("f16", "m16n16k16", 8, 8, ".f32.f32", "f32"));
  const std::vector<std::uint16_t> ones(255, 0x3C00);
  const LaunchOutcome outcome = device.Run(1, 32, {device.Upload(ones), device.Upload(ones), device.Reserve(1024)});
  ASSERT_EQ(outcome.findings.size(), 2U);
  EXPECT_EQ(outcome.findings[0].kind, FindingKind::kOutOfBounds);
}

// A warp group multiplies 64 x 16 by 16 x 8; the image of shared memory comes from the host.
std::string WgmmaKernel(const std::string& a) {
  return KernelText(".param .u64 pin, .param .u64 pout, .param .u64 descriptor_a, .param .u64 descriptor_b", R"(
  .shared .align 1024 .b8 image[16384];
  .reg .pred %p; .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [pin]; ld.param.u64 %rd2, [pout];
  ld.param.u64 %rd3, [descriptor_a]; ld.param.u64 %rd4, [descriptor_b];
  mov.u32 %r1, %tid.x; mov.u32 %r2, image; mov.u32 %r3, %r1;
COPY:
  mul.wide.u32 %rd5, %r3, 4; add.s64 %rd5, %rd1, %rd5; ld.global.u32 %r4, [%rd5];
  shl.b32 %r5, %r3, 2; add.s32 %r5, %r5, %r2; st.shared.u32 [%r5], %r4;
  add.s32 %r3, %r3, 128; setp.lt.u32 %p, %r3, 4096; @%p bra COPY;
  bar.sync 0;
  shr.u32 %r6, %r2, 4; cvt.u64.u32 %rd6, %r6; add.s64 %rd3, %rd3, %rd6; add.s64 %rd4, %rd4, %rd6;
  wgmma.fence.sync.aligned;
  )" + a + R"(
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  shl.b32 %r7, %r1, 4; cvt.u64.u32 %rd7, %r7; add.s64 %rd8, %rd2, %rd7;
  st.global.v4.f32 [%rd8], {%f0, %f1, %f2, %f3};
  ret;)");
}

TEST(Wgmma, MultipliesByDescriptorsWithAndWithoutSwizzling) {
  const std::vector<double> a = SmallNumbers(std::size_t{64} * 16, 3);
  const std::vector<double> b = SmallNumbers(std::size_t{8} * 16, 4);
  const std::vector<double> expected = Product(a, b, 64, 8, 16);
  for (const auto& [swizzled, halves] : {std::pair(false, false), std::pair(true, false), std::pair(true, true)}) {
    std::vector<std::uint8_t> image(16'384);
    // Blocks of 8 rows of 16 bytes, or rows of 128 bytes whose 16-byte parts are exchanged by the row.
    const auto put = [&](std::size_t start, std::size_t row, std::size_t k, double value) {
      std::size_t at = start + row / 8 * 256 + k / 8 * 128 + row % 8 * 16 + k % 8 * 2;
      if (swizzled) at = start + row * 128 + ((k / 8) ^ (row % 8)) * 16 + k % 8 * 2;
      const std::uint16_t bits = HalfFromDouble(value);
      std::memcpy(image.data() + at, &bits, 2);
    };
    for (std::size_t i = 0; i < a.size(); ++i) put(0, i / 16, i % 16, a[i]);
    for (std::size_t i = 0; i < b.size(); ++i) put(8192, i / 16, i % 16, b[i]);
    const std::uint64_t layout = swizzled ? (std::uint64_t{1024 >> 4U} << 32U) | (std::uint64_t{1} << 62U)
                                          : (std::uint64_t{128 >> 4U} << 16U) | (std::uint64_t{256 >> 4U} << 32U);
    const std::string multiply = halves ? "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r8, %r9}, %rd3, %rd4, "
                                        : "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, "
                                          "%rd3, %rd4, ";
    std::string code = multiply + "0, 1, 1, 0, 0;\n" + multiply + "1, 1, -1, 0, 0;\n" + multiply + "1, 1, 1, 0, 0;\n";
    if (halves) {
      code += ".reg .b16 %h<4>; mov.b32 {%h0, %h1}, %r8; mov.b32 {%h2, %h3}, %r9;\n";
      for (const char i : {'0', '1', '2', '3'}) code += fmt::format("cvt.f32.f16 %f{0}, %h{0};\n", i);
    }
    Device device(WgmmaKernel(code));
    const std::uint64_t out = device.Reserve(std::size_t{128} * 16);
    const LaunchOutcome outcome = device.Run(1, 128, {device.Upload(image), out, layout, layout + (8192U >> 4U)});
    EXPECT_EQ(outcome.ending, Ending::kCompleted) << outcome.reason;
    EXPECT_TRUE(outcome.findings.empty()) << outcome.findings[0].message;
    const std::vector<float> got = device.Download<float>(out, 512);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::size_t lane = i / 4 % 32;
      const std::size_t row = i / 128 * 16 + lane / 4 + 8 * (i % 4 / 2);
      EXPECT_EQ(static_cast<double>(got[i]), expected[row * 8 + 2 * (lane % 4) + i % 2]) << i;
    }
  }
}

// One thread copies 256 bytes in; all read them after `wait`, and one copies them out.
std::string BulkKernel(const std::string& wait) {
  return KernelText(".param .u64 pin, .param .u64 pout", R"(
  .shared .align 128 .b8 tile[256]; .shared .align 8 .b64 barrier;
  .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [pin]; ld.param.u64 %rd2, [pout];
  mov.u32 %r1, %tid.x; mov.u32 %r2, tile; setp.ne.u32 %p1, %r1, 0;
  @%p1 bra READY;
  mbarrier.init.shared.b64 [barrier], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [barrier], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [barrier];
READY:
  bar.sync 0;
  )" + wait + R"(
  shl.b32 %r3, %r1, 2; add.s32 %r3, %r3, %r2; ld.shared.u32 %r4, [%r3]; add.s32 %r4, %r4, 1; st.shared.u32 [%r3], %r4;
  fence.proxy.async.shared::cta; bar.sync 0;
  @%p1 bra DONE;
  cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], 256;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:
  ret;)");
}

TEST(BulkCopy, ArrivesForThoseWhoWait) {
  std::vector<std::uint32_t> in(64);
  for (std::uint32_t i = 0; i < 64; ++i) in[i] = i * i;
  Device waiting(BulkKernel("WAIT:\n mbarrier.try_wait.parity.shared.b64 %p2, [barrier], 0;\n@!%p2 bra WAIT;"));
  const std::uint64_t out = waiting.Reserve(256);
  const LaunchOutcome outcome = waiting.Run(1, 64, {waiting.Upload(in), out});
  EXPECT_TRUE(outcome.findings.empty()) << outcome.findings[0].message;
  const std::vector<std::uint32_t> got = waiting.Download<std::uint32_t>(out, 64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(got[i], i * i + 1);

  Device hasty(BulkKernel(""));
  const LaunchOutcome early = hasty.Run(1, 64, {hasty.Upload(in), hasty.Reserve(256)});
  ASSERT_FALSE(early.findings.empty());
  EXPECT_EQ(early.findings[0].kind, FindingKind::kAsyncRead);
}

// The copy reads shared memory until it is waited for; another thread's write there is no second write.
TEST(BulkCopy, ReadsOfStoresAreCalledReads) {
  Device device(KernelText(".param .u64 pout", R"(
  .shared .align 128 .b8 tile[256];
  .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [pout];
  mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.s32 %r2, %r2, %r3;
  st.shared.u32 [%r2], %r1;
  fence.proxy.async.shared::cta; bar.sync 0;
  setp.eq.u32 %p1, %r1, 32; setp.eq.u32 %p2, %r1, 0;
  @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 256;
  @%p2 st.shared.u32 [%r2], 5;
  ret;)"));
  const LaunchOutcome outcome = device.Run(1, 64, {device.Reserve(256)});
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].message, "Potential WAR hazard detected at __shared__ address 0x400");
  EXPECT_EQ(outcome.findings[0].detail, "a read by thread (32,0,0) and a write by thread (0,0,0) that nothing orders");
}

TEST(BulkCopy, MovedBytesCountForTheBudgets) {
  Device device(KernelText(".param .u64 pout", R"(
  .shared .align 128 .b8 tile[16384];
  .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [pout]; mov.u32 %r1, 0; mov.u32 %r2, tile;
AGAIN:
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 16384;
  add.s32 %r1, %r1, 1; setp.ne.s32 %p1, %r1, 0;
  @%p1 bra AGAIN;
  ret;)"));
  int looks = 0;
  RunOptions options;
  options.stop = [&looks] { return ++looks > 3; };
  const LaunchOutcome outcome = device.Run(1, 1, {device.Reserve(16384)}, options);
  EXPECT_EQ(outcome.ending, Ending::kBudget);
  EXPECT_LT(outcome.counters.thread_instructions, 10'000U);
}

TEST(BulkCopy, ReportsWhatIsOutOfBoundsOrMisaligned) {
  Device device(BulkKernel("ret;"));
  EXPECT_EQ(device.Run(1, 64, {device.Upload(std::vector<std::uint32_t>(60)), device.Reserve(256)}).findings[0].kind,
            FindingKind::kOutOfBounds);
  EXPECT_EQ(
      device.Run(1, 64, {device.Upload(std::vector<std::uint32_t>(80)) + 4, device.Reserve(256)}).findings[0].kind,
      FindingKind::kMisaligned);
  std::string text = BulkKernel("ret;");
  const std::string copy = "256, [barrier];";
  text.replace(text.find(copy), copy.size(), "256, [barrier+4];");
  Device odd_barrier(text);
  const LaunchOutcome odd =
      odd_barrier.Run(1, 64, {odd_barrier.Upload(std::vector<std::uint32_t>(64)), odd_barrier.Reserve(256)});
  ASSERT_FALSE(odd.findings.empty());
  EXPECT_EQ(odd.findings[0].kind, FindingKind::kMisaligned);
}

// Loads of bytes, pairs and fours by all lanes or some, from generic and shared addresses.
TEST(WarpAccess, WidthsMasksAndSpaces) {
  Device device(KernelText(".param .u64 pin, .param .u64 pout", R"(
  .shared .align 16 .b8 tile[2048];
  .reg .pred %p; .reg .b16 %h<3>; .reg .b32 %r<16>; .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [pin]; ld.param.u64 %rd2, [pout];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 16; add.s64 %rd4, %rd1, %rd3;
  ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd4];
  mov.u32 %r6, tile; shl.b32 %r7, %r1, 4; add.s32 %r7, %r7, %r6;
  st.shared.v2.u32 [%r7], {%r2, %r3}; st.shared.v2.u32 [%r7+8], {%r4, %r5};
  bar.sync 0;
  cvt.u64.u32 %rd5, %r7; cvta.shared.u64 %rd6, %rd5;
  ld.s8 %r8, [%rd6+5]; ld.u16 %h1, [%rd6+2]; cvt.u32.u16 %r9, %h1;
  and.b32 %r10, %r1, 1; setp.eq.u32 %p, %r10, 1; mov.u32 %r11, 7;
  @%p ld.global.u32 %r11, [%rd4+12];
  add.s64 %rd7, %rd2, %rd3;
  st.global.v4.u32 [%rd7], {%r8, %r9, %r11, %r2};
  ret;)"));
  std::vector<std::uint32_t> in(std::size_t{64} * 4);
  Rng rng(5);
  for (std::uint32_t& value : in) value = static_cast<std::uint32_t>(rng.Next());
  const std::uint64_t out = device.Reserve(1024);
  const LaunchOutcome outcome = device.Run(1, 64, {device.Upload(in), out});
  EXPECT_TRUE(outcome.findings.empty()) << outcome.findings[0].message;
  const std::vector<std::uint32_t> got = device.Download<std::uint32_t>(out, 256);
  for (std::size_t i = 0; i < 64; ++i) {
    const auto byte = static_cast<std::int8_t>(in[4 * i + 1] >> 8U);
    EXPECT_EQ(got[4 * i], static_cast<std::uint32_t>(std::int32_t{byte}));
    EXPECT_EQ(got[4 * i + 1], in[4 * i] >> 16U);
    EXPECT_EQ(got[4 * i + 2], i % 2 == 1 ? in[4 * i + 3] : 7U);
    EXPECT_EQ(got[4 * i + 3], in[4 * i]);
  }
  EXPECT_EQ(outcome.counters.global_load_sectors, 32U + 32U);
  EXPECT_EQ(outcome.counters.global_store_sectors, 32U);
}

// Warp 1, which completes the barrier, reads first; warp 0 then reads and writes, ordered only within itself.
TEST(WarpAccess, ReadsOfAnotherWarpAreRemembered) {
  Device device(KernelText("", R"(
  .shared .align 4 .b32 word;
  .reg .pred %p; .reg .b32 %r<4>;
  mov.u32 %r1, %tid.x; setp.eq.u32 %p, %r1, 0;
  @%p st.shared.u32 [word], 1;
  bar.sync 0;
  ld.shared.u32 %r2, [word];
  bar.warp.sync 0xFFFFFFFF;
  setp.eq.u32 %p, %r1, 8;
  @%p st.shared.u32 [word], 2;
  ret;)"));
  const LaunchOutcome outcome = device.Run(1, 64, {});
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].kind, FindingKind::kRace);
  EXPECT_GE(outcome.findings[0].other_thread.x, 32U);
}

}  // namespace
}  // namespace upskill::ptx
