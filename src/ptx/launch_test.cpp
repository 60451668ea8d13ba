// SPDX-License-Identifier: Apache-2.0
#include "ptx/launch.h"

#include "ptx/occupancy.h"
#include "ptx/ptx_test.h"

namespace upskill::ptx {
namespace {

// out[tid] = what the neighbour stored in shared memory; `barrier` between.
std::string Exchange(const std::string& barrier, const std::string& guard = "") {
  return KernelText(".param .u64 out", R"(
  .shared .align 4 .b8 tile[256];
  .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, tile;
  add.s32 %r4, %r3, %r2;
  )" + guard + R"( st.shared.u32 [%r4], %r1;
  )" + barrier + R"(
  xor.b32 %r5, %r2, 128;
  add.s32 %r6, %r3, %r5;
  ld.shared.u32 %r7, [%r6];
  cvt.u64.u32 %rd2, %r2;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r7;
  ret;)");
}

FindingKind FirstKind(const LaunchOutcome& outcome) {
  EXPECT_FALSE(outcome.findings.empty());
  return outcome.findings.empty() ? FindingKind::kTrap : outcome.findings[0].kind;
}

TEST(Launch, BarrierOrdersSharedMemory) {
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    Device device(Exchange("bar.sync 0;"));
    const std::uint64_t out = device.Reserve(256);
    RunOptions options;
    options.schedule_seed = seed;
    const LaunchOutcome outcome = device.Run(1, 64, {out}, options);
    EXPECT_EQ(outcome.ending, Ending::kCompleted);
    EXPECT_TRUE(outcome.findings.empty());
    const auto values = device.Download<std::uint32_t>(out, 64);
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(values[i], i ^ 32U);
    EXPECT_EQ(outcome.counters.barriers, 1U);
    EXPECT_EQ(outcome.counters.global_store_sectors, 8U);
    EXPECT_EQ(device.memory().CountWrittenBy(Writer::kDevice, out, 256).value(), 256U);
  }
}

TEST(Launch, AMissingBarrierIsARace) {
  Device device(Exchange(""));
  const LaunchOutcome outcome = device.Run(1, 64, {device.Reserve(256)});
  EXPECT_EQ(outcome.ending, Ending::kCompleted);
  bool race = false;
  for (const Finding& finding : outcome.findings) race = race || finding.kind == FindingKind::kRace;
  EXPECT_TRUE(race);
}

TEST(Launch, UninitialisedSharedMemoryIsReportedWhereItIsLoaded) {
  Device device(Exchange("bar.sync 0;", "setp.ne.u32 %p1, %r1, 5;\n @%p1"));
  const LaunchOutcome outcome = device.Run(1, 64, {device.Reserve(256)});
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].kind, FindingKind::kUninitialised);
  EXPECT_EQ(outcome.findings[0].message, "Uninitialized __shared__ memory read of size 4 bytes");
  EXPECT_EQ(outcome.findings[0].thread.x, 37U);
}

TEST(Launch, AnAccessBeyondAnAllocationIsReported) {
  Device device(Exchange("bar.sync 0;"));
  const LaunchOutcome outcome = device.Run(1, 64, {device.Reserve(252)});
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].kind, FindingKind::kOutOfBounds);
  EXPECT_EQ(outcome.findings[0].message, "Invalid __global__ write of size 4 bytes");
  EXPECT_EQ(outcome.findings[0].thread.x, 63U);
}

TEST(Launch, ABarrierInDivergentCodeIsReported) {
  Device device(Exchange("setp.lt.u32 %p1, %r1, 40;\n@%p1 bar.sync 0;\nbar.sync 0;"));
  const LaunchOutcome outcome = device.Run(1, 64, {device.Reserve(256)});
  EXPECT_EQ(FirstKind(outcome), FindingKind::kDivergentBarrier);
}

TEST(Launch, EndlessLoopsEndWithTheBudget) {
  Device device(KernelText("", "L:\n bra L;"));
  RunOptions options;
  options.instruction_budget = 100'000;
  EXPECT_EQ(device.Run(1000, 1024, {}, options).ending, Ending::kBudget);
}

