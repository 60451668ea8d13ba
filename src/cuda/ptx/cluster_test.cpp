// SPDX-License-Identifier: Apache-2.0
// Clusters of blocks, as PTX documents them.
#include <gtest/gtest.h>

#include "cuda/ptx/ptx_test.h"

namespace upskill::ptx {
namespace {

constexpr const char* kSync = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

std::string ClusterKernel(const std::string& shape, const std::string& body) {
  std::string text = KernelText(".param .u64 pout", body);
  text.insert(text.find(")\n{") + 1, "\n.explicitcluster\n.reqnctapercluster " + shape + "\n");
  return text;
}

TEST(Cluster, SpecialRegisters) {
  Device device(ClusterKernel("2, 2, 1", R"(
  .reg .pred %p; .reg .b32 %r<20>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [pout];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %nctaid.x;
  mad.lo.s32 %r4, %r2, %r3, %r1; mul.wide.u32 %rd2, %r4, 32; add.s64 %rd1, %rd1, %rd2;
  mov.u32 %r5, %clusterid.x; mov.u32 %r6, %clusterid.y; mov.u32 %r7, %nclusterid.x;
  mov.u32 %r8, %cluster_ctaid.x; mov.u32 %r9, %cluster_ctaid.y; mov.u32 %r10, %cluster_ctarank;
  mov.u32 %r11, %cluster_nctarank; mov.pred %p, %is_explicit_cluster; selp.u32 %r12, 1, 0, %p;
  st.global.v4.u32 [%rd1], {%r5, %r6, %r7, %r8};
  st.global.v4.u32 [%rd1+16], {%r9, %r10, %r11, %r12};
  ret;)"));
  const std::uint64_t out = device.Reserve(std::size_t{8} * 32);
  LaunchConfig config;
  config.grid = {4, 2, 1};
  const LaunchOutcome outcome = device.Run(config, {out});
  EXPECT_EQ(outcome.ending, Ending::kCompleted) << outcome.reason;
  const std::vector<std::uint32_t> got = device.Download<std::uint32_t>(out, 64);
  for (std::uint32_t y = 0; y < 2; ++y) {
    for (std::uint32_t x = 0; x < 4; ++x) {
      const std::vector<std::uint32_t> expected{x / 2, 0, 2, x % 2, y, x % 2 + 2 * y, 4, 1};
      const auto first = got.begin() + static_cast<std::ptrdiff_t>((y * 4 + x) * 8);
      EXPECT_EQ(std::vector<std::uint32_t>(first, first + 8), expected) << x << "," << y;
    }
  }
}

// Each block stores 100 + its number into the shared memory of the next block of its cluster, and reads what it got.
std::string RingKernel(const std::string& first, const std::string& second, const std::string& last) {
  return ClusterKernel("4, 1, 1", R"(
  .shared .align 4 .b32 words[32];
  .reg .pred %p; .reg .b32 %r<12>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [pout];
  mov.u32 %r1, %cluster_ctarank; add.s32 %r2, %r1, 1; and.b32 %r2, %r2, 3;
  mov.u32 %r3, %tid.x; shl.b32 %r4, %r3, 2; mov.u32 %r5, words; add.s32 %r4, %r4, %r5;
  mapa.shared::cluster.u32 %r6, %r4, %r2;
  )" + first + R"(
  mov.u32 %r7, %ctaid.x; add.s32 %r8, %r7, 100;
  st.shared::cluster.u32 [%r6], %r8;
  )" + second + R"(
  ld.shared.u32 %r9, [%r4];
  mad.lo.s32 %r10, %r7, 32, %r3; mul.wide.u32 %rd2, %r10, 4; add.s64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %r9;
  )" + last + "ret;");
}

TEST(Cluster, BlocksWriteEachOthersSharedMemory) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Device device(RingKernel(kSync, kSync, ""));
    const std::uint64_t out = device.Reserve(std::size_t{8} * 32 * 4);
    RunOptions options;
    options.schedule_seed = seed;
    const LaunchOutcome outcome = device.Run(8, 32, {out}, options);
    EXPECT_EQ(outcome.ending, Ending::kCompleted) << outcome.reason;
    EXPECT_TRUE(outcome.findings.empty()) << outcome.findings[0].message << outcome.findings[0].ptx_line;
    const std::vector<std::uint32_t> got = device.Download<std::uint32_t>(out, 256);
    for (std::uint32_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i], 100 + i / 128 * 4 + (i / 32 + 3) % 4) << i;
    }
  }
}

TEST(Cluster, RacesBetweenItsBlocksAreReported) {
  Device device(RingKernel(kSync, "", kSync));
  const LaunchOutcome outcome = device.Run(4, 32, {device.Reserve(512)});
  ASSERT_FALSE(outcome.findings.empty());
  for (const Finding& finding : outcome.findings) {
    EXPECT_TRUE(finding.kind == FindingKind::kRace || finding.kind == FindingKind::kUninitialised);
  }
}

// The relaxed barrier orders nothing.
TEST(Cluster, RelaxedArrivalsReleaseNothing) {
  Device device(
      RingKernel(kSync, "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;\n", kSync));
  const LaunchOutcome outcome = device.Run(4, 32, {device.Reserve(512)});
  ASSERT_FALSE(outcome.findings.empty());
  EXPECT_EQ(outcome.findings[0].kind, FindingKind::kRace);
}

