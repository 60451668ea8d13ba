// SPDX-License-Identifier: Apache-2.0
// What is found out about the order of accesses: lost updates, and where values come from that nobody wrote.
#include <gtest/gtest.h>

#include "cuda/ptx/ptx_test.h"

namespace upskill::ptx {
namespace {

// Thread 32 reads before the barrier, and writes after thread 0 has written.
std::string LostUpdateKernel(const std::string& second_read) {
  return KernelText(".param .u64 pout", R"(
  .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [pout];
  mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 32;
  @%p2 ld.volatile.global.u32 %r2, [%rd1];
  bar.sync 0;
  @%p1 st.volatile.global.u32 [%rd1], 5;
  @!%p2 bra DONE;
  nanosleep.u32 100;
  )" + second_read + R"(
  add.s32 %r2, %r2, 1;
  st.volatile.global.u32 [%rd1], %r2;
DONE:
  ret;)");
}

TEST(Ordering, LostUpdatesOfVolatileAccessesAreReported) {
  Device device(LostUpdateKernel(""));
  const LaunchOutcome outcome = device.Run(1, 64, {device.Upload(std::vector<std::uint32_t>{1})});
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].kind, FindingKind::kRace);
  EXPECT_EQ(outcome.findings[0].thread.x, 32U);
  EXPECT_EQ(outcome.findings[0].other_thread.x, 0U);
}

TEST(Ordering, AVolatileReadOfTheOthersValueLosesNothing) {
  Device device(LostUpdateKernel("ld.volatile.global.u32 %r2, [%rd1];"));
  const std::uint64_t out = device.Upload(std::vector<std::uint32_t>{1});
  const LaunchOutcome outcome = device.Run(1, 64, {out});
  EXPECT_TRUE(outcome.findings.empty()) << outcome.findings[0].message;
  EXPECT_EQ(device.Download<std::uint32_t>(out, 1)[0], 6U);
}

// Block 0 publishes a value by `fence` and `flag`; block 1 waits for the flag and reads the value.
std::string MessageKernel(const std::string& fence, const std::string& set, const std::string& ask) {
  return KernelText(".param .u64 pout", R"(
  .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [pout];
  mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 1;
  @%p1 bra WAIT;
  st.global.u32 [%rd1], 7;
  )" + fence + "\n" + set + R"( [%rd1+4], 1;
  ret;
WAIT:
  )" + ask + R"( %r2, [%rd1+4], 0;
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra WAIT;
  fence.acq_rel.gpu;
  ld.global.u32 %r3, [%rd1];
  st.global.u32 [%rd1+8], %r3;
  ret;)");
}

std::size_t FindingsOfMessage(const std::string& fence, const std::string& set, const std::string& ask) {
  Device device(MessageKernel(fence, set, ask));
  return device.Run(2, 1, {device.Upload(std::vector<std::uint32_t>{0, 0, 0})}).findings.size();
}

TEST(Ordering, WhatABlocksFenceOrdersIsUnorderedForOtherBlocks) {
  const std::string set = "red.global.add.u32";
  const std::string ask = "atom.global.add.u32";
  EXPECT_EQ(FindingsOfMessage("membar.gl;", set, ask), 0U);
  EXPECT_EQ(FindingsOfMessage("membar.sys;", set, ask), 0U);
  EXPECT_EQ(FindingsOfMessage("fence.acq_rel.gpu;", set, ask), 0U);
  EXPECT_EQ(FindingsOfMessage("membar.cta;", set, ask), 1U);
  EXPECT_EQ(FindingsOfMessage("fence.sc.cta;", set, ask), 1U);
  // Later fences for all threads pass on what was fenced for the block before.
  EXPECT_EQ(FindingsOfMessage("membar.cta; membar.gl;", set, ask), 0U);
}

// The same with volatile data, which race with nothing: what is read may still be older than the flag.
TEST(Ordering, AVolatileFlagWithoutAFenceOrdersNoVolatileData) {
  const auto findings = [](const std::string& fence, const std::string& order) {
    std::string text = MessageKernel(fence, "st.volatile.global.u32", "ld.volatile.global.u32");
    const auto replace = [&](const std::string& from, const std::string& to) {
      ASSERT_NE(text.find(from), std::string::npos);
      text.replace(text.find(from), from.size(), to);
    };
    replace("ld.volatile.global.u32 %r2, [%rd1+4], 0;", "ld.volatile.global.u32 %r2, [%rd1+4];");
    replace("st.global.u32 [%rd1], 7;", order.empty() ? "st.volatile.global.u32 [%rd1], 7;" : "");
    replace("ret;\nWAIT:", order + "ret;\nWAIT:");
    replace("ld.global.u32 %r3", "ld.volatile.global.u32 %r3");
    Device device(text);
    return device.Run(2, 1, {device.Upload(std::vector<std::uint32_t>{0, 0, 0})}).findings;
  };
  const std::vector<Finding> found = findings("", "");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, FindingKind::kRace);
  EXPECT_EQ(findings("membar.gl;", "").size(), 0U);
  EXPECT_EQ(findings("", "st.volatile.global.u32 [%rd1], 7;").size(), 0U) << "written after the flag";
}

