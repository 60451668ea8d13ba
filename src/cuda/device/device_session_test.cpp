// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/device_session.h"

#include <gmock/gmock.h>

#include <cstring>

#include "cuda/device/cuda_errors.h"
#include "cuda/device/fat_binary_test.h"

namespace upskill {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// out[i] = in[i] + in[i] for a block of threads.
constexpr const char* kDouble = R"(
.version 9.0
.target sm_90
.address_size 64
.global .align 4 .u32 counter;
.global .attribute(.managed) .align 4 .u32 shared_counter;
.visible .entry twice(
.param .u64 twice_param_0,
.param .u64 twice_param_1
)
{
.reg .b32 %r<3>;
.reg .f32 %f<3>;
.reg .b64 %rd<6>;
ld.param.u64 %rd1, [twice_param_0];
ld.param.u64 %rd2, [twice_param_1];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd4, %rd1, %rd3;
add.s64 %rd5, %rd2, %rd3;
ld.global.f32 %f1, [%rd4];
add.f32 %f2, %f1, %f1;
st.global.f32 [%rd5], %f2;
ret;
}
)";

UpskillRequest Asked(std::uint32_t operation, std::initializer_list<std::uint64_t> numbers = {}) {
  UpskillRequest request{};
  request.operation = operation;
  std::size_t i = 0;
  for (const std::uint64_t number : numbers) request.a[i++] = number;
  return request;
}

std::string Floats(std::initializer_list<float> numbers) {
  std::string bytes;
  for (const float number : numbers) bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
  return bytes;
}

std::string Pointers(std::initializer_list<std::uint64_t> numbers) {
  std::string bytes;
  for (const std::uint64_t number : numbers) bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
  return bytes;
}

class DeviceSessionTest : public testing::Test {
 protected:
  DeviceSessionTest() : session_(MakeTask()) {}

  static DeviceTask MakeTask() {
    DeviceTask task;
    task.key = "key";
    const DeviceTrial trial{{{ArgumentRole::kIn, Floats({1, 2, 3, 4}), 16, 0},
                             {ArgumentRole::kOut, "", 16, 0},
                             {ArgumentRole::kScalar, "", 0, 4}},
                            1};
    task.trials = {trial, trial};
    return task;
  }

  std::uint64_t Kernel() {
    EXPECT_EQ(session_.Answer(Asked(kUpskillLoadModule), FatBinaryOf(FatBinaryEntry(1, 90, kDouble))).error, 0U);
    const DeviceReply kernel = session_.Answer(Asked(kUpskillFindKernel, {0}), "twice");
    EXPECT_EQ(kernel.error, 0U);
    EXPECT_EQ(kernel.bytes.size(), 2 * sizeof(std::uint32_t));
    return kernel.r[0];
  }

  std::vector<std::uint64_t> NextTrial() {
    const DeviceReply reply = session_.Answer(Asked(kUpskillNextTrial), "");
    std::vector<std::uint64_t> values(reply.bytes.size() / sizeof(std::uint64_t));
    std::memcpy(values.data(), reply.bytes.data(), reply.bytes.size());
    return values;
  }

  DeviceReply Launch(std::uint64_t kernel, std::uint64_t in, std::uint64_t out, std::uint64_t threads,
                     std::uint64_t stream = kUpskillDefaultStream) {
    return session_.Answer(Asked(kUpskillLaunch, {kernel, 1, 1, 1, threads, 1, 1, 0, stream}), Pointers({in, out}));
  }

  DeviceSession session_;
};

