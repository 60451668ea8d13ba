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