// Lane 0 takes a value from lane 1 through volatile shared memory.
std::size_t FindingsOfExchange(const std::string& between, const std::string& after) {
  Device device(KernelText(".param .u64 pout", R"(
  .shared .align 4 .b32 words[32];
  .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [pout];
  mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0;
  shl.b32 %r2, %r1, 2; mov.u32 %r3, words; add.u32 %r2, %r2, %r3;
  st.volatile.shared.u32 [%r2], %r1;
  )" + between + R"(
  @%p1 bra DONE;
LOOP:
  ld.volatile.shared.u32 %r4, [%r2+4];
  )" + after + R"(
  st.global.u32 [%rd1], %r4;
DONE:
  ret;)"));
  return device.Run(1, 32, {device.Reserve(4)}).findings.size();
}

TEST(Ordering, LanesOfAWarpDontRunInStep) {
  EXPECT_EQ(FindingsOfExchange("", ""), 1U);
  EXPECT_EQ(FindingsOfExchange("bar.warp.sync 0xffffffff;", ""), 0U);
  EXPECT_EQ(FindingsOfExchange("bar.sync 0;", ""), 0U);
  const std::string wait = "setp.eq.u32 %p2, %r4, 0; @%p2 bra LOOP;";
  EXPECT_EQ(FindingsOfExchange("", wait), 0U) << "it waits for the value";
  EXPECT_EQ(FindingsOfExchange("", "st.volatile.shared.u32 [%r2], %r4;" + wait), 1U) << "a loop that does more";
}

// Each thread writes a word, which thread 0 sends to global memory by a bulk copy.
std::vector<Finding> FindingsOfBulkStore(const std::string& before, const std::string& after) {
  Device device(KernelText(".param .u64 pout", R"(
  .shared .align 16 .b32 words[64];
  .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [pout];
  mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0;
  shl.b32 %r2, %r1, 2; mov.u32 %r3, words; add.u32 %r2, %r2, %r3;
  st.shared.u32 [%r2], %r1;
  )" + before + R"(
  bar.sync 0;
  @%p1 bra DONE;
  )" + after + R"(
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 256;
DONE:
  ret;)"));
  return device.Run(1, 64, {device.Reserve(256)}).findings;
}

TEST(Ordering, BulkCopiesSeeWhatIsFencedForThem) {
  const std::vector<Finding> found = FindingsOfBulkStore("", "");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, FindingKind::kBadSynchronisation);
  EXPECT_EQ(FindingsOfBulkStore("fence.proxy.async.shared::cta;", "").size(), 0U);
  EXPECT_EQ(FindingsOfBulkStore("fence.proxy.async;", "").size(), 0U);
  EXPECT_EQ(FindingsOfBulkStore("", "fence.proxy.async.shared::cta;").size(), 0U) << "lenient";
  EXPECT_EQ(FindingsOfBulkStore("membar.cta;", "fence.acq_rel.gpu;").size(), 1U);
}

TEST(Ordering, AtomicsOfABlocksScopeRaceWithThoseOfOtherBlocks) {
  const std::string text = R"(
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [pout];
  atom.global.SCOPE.add.u32 %r1, [%rd1], 1;
  ret;)";
  const auto findings = [&](const std::string& scope, std::uint32_t blocks, std::uint32_t threads) {
    std::string body = text;
    body.replace(body.find("SCOPE"), 5, scope);
    Device device(KernelText(".param .u64 pout", body));
    return device.Run(blocks, threads, {device.Upload(std::vector<std::uint32_t>{0})}).findings.size();
  };
  EXPECT_EQ(findings("gpu", 2, 1), 0U);
  EXPECT_EQ(findings("cta", 2, 1), 1U);
  EXPECT_EQ(findings("cta", 1, 64), 0U);
}

// The sum of a value and one that nobody wrote goes through shared memory: the first load is to blame.
TEST(Ordering, UnwrittenValuesAreTracedThroughSharedMemory) {
  Device device(KernelText(".param .u64 pout", R"(
  .shared .align 4 .b32 words[2];
  .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [pout];
  st.shared.u32 [words], 1;
  ld.shared.u32 %r1, [words];
  ld.shared.u32 %r2, [words+4];
  add.s32 %r1, %r1, %r2;
  st.shared.u32 [words], %r1;
  ld.shared.u32 %r3, [words];
  st.global.u32 [%rd1], %r3;
  ret;)"));
  const LaunchOutcome outcome = device.Run(1, 1, {device.Reserve(4)});
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].kind, FindingKind::kUninitialised);
  EXPECT_EQ(outcome.findings[0].ptx_line, 12U);
}

}  // namespace
}  // namespace upskill::ptx
