// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/launch.h"

#include "cuda/ptx/occupancy.h"
#include "cuda/ptx/ptx_test.h"

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

TEST(DeviceMemory, FreedMemoryIsCalledFreedAndInternalMemoryIsNotNamed) {
  DeviceMemory memory;
  const std::uint64_t first = memory.Allocate(256, "first").value();
  const std::uint64_t internal = memory.Allocate(256, "internal").value();
  memory.SetInternal(internal);
  EXPECT_NE(memory.Describe(internal + 256).find("\"first\""), std::string::npos);
  EXPECT_TRUE(memory.Free(first).ok());
  EXPECT_NE(memory.Describe(first + 8).find("8 bytes inside the 256-byte allocation \"first\""), std::string::npos);
  EXPECT_NE(memory.Describe(first + 8).find("which was freed"), std::string::npos);
}

TEST(DeviceMemory, HostMemoryHasItsAddressUnlessSomethingElseIsThere) {
  DeviceMemory memory;
  constexpr std::uint64_t kHost = 0x555500000000ULL;
  EXPECT_TRUE(memory.AllocateAt(kHost, 1000, "host").ok());
  EXPECT_EQ(memory.Find(kHost + 999)->address, kHost);
  EXPECT_FALSE(memory.AllocateAt(kHost + 512, 8, "inside").ok());
  EXPECT_FALSE(memory.AllocateAt(kHost - 256, 512, "across").ok());
  EXPECT_FALSE(memory.AllocateAt(kHost + 4097, 8, "unaligned").ok());
  EXPECT_FALSE(memory.AllocateAt(0x10000000000ULL, 8, "the window of shared memory").ok());
  EXPECT_FALSE(memory.AllocateAt(~std::uint64_t{0xFF}, 256, "at the end").ok());
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
  Device device(KernelText("", ".reg .b32 %r<2>;\n mov.u32 %r1, 0;\nL:\n add.s32 %r1, %r1, 1;\n bra L;"));
  RunOptions options;
  options.instruction_budget = 100'000;
  EXPECT_EQ(device.Run(1000, 1024, {}, options).ending, Ending::kBudget);
}