TEST_F(DeviceSessionTest, ATrialHasFreshBuffersAndTellsWhatWasWritten) {
  const std::uint64_t kernel = Kernel();
  std::vector<std::vector<std::uint64_t>> trials;
  for (int i = 0; i < 2; ++i) {
    trials.push_back(NextTrial());
    ASSERT_EQ(trials.back().size(), 3U);
    EXPECT_EQ(trials.back()[2], 4U);
    EXPECT_EQ(Launch(kernel, trials[i][0], trials[i][1], 4).r[0], 0U);
    EXPECT_EQ(session_.Answer(Asked(kUpskillEndTrial), "").error, 0U);
  }
  EXPECT_NE(trials[0][0], trials[1][0]);
  EXPECT_THAT(NextTrial(), IsEmpty());
  const DeviceReport report = session_.Finish();
  EXPECT_EQ(report.key, "key");
  ASSERT_EQ(report.trials.size(), 2U);
  EXPECT_EQ(report.trials[0].outputs.at(0).data, Floats({2, 4, 6, 8}));
  EXPECT_EQ(report.trials[0].outputs.at(0).unwritten, 0U);
  EXPECT_EQ(report.trials[0].launches, 1U);
  EXPECT_THAT(report.trials[0].changed_inputs, IsEmpty());
  ASSERT_EQ(report.kernels.size(), 1U);
  EXPECT_EQ(report.kernels[0].launches, 2U);
  EXPECT_THAT(report.kernels[0].precisions, ElementsAre(testing::Pair("f32", testing::Gt(0U))));
  EXPECT_THAT(report.findings, IsEmpty());
}

TEST_F(DeviceSessionTest, WhatIsntWrittenByAKernelIsTold) {
  const std::uint64_t kernel = Kernel();
  const std::vector<std::uint64_t> first = NextTrial();
  Launch(kernel, first[0], first[1], 3);
  session_.Answer(Asked(kUpskillEndTrial), "");
  const std::vector<std::uint64_t> second = NextTrial();
  EXPECT_EQ(session_.Answer(Asked(kUpskillRead, {second[0], 16}), "").bytes, Floats({1, 2, 3, 4}));
  session_.Answer(Asked(kUpskillWrite, {second[1]}), Floats({2, 4, 6, 8}));
  session_.Answer(Asked(kUpskillEndTrial), "");
  const DeviceReport report = session_.Finish();
  EXPECT_EQ(report.trials[0].outputs.at(0).unwritten, 4U);
  EXPECT_EQ(report.trials[1].outputs.at(0).from_host, 16U);
  EXPECT_EQ(report.trials[1].launches, 0U);
  EXPECT_EQ(report.trials[1].bytes_to_host, 16U);
}

TEST(DeviceSession, ATrialCanHaveTheBuffersOfTheOneBefore) {
  DeviceTask task;
  const auto trial = [](std::initializer_list<float> in, bool same) {
    return DeviceTrial{{{ArgumentRole::kIn, Floats(in), 8, 0}, {ArgumentRole::kOut, "", 8, 0}}, 1, same};
  };
  task.trials = {trial({1, 2}, false), trial({3, 4}, true), trial({5, 6}, false)};
  DeviceSession session(task);
  std::vector<std::vector<std::uint64_t>> values;
  for (int i = 0; i < 3; ++i) {
    const DeviceReply reply = session.Answer(Asked(kUpskillNextTrial), "");
    ASSERT_EQ(reply.bytes.size(), 16U);
    std::memcpy(values.emplace_back(2).data(), reply.bytes.data(), 16);
    EXPECT_EQ(session.Answer(Asked(kUpskillRead, {values[i][0], 8}), "").bytes,
              Floats({1.0F + 2.0F * static_cast<float>(i), 2.0F + 2.0F * static_cast<float>(i)}));
    if (i == 0) session.Answer(Asked(kUpskillCopy, {values[i][1], values[i][0], 8}), "");
    session.Answer(Asked(kUpskillEndTrial), "");
  }
  EXPECT_EQ(values[0], values[1]);
  EXPECT_NE(values[0], values[2]);
  const DeviceReport report = session.Finish();
  EXPECT_EQ(report.trials[0].outputs.at(0).unwritten, 0U);
  EXPECT_EQ(report.trials[1].outputs.at(0).unwritten, 8U) << "what the call before has written is gone";
}

TEST_F(DeviceSessionTest, WhatTheRuntimeCopiesFromAnInputIsTold) {
  const std::vector<std::uint64_t> trial = NextTrial();
  const std::uint64_t scratch = session_.Answer(Asked(kUpskillAllocate, {16, kUpskillDeviceMemory}), "").r[0];
  session_.Answer(Asked(kUpskillCopy, {scratch, trial[0], 16}), "");
  session_.Answer(Asked(kUpskillCopy, {trial[1], scratch, 8}), "");
  session_.Answer(Asked(kUpskillRead, {scratch, 12}), "");
  session_.Answer(Asked(kUpskillEndTrial), "");
  const DeviceReport report = session_.Finish();
  EXPECT_EQ(report.trials[0].outputs.at(0).copied, 8U);
  EXPECT_EQ(report.trials[0].bytes_to_host, 12U);
}