TEST(Launch, LanesOfAWarpWaitForEachOther) {
  // Lane 0 waits for a flag that lane 1 sets after the branch.
  Device device(KernelText(".param .u64 flag", R"(
  .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [flag];
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra SET;
WAIT:
  ld.volatile.global.u32 %r2, [%rd1];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra WAIT;
  ret;
SET:
  st.volatile.global.u32 [%rd1], 1;
  ret;)"));
  RunOptions options;
  options.instruction_budget = 10'000'000;
  EXPECT_EQ(device.Run(1, 2, {device.Upload<std::uint32_t>({0})}, options).ending, Ending::kCompleted);
}

TEST(Launch, UnsupportedInstructionsMatterOnlyWhenExecuted) {
  const std::string body =
      ".reg .pred %p<2>; .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd1, [n];\n"
      "setp.eq.u64 %p1, %rd1, 0;\n@%p1 bra E;\nmade.up.u32 %r1, %r1;\nE:\n ret;";
  Device device(KernelText(".param .u64 n", body));
  EXPECT_EQ(device.Run(1, 32, {0}).ending, Ending::kCompleted);
  const LaunchOutcome outcome = device.Run(1, 32, {1});
  EXPECT_EQ(outcome.ending, Ending::kUnsupported);
  EXPECT_EQ(outcome.unsupported, "made.up.u32");
}

TEST(Launch, MistakesOfTheCallerAreErrors) {
  DeviceMemory memory;
  const auto module = ParseModule(KernelText(".param .u64 n", "ret;")).value();
  const LoadedModule loaded = LoadedModule::Load(module, memory).value();
  const std::vector<std::uint8_t> arguments(8);
  EXPECT_EQ(Launch(loaded, memory, "other", {}, arguments).error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(Launch(loaded, memory, "k", {}, {}).ok());
  LaunchConfig config;
  config.block.x = 2000;
  EXPECT_FALSE(Launch(loaded, memory, "k", config, arguments).ok());
}

TEST(ParseModule, ErrorsNameTheLine) {
  const auto wrong = ParseModule(".version 9.0\n.target sm_90\n.address_size 64\n.entry k() {\n  bra nowhere;\n}\n");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message, "line 5 of the PTX: there is no label \"nowhere\"");
  EXPECT_FALSE(ParseModule("hello").ok());
  EXPECT_FALSE(ParseModule(".version 9.0\n.entry k() { add.s32 %r1, %r2, [[[[; }").ok());
}

// Each costs more memory than its text.
TEST(ParseModule, BoundsWhatATextCanMakeItKeep) {
  const auto message = [](const std::string& text, const ParseLimits& limits) {
    const auto module = ParseModule(text, limits);
    return module ? std::string("read") : module.error().message;
  };
  ParseLimits limits;
  limits.scopes = limits.addresses = 10;
  limits.constant_bytes = 1000;
  const auto repeated = [](const std::string& part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
  };
  EXPECT_EQ(message(KernelText("", repeated("{}", 9)), limits), "read");
  EXPECT_EQ(message(KernelText("", repeated("{}", 11)), limits),
            "line 6 of the PTX: more than 10 blocks in a function");
  const std::string table = ".version 9.0\n.target sm_90\n.func f() { ret; }\n.global .u64 t[20] = {";
  EXPECT_EQ(message(table + repeated("f,", 9) + "f};", limits), "read");
  EXPECT_EQ(message(table + repeated("f,", 10) + "f};", limits),
            "line 4 of the PTX: more than 10 addresses as initial values");
  std::string numbers = ".reg .b64 %rd;\n";
  for (int i = 0; i < 20; ++i) numbers += "mov.b64 %rd, " + std::to_string(i) + ";\n";
  EXPECT_EQ(message(KernelText("", numbers), limits),
            "line 11 of the PTX: the numbers in the instructions take more than 1000 bytes");
  EXPECT_LT(message(KernelText("", "{ " + std::string(5000, 'x') + ": " + std::string(5000, 'x') + ": }"), {}).size(),
            200U);
}

// Copies and arrivals that nobody waits for, and widths of printed numbers.
TEST(Launch, HostileKernelsStayWithinTheirMemory) {
  Device device(KernelText(".param .u64 p", R"(
  .shared .align 16 .b8 tile[512];
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, tile;
L:
  cp.async.ca.shared.global [%r1], [%rd1], 16;
  cp.async.commit_group;
  bar.arrive 1, 0xFFFFFFE0;
  bra L;)"));
  RunOptions options;
  options.memory_budget = 8U << 20U;
  options.instruction_budget = 200'000'000;
  const LaunchOutcome outcome = device.Run(1, 32, {device.Upload(std::vector<std::uint32_t>(4, 1))}, options);
  EXPECT_EQ(outcome.ending, Ending::kBudget);
  EXPECT_EQ(outcome.reason, "more than 8388608 bytes of memory");
}

TEST(Occupancy, IsLimitedByTheScarcestResource) {
  EXPECT_EQ(ComputeOccupancy(90, 256, 32, 0)->blocks, 8U);
  EXPECT_EQ(ComputeOccupancy(80, 256, 128, 0)->limited_by, "registers");
  EXPECT_EQ(ComputeOccupancy(90, 128, 32, 100'000)->blocks, 2U);
  EXPECT_FALSE(ComputeOccupancy(70, 128, 32, 0).ok());
}

}  // namespace
}  // namespace upskill::ptx