// What a compiler makes of a loop that waits for a variable which nothing says may change.
TEST(Launch, BranchesToThemselvesAreADeadlock) {
  for (const char* const loop : {"@%p1 bra L;", "@!%p1 bra DONE;\nM:\n bra M;\nDONE:"}) {
    Device device(KernelText("", std::string(R"(
  .reg .pred %p<2>; .reg .b32 %r<2>;
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p1, %r1, 37;
L:
  )") + loop + "\n bar.sync 0;\n ret;"));
    const LaunchOutcome outcome = device.Run(3, 64, {});
    EXPECT_EQ(outcome.ending, Ending::kDeadlock) << loop;
    EXPECT_EQ(outcome.reason, "a thread is in an endless loop");
    ASSERT_EQ(outcome.findings.size(), 1U) << loop;
    EXPECT_EQ(outcome.findings[0].kind, FindingKind::kDeadlock);
    EXPECT_EQ(outcome.findings[0].thread.x, 37U);
    EXPECT_LT(outcome.counters.warp_instructions, 20U);
  }
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

TEST(Launch, LanesThatCallOneAfterTheOtherMeetInTheFunction) {
  // Half of the lanes waste some time before the call in which all exchange values.
  std::string kernel = KernelText(".param .u64 out", R"(
  .reg .pred %p<3>; .reg .b32 %r<7>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 0;
  setp.lt.u32 %p1, %r1, 16;
  @%p1 bra CALL;
WASTE:
  add.s32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 20000;
  @%p2 bra WASTE;
CALL:
  { .param .b32 p0; st.param.b32 [p0], %r1; .param .b32 r0;
  call (r0), exchange, (p0);
  ld.param.b32 %r3, [r0]; }
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;)");
  kernel.insert(kernel.find(".visible"), R"(
.func (.param .b32 r) exchange(.param .b32 a) { .reg .b32 %r<3>; .reg .pred %p<2>;
  ld.param.b32 %r1, [a]; shfl.sync.bfly.b32 %r2|%p1, %r1, 16, 31, -1; st.param.b32 [r], %r2; ret; }
)");
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    Device device(kernel);
    const std::uint64_t out = device.Reserve(128);
    RunOptions options;
    options.schedule_seed = seed;
    const LaunchOutcome outcome = device.Run(1, 32, {out}, options);
    EXPECT_EQ(outcome.ending, Ending::kCompleted) << outcome.reason;
    EXPECT_TRUE(outcome.findings.empty()) << outcome.findings[0].message;
    const auto values = device.Download<std::uint32_t>(out, 32);
    for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(values[i], i ^ 16U);
  }
}

// What nvcc -G makes of a bit field that is set for the first time.
TEST(Launch, SettingABitFieldInUnoptimisedCodeGivesTheWordAValue) {
  std::string kernel = KernelText(".param .u64 out", R"(
  .reg .b32 %r<4>; .reg .b64 %rd<2>;
  .local .align 4 .b8 word[4];
  ld.param.u64 %rd1, [out];
  ld.local.u32 %r1, [word];
  and.b32 %r2, %r1, -256;
  or.b32 %r3, %r2, 7;
  st.global.u32 [%rd1], %r3;
  ret;)");
  Device optimised(kernel);
  EXPECT_EQ(FirstKind(optimised.Run(1, 1, {optimised.Reserve(4)})), FindingKind::kUninitialised);
  kernel.replace(kernel.find("sm_90"), 5, "sm_90, debug");
  Device debug(kernel);
  EXPECT_TRUE(debug.Run(1, 1, {debug.Reserve(4)}).findings.empty());
}

TEST(Launch, TheSystemsSharedMemoryComesBeforeTheKernels) {
  Device device(KernelText(".param .u64 out", R"(
  .reg .b32 %r<4>; .reg .b64 %rd<2>;
  .shared .align 4 .b8 tile[4];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %reserved_smem_offset_1;
  mov.u32 %r2, %reserved_smem_offset_end;
  mov.u32 %r3, tile;
  st.global.u32 [%rd1], %r1;
  st.global.u32 [%rd1+4], %r2;
  st.global.u32 [%rd1+8], %r3;
  ret;)"));
  const std::uint64_t out = device.Reserve(12);
  EXPECT_EQ(device.Run(1, 1, {out}).ending, Ending::kCompleted);
  const auto values = device.Download<std::uint32_t>(out, 3);
  EXPECT_LT(values[0], values[1]);
  EXPECT_GE(values[2], values[1]);
}

TEST(Launch, DynamicSharedMemoryIsAlignedAsDeclared) {
  Device device(KernelText(".param .u64 out", R"(
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  .extern .shared .align 16384 .b8 tile[];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, tile;
  st.global.u32 [%rd1], %r1;
  ret;)"));
  const std::uint64_t out = device.Reserve(4);
  EXPECT_EQ(device.Run(1, 1, {out}).ending, Ending::kCompleted);
  EXPECT_EQ(device.Download<std::uint32_t>(out, 1)[0] % 16384, 0U);
}

// Many volatile reads are no wait for something, if each is of another address.
TEST(Launch, LongVolatileReadsAreNoDeadlock) {
  Device device(KernelText(".param .u64 in, .param .u64 out", R"(
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, 0;
  mov.u32 %r3, 0;
LOOP:
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.volatile.global.u32 %r2, [%rd4];
  add.s32 %r3, %r3, %r2;
  add.s32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 100000;
  @%p1 bra LOOP;
  st.global.u32 [%rd2], %r3;
  ret;)"));
  const std::uint64_t in = device.Upload(std::vector<std::uint32_t>(100'000, 1));
  const std::uint64_t out = device.Reserve(4);
  EXPECT_EQ(device.Run(1, 1, {in, out}).ending, Ending::kCompleted);
  EXPECT_EQ(device.Download<std::uint32_t>(out, 1)[0], 100'000U);
}

TEST(Launch, LoopsThatNobodyEndsAreADeadlock) {
  // Each block waits for the next one before it sets its own flag.
  Device device(KernelText(".param .u64 flags", R"(
  .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [flags];
  mov.u32 %r1, %ctaid.x;
  xor.b32 %r2, %r1, 1;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
WAIT:
  atom.global.add.u32 %r3, [%rd3], 0;
  setp.eq.u32 %p1, %r3, 0;
  @%p1 bra WAIT;
  mul.wide.u32 %rd4, %r1, 4;
  add.s64 %rd5, %rd1, %rd4;
  atom.global.exch.b32 %r4, [%rd5], 1;
  ret;)"));
  RunOptions options;
  options.instruction_budget = 10'000'000;
  const LaunchOutcome waiting = device.Run(2, 1, {device.Upload<std::uint32_t>({0, 0})}, options);
  EXPECT_EQ(waiting.ending, Ending::kDeadlock) << waiting.reason;
  EXPECT_EQ(FirstKind(waiting), FindingKind::kDeadlock);
  const LaunchOutcome going = device.Run(2, 1, {device.Upload<std::uint32_t>({0, 1})}, options);
  EXPECT_EQ(going.ending, Ending::kCompleted) << going.reason;
}

TEST(Launch, LanesOfAWarpCallDifferentFunctions) {
  const std::string functions = R"(
.func (.param .b32 r) one(.param .b32 a) { .reg .b32 %r<2>;
  ld.param.b32 %r1, [a]; add.s32 %r1, %r1, 1; st.param.b32 [r], %r1; ret; }
.func (.param .b32 r) ten(.param .b32 a) { .reg .b32 %r<2>;
  ld.param.b32 %r1, [a]; mul.lo.s32 %r1, %r1, 10; st.param.b32 [r], %r1; ret; }
.global .align 8 .u64 table[2] = {one, ten};
)";
  std::string kernel = KernelText(".param .u64 out", R"(
  .reg .b32 %r<5>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 1;
  mul.wide.u32 %rd2, %r2, 8;
  mov.u64 %rd3, table;
  add.s64 %rd4, %rd3, %rd2;
  ld.global.u64 %rd5, [%rd4];
  { .param .b32 p0; st.param.b32 [p0], %r1; .param .b32 r0;
  shape : .callprototype (.param .b32 _) _ (.param .b32 _);
  call (r0), %rd5, (p0), shape;
  ld.param.b32 %r3, [r0]; }
  mul.wide.u32 %rd6, %r1, 4;
  add.s64 %rd7, %rd1, %rd6;
  st.global.u32 [%rd7], %r3;
  ret;)");
  kernel.insert(kernel.find(".visible"), functions);
  Device device(kernel);
  const std::uint64_t out = device.Reserve(128);
  RunOptions options;
  options.instruction_budget = 100'000;
  const LaunchOutcome outcome = device.Run(1, 32, {out}, options);
  EXPECT_EQ(outcome.ending, Ending::kCompleted) << outcome.reason;
  EXPECT_TRUE(outcome.findings.empty());
  const auto values = device.Download<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(values[i], i % 2 == 0 ? i + 1 : i * 10);
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