// Otherwise, a kernel could tell the program its input by how long it takes.
TEST_F(DeviceSessionTest, TimeInATrialDependsOnThreadsAlone) {
  const std::uint64_t kernel = Kernel();
  const std::vector<std::uint64_t> trial = NextTrial();
  EXPECT_EQ(Launch(kernel, trial[0], trial[1], 4).r[1], 400U);
  EXPECT_EQ(session_.Answer(Asked(kUpskillRecordEvent, {1, kUpskillDefaultStream}), "").r[0], 400U);
}

TEST_F(DeviceSessionTest, FaultsAreFindingsAndChangedInputsAreTold) {
  const std::uint64_t kernel = Kernel();
  const std::vector<std::uint64_t> trial = NextTrial();
  Launch(kernel, trial[0], trial[1], 5);  // a thread too many
  session_.Answer(Asked(kUpskillWrite, {trial[0]}), Floats({9}));
  session_.Answer(Asked(kUpskillEndTrial), "");
  const DeviceReport report = session_.Finish();
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].kind, "out-of-bounds");
  EXPECT_THAT(report.findings[0].message, HasSubstr("size 4"));
  EXPECT_THAT(report.trials[0].changed_inputs, ElementsAre(0U));
}

TEST_F(DeviceSessionTest, WorkThatNothingWaitsForIsPending) {
  const std::uint64_t kernel = Kernel();
  const std::uint64_t stream = session_.Answer(Asked(kUpskillMakeStream, {1}), "").r[0];
  const std::vector<std::uint64_t> trial = NextTrial();
  Launch(kernel, trial[0], trial[1], 4, stream);
  session_.Answer(Asked(kUpskillEndTrial), "");
  const DeviceReport report = session_.Finish();
  EXPECT_EQ(report.trials[0].pending_streams, 1U);
  EXPECT_EQ(report.streams, 1U);
}

TEST_F(DeviceSessionTest, RequestsOfAnyKindGetAnAnswer) {
  EXPECT_NE(session_.Answer(Asked(12345), "").error, 0U);
  EXPECT_NE(session_.Answer(Asked(kUpskillLaunch, {7, 1, 1, 1, 1, 1, 1}), "").error, 0U);
  EXPECT_NE(session_.Answer(Asked(kUpskillFindKernel, {9}), "twice").error, 0U);
  EXPECT_NE(session_.Answer(Asked(kUpskillFree, {1}), "").error, 0U);
  EXPECT_NE(session_.Answer(Asked(kUpskillRead, {1, UINT64_MAX}), "").error, 0U);
  EXPECT_NE(session_.Answer(Asked(kUpskillFill, {1, UINT64_MAX}), "").error, 0U);
  EXPECT_NE(session_.Answer(Asked(kUpskillCopy, {1, 2, UINT64_MAX}), "").error, 0U);
  EXPECT_NE(session_.Answer(Asked(kUpskillAllocate, {UINT64_MAX}), "").error, 0U);
  EXPECT_NE(session_.Answer(Asked(kUpskillEndTrial), "").error, 0U);
  const std::uint64_t kernel = Kernel();
  EXPECT_NE(session_.Answer(Asked(kUpskillLaunch, {kernel, 1, 1, 1, 1, 1, 1}), "short").error, 0U);
  EXPECT_NE(session_.Answer(Asked(kUpskillFindKernel, {0}), "absent").error, 0U);
  EXPECT_NE(session_.Answer(Asked(kUpskillLoadModule), "not a fat binary").error, 0U);
}