TEST(Cluster, BlocksMustHaveStartedAndMustNotHaveEnded) {
  Device early(RingKernel("", kSync, ""));
  const LaunchOutcome hasty = early.Run(4, 32, {early.Reserve(512)});
  ASSERT_FALSE(hasty.findings.empty());
  EXPECT_NE(hasty.findings[0].detail.find("may not have started"), std::string::npos) << hasty.findings[0].detail;

  // The last access is remote, and nothing shows the owner that it is over.
  const std::string body = R"(
  .shared .align 4 .b32 word;
  .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [pout];
  mov.u32 %r1, %cluster_ctarank; xor.b32 %r1, %r1, 1;
  st.shared.u32 [word], 7;
  )" + std::string(kSync) + R"(
  cvta.shared.u64 %rd2, word;
  mapa.u64 %rd2, %rd2, %r1; ld.u32 %r2, [%rd2];
  st.global.u32 [%rd1], 7;
  )";
  Device late(ClusterKernel("2, 1, 1", body + "ret;"));
  const LaunchOutcome outcome = late.Run(2, 1, {late.Reserve(4)});
  ASSERT_FALSE(outcome.findings.empty());
  EXPECT_NE(outcome.findings[0].detail.find("ended"), std::string::npos) << outcome.findings[0].detail;
  Device right(ClusterKernel("2, 1, 1", body + kSync + "ret;"));
  const LaunchOutcome clean = right.Run(2, 1, {right.Reserve(4)});
  EXPECT_TRUE(clean.findings.empty()) << clean.findings[0].message;
}

TEST(Cluster, AtomicsAndRanksOfAddresses) {
  Device device(ClusterKernel("2, 1, 1", R"(
  .shared .align 4 .b32 count;
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [pout];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; setp.ne.u32 %p1, %r1, 0;
  st.shared.u32 [count], 0;
  bar.sync 0;
  )" + std::string(kSync) + R"(
  mov.u32 %r7, 0;
  cvta.shared.u64 %rd2, count; mapa.u64 %rd3, %rd2, %r7;
  atom.shared::cluster.add.u32 %r3, [%rd3], 1;
  getctarank.u64 %r4, %rd3; getctarank.u64 %r5, %rd2;
  )" + std::string(kSync) + R"(
  @%p1 bra DONE;
  setp.ne.u32 %p2, %r2, 0;
  @%p2 bra DONE;
  ld.shared.u32 %r6, [count];
  isspacep.shared::cta %p1, %rd3; selp.u32 %r7, 1, 0, %p1;
  st.global.v4.u32 [%rd1], {%r6, %r4, %r5, %r7};
DONE:
  ret;)"));
  const std::uint64_t out = device.Reserve(16);
  const LaunchOutcome outcome = device.Run(2, 64, {out});
  EXPECT_TRUE(outcome.findings.empty()) << outcome.findings[0].message << outcome.findings[0].ptx_line;
  EXPECT_EQ(device.Download<std::uint32_t>(out, 4), (std::vector<std::uint32_t>{128, 0, 0, 1}));
}

// Block 0 copies 64 bytes of global memory to both blocks at once; each waits for its own mbarrier.
TEST(Cluster, MulticastCopies) {
  std::string text = ClusterKernel("2, 1, 1", R"(
  .shared .align 128 .b8 tile[64]; .shared .align 8 .b64 barrier;
  .reg .pred %p<3>; .reg .b16 %h; .reg .b32 %r<8>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [pout];
  add.s64 %rd2, %rd1, 64;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; or.b32 %r3, %r1, %r2; setp.ne.u32 %p1, %r1, 0;
  @%p1 bra READY;
  mbarrier.init.shared.b64 [barrier], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [barrier], 64;
READY:
  )" + std::string(kSync) + R"(
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra WAIT;
  mov.u16 %h, 3;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], [%rd1], 64, [barrier], %h;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [barrier], 0;
  @!%p2 bra WAIT;
  mov.u32 %r4, tile; shl.b32 %r5, %r1, 2; add.s32 %r4, %r4, %r5; ld.shared.u32 %r6, [%r4];
  mad.lo.s32 %r7, %r2, 16, %r1; mul.wide.u32 %rd3, %r7, 4; add.s64 %rd2, %rd2, %rd3;
  st.global.u32 [%rd2], %r6;
  ret;)");
  std::vector<std::uint32_t> memory(48);
  for (std::uint32_t i = 0; i < 16; ++i) memory[i] = i * i + 3;
  Device device(text);
  const std::uint64_t out = device.Upload(memory);
  const LaunchOutcome outcome = device.Run(2, 16, {out});
  EXPECT_TRUE(outcome.findings.empty()) << outcome.findings[0].message << outcome.findings[0].ptx_line;
  const std::vector<std::uint32_t> got = device.Download<std::uint32_t>(out, 48);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[16 + i], i % 16 * (i % 16) + 3) << i;
}

TEST(Cluster, TheGridIsAMultipleOfIt) {
  Device device(ClusterKernel("4, 1, 1", "ret;"));
  LaunchConfig config;
  config.grid.x = 6;
  EXPECT_FALSE(device.TryRun(config, {0}).ok());
  config.grid.x = 8;
  EXPECT_TRUE(device.TryRun(config, {0}).ok());
  config.cluster = {2, 1, 1};
  EXPECT_FALSE(device.TryRun(config, {0}).ok());  // compiled for another shape
}

}  // namespace
}  // namespace upskill::ptx