TEST_F(DeviceSessionTest, AFailedLaunchIsAFindingUnlessTheProgramAsksForTheError) {
  const std::uint64_t kernel = Kernel();
  const auto fail = [&](const char* text) {
    EXPECT_EQ(session_.Answer(Asked(kUpskillCallFailed, {kernel}), text).error, 0U);
  };
  fail("cudaErrorInvalidValue (invalid argument)");
  session_.Answer(Asked(kUpskillErrorsRead), "");
  fail("cudaErrorInvalidConfiguration (invalid configuration argument)");
  fail("cudaErrorInvalidConfiguration (invalid configuration argument)");
  EXPECT_NE(session_.Answer(Asked(kUpskillCallFailed, {kernel + 1}), "").error, 0U);
  const DeviceReport report = session_.Finish();
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].kind, "launch-error");
  EXPECT_EQ(report.findings[0].kernel, "twice");
  EXPECT_EQ(report.findings[0].count, 2U);
  EXPECT_THAT(report.findings[0].message, HasSubstr("cudaErrorInvalidConfiguration"));
}

TEST_F(DeviceSessionTest, CallsThatFailAreFindings) {
  const std::uint64_t memory = session_.Answer(Asked(kUpskillAllocate, {16, kUpskillDeviceMemory}), "").r[0];
  EXPECT_EQ(session_.Answer(Asked(kUpskillWrite, {memory + 8}), Floats({1, 2, 3})).error, kCudaInvalidValue);
  EXPECT_EQ(session_.Answer(Asked(kUpskillFree, {memory + 8}), "").error, kCudaInvalidValue);
  EXPECT_EQ(session_.Answer(Asked(kUpskillFree, {memory}), "").error, 0U);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(session_.Answer(Asked(kUpskillFree, {memory}), "").error, kCudaInvalidValue);
  session_.Answer(Asked(kUpskillErrorsRead), "");  // which changes nothing for these
  session_.Answer(Asked(kUpskillCallFailed, {kUpskillNoKernel}), "A copy failed");
  const DeviceReport report = session_.Finish();
  ASSERT_EQ(report.findings.size(), 4U);
  for (const DeviceFinding& finding : report.findings) EXPECT_EQ(finding.kind, "call-error");
  EXPECT_THAT(report.findings[0].message, HasSubstr("12 bytes"));
  EXPECT_EQ(report.findings[2].count, 2U);
  EXPECT_THAT(report.findings[2].detail, HasSubstr("16-byte allocation"));
  EXPECT_THAT(report.findings[3].message, HasSubstr("A copy failed"));
}

TEST_F(DeviceSessionTest, MemoryOfTheHostIsAtItsAddress) {
  constexpr std::uint64_t kHost = 0x555500000000;
  const auto allocate = [&](std::uint64_t at) {
    return session_.Answer(Asked(kUpskillAllocate, {512, kUpskillManagedMemory, at}), "");
  };
  EXPECT_EQ(allocate(kHost).r[0], kHost);
  EXPECT_NE(allocate(kHost + 256).error, 0U);
  EXPECT_EQ(session_.Answer(Asked(kUpskillFree, {kHost}), "").error, 0U);
  EXPECT_EQ(allocate(kHost + 256).r[0], kHost + 256);
}

TEST_F(DeviceSessionTest, ManagedMemoryBeginsAtAPageAndVariablesHaveAddresses) {
  for (const std::uint64_t bytes : {1U, 4096U, 5000U}) {
    const DeviceReply managed = session_.Answer(Asked(kUpskillAllocate, {bytes, kUpskillManagedMemory}), "");
    EXPECT_EQ(managed.error, 0U);
    EXPECT_EQ(managed.r[0] % 4096, 0U);
    EXPECT_EQ(session_.Answer(Asked(kUpskillFindAllocation, {managed.r[0]}), "").r[2],
              static_cast<std::uint64_t>(kUpskillManagedMemory));
  }
  Kernel();
  const DeviceReply counter = session_.Answer(Asked(kUpskillFindSymbol, {0}), "counter");
  EXPECT_EQ(counter.error, 0U);
  EXPECT_EQ(counter.r[1], 4U);
  const DeviceReply managed = session_.Answer(Asked(kUpskillFindSymbol, {0}), "shared_counter");
  EXPECT_EQ(managed.r[0] % 4096, 0U);
  EXPECT_EQ(session_.Answer(Asked(kUpskillFindAllocation, {managed.r[0]}), "").r[2],
            static_cast<std::uint64_t>(kUpskillManagedMemory));
  EXPECT_EQ(session_.Answer(Asked(kUpskillFindSymbol, {0}), "absent").error, kCudaInvalidSymbol);
}

}  // namespace
}  // namespace upskill
