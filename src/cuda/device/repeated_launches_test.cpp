// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/repeated_launches.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstring>
#include <functional>
#include <string>

#include "cuda/device/device_session.h"
#include "cuda/device/fat_binary_test.h"

namespace upskill {
namespace {

constexpr std::size_t kBytes = 200'000;

// Launches whose work the tests do themselves.
class RepeatedLaunchesTest : public testing::Test {
 protected:
  RepeatedLaunchesTest() { outcome_.counters.thread_instructions = 10 * kBytes; }

  // Launches `count` times, and returns how many of them were run.
  int Launch(const std::string& launch, int count, const std::function<void()>& work) {
    int runs = 0;
    for (int i = 0; i < count; ++i) {
      if (const ptx::LaunchOutcome* const known = repeated_.Repeat(launch, memory_)) {
        EXPECT_EQ(known->counters.thread_instructions, outcome_.counters.thread_instructions);
        continue;
      }
      work();
      repeated_.Ran(outcome_, memory_);
      ++runs;
    }
    return runs;
  }
  // As a kernel does.
  void Store(std::size_t at, std::uint8_t value) {
    ptx::Allocation& array = *memory_.Find(address_);
    array.data.data()[at] = value;
    array.writer.data()[at] = ptx::Writer::kDevice;
  }
  std::uint8_t Load(std::size_t at) { return memory_.Find(address_)->data.data()[at]; }
  std::function<void()> Stores(std::size_t at, std::uint8_t value) {
    return [this, at, value] { Store(at, value); };
  }
  void Write(std::size_t at, std::uint8_t value) {
    EXPECT_TRUE(memory_.Write(address_ + at, std::vector<std::uint8_t>{value}).ok());
    repeated_.MemoryChanged();
  }

  ptx::DeviceMemory memory_;
  std::uint64_t address_ = memory_.Allocate(kBytes, "array").value();
  ptx::LaunchOutcome outcome_;
  RepeatedLaunches repeated_;
};

TEST_F(RepeatedLaunchesTest, ALaunchWithTheSameResultRunsThreeTimes) {
  EXPECT_EQ(Launch("a", 10, Stores(7, 1)), 3);
  EXPECT_EQ(Launch("a", 10, Stores(7, 1)), 0);
  EXPECT_EQ(Launch("with other arguments", 10, Stores(7, 1)), 3);
}

TEST_F(RepeatedLaunchesTest, ChangesOfASkippedLaunchAreMade) {
  const auto counts = [this] { Store(kBytes - 1, static_cast<std::uint8_t>(Load(kBytes - 1) + 1)); };
  const auto one_after_the_other = [&] {
    return Launch("zero", 1, Stores(kBytes - 1, 0)) + Launch("count", 1, counts);
  };
  int runs = 0;
  for (int i = 0; i < 20; ++i) {
    runs += one_after_the_other();
    EXPECT_EQ(Load(kBytes - 1), 1);
    EXPECT_EQ(memory_.CountWrittenBy(ptx::Writer::kDevice, address_, kBytes).value(), 1U);
  }
  EXPECT_LE(runs, 7);
}

TEST_F(RepeatedLaunchesTest, TheSameLaunchInOtherMemoryIsRun) {
  const auto doubles = [this] { Store(1, static_cast<std::uint8_t>(2 * Load(0))); };
  for (std::uint8_t value = 1; value < 20; ++value) {
    Write(0, value);
    Launch("double", value, doubles);
    EXPECT_EQ(Load(1), 2 * value);
  }
  for (std::uint8_t value = 1; value < 20; ++value) {
    Write(0, value);
    Launch("double", 1, doubles);
    EXPECT_EQ(Load(1), 2 * value);
  }
}

TEST_F(RepeatedLaunchesTest, ALaunchWithANewResultEachTimeIsAlwaysRun) {
  EXPECT_EQ(Launch("count", 200, [this] { Store(0, static_cast<std::uint8_t>(Load(0) + 1)); }), 200);
  EXPECT_EQ(Load(0), 200);
}

TEST_F(RepeatedLaunchesTest, WhoWroteAByteAndWhereMemoryIsMatter) {
  EXPECT_EQ(Launch("a", 10, Stores(7, 1)), 3);
  Write(8, 0);
  EXPECT_EQ(Launch("a", 10, Stores(7, 1)), 2) << "by the host";
  const std::uint64_t other = memory_.Allocate(1, "other").value();
  repeated_.MemoryChanged();
  EXPECT_EQ(Launch("a", 10, Stores(7, 1)), 2);
  EXPECT_TRUE(memory_.Free(other).ok());
  repeated_.MemoryChanged();
  EXPECT_EQ(Launch("a", 10, Stores(7, 1)), 0) << "as it was";
}

TEST_F(RepeatedLaunchesTest, LaunchesThatPrintReadAClockFailOrHaveFindingsAreAlwaysRun) {
  outcome_.printed = "text";
  EXPECT_EQ(Launch("prints", 10, [] {}), 10);
  outcome_.printed.clear();
  outcome_.reads_clock = true;
  EXPECT_EQ(Launch("reads the clock", 10, [] {}), 10);
  outcome_.reads_clock = false;
  outcome_.findings.emplace_back();
  EXPECT_EQ(Launch("has a finding", 10, [] {}), 10);
  outcome_.findings.clear();
  outcome_.ending = ptx::Ending::kTrapped;
  EXPECT_EQ(Launch("fails", 10, [] {}), 10);
}

TEST_F(RepeatedLaunchesTest, ShortLaunchesInLargeMemoryAreRun) {
  outcome_.counters.thread_instructions = kBytes / 1000;
  EXPECT_EQ(Launch("a", 100, [] {}), 100);
}

// Counts to 200, so that the memory may be hashed for it, loads x[i] into %r3, and then executes `last`.
std::string KernelText(const std::string& name, const std::string& last) {
  return fmt::format(R"(
.visible .entry {0}(.param .u64 {0}_param_0)
{{
.reg .pred %p<2>;
.reg .b32 %r<6>;
.reg .b64 %rd<5>;
ld.param.u64 %rd1, [{0}_param_0];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
mov.u32 %r2, 0;
$L:
add.s32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, 200;
@%p1 bra $L;
ld.global.u32 %r3, [%rd3];
{1}
ret;
}}
)",
                     name, last);
}

class RepeatedInSession : public testing::Test {
 protected:
  RepeatedInSession() : session_(Task()) {
    const std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n" +
                             KernelText("set", "st.global.u32 [%rd3+256], %r3;") +
                             KernelText("add", "add.s32 %r4, %r3, 1;\nst.global.u32 [%rd3], %r4;") +
                             KernelText("atomic", "atom.global.add.u32 %r4, [%rd1], 1;") +
                             KernelText("time", "mov.u64 %rd4, %clock64;\nst.global.u32 [%rd3+256], %r3;");
    Ask(kUpskillLoadModule, {}, FatBinaryOf(FatBinaryEntry(1, 90, text)));
    array_ = Ask(kUpskillAllocate, {512, kUpskillDeviceMemory}).r[0];
    Ask(kUpskillFill, {array_, 512, 3, 1, kUpskillDefaultStream});
  }

  static DeviceTask Task() {
    DeviceTask task;
    task.key = "key";
    return task;
  }
  DeviceReply Ask(std::uint32_t operation, std::initializer_list<std::uint64_t> numbers, std::string_view bytes = "") {
    UpskillRequest request{};
    request.operation = operation;
    std::copy(numbers.begin(), numbers.end(), request.a);
    DeviceReply reply = session_.Answer(request, bytes);
    EXPECT_EQ(reply.error, 0U) << operation;
    return reply;
  }
  std::uint32_t First(std::uint64_t offset = 0) {
    std::uint32_t number = 0;
    std::memcpy(&number, Ask(kUpskillRead, {array_ + offset, 4, kUpskillDefaultStream}).bytes.data(), 4);
    return number;
  }
  // Returns the time after each launch.
  std::vector<std::uint64_t> Launch(std::string_view name, int count) {
    const std::uint64_t kernel = Ask(kUpskillFindKernel, {0}, name).r[0];
    std::vector<std::uint64_t> times;
    for (int i = 0; i < count; ++i)
      times.push_back(Ask(kUpskillLaunch, {kernel, 1, 1, 1, 64, 1, 1, 0, kUpskillDefaultStream},
                          {reinterpret_cast<const char*>(&array_), sizeof(array_)})
                          .r[1]);
    return times;
  }

  DeviceSession session_;
  std::uint64_t array_ = 0;
};

TEST_F(RepeatedInSession, CountsARepeatedLaunchAsIfItHadRun) {
  const std::vector<std::uint64_t> times = Launch("set", 10);
  for (std::size_t i = 1; i < times.size(); ++i) EXPECT_EQ(times[i] - times[i - 1], times[0]);
  const DeviceReport report = session_.Finish();
  ASSERT_EQ(report.kernels.size(), 1U);
  EXPECT_EQ(report.kernels[0].launches, 10U);
  EXPECT_EQ(report.kernels[0].repeated, 7U);
  EXPECT_EQ(report.kernels[0].counters.at("thread_instructions"), times.back());
}

TEST_F(RepeatedInSession, HostChangesToMemoryAreNoticed) {
  const std::uint32_t sevens = 0x07070707;
  const std::string bytes(reinterpret_cast<const char*>(&sevens), sizeof(sevens));
  Launch("set", 10);
  EXPECT_EQ(First(256), 0x03030303U);
  Ask(kUpskillWrite, {array_, kUpskillDefaultStream}, bytes);
  Launch("set", 10);
  EXPECT_EQ(First(256), sevens);
  Ask(kUpskillFill, {array_, 4, 9, 1, kUpskillDefaultStream});
  Launch("set", 10);
  EXPECT_EQ(First(256), 0x09090909U);
  Ask(kUpskillCopy, {array_, array_ + 4, 4, kUpskillDefaultStream});
  Launch("set", 10);
  EXPECT_EQ(First(256), 0x03030303U);
}

TEST_F(RepeatedInSession, KernelsThatKeepChangingMemoryOrReadAClockAreAlwaysRun) {
  Launch("add", 50);
  EXPECT_EQ(First(), 0x03030303U + 50);
  Launch("atomic", 50);
  EXPECT_EQ(First(), 0x03030303U + 50 + 50 * 64);
  Launch("time", 50);
  for (const DeviceKernel& kernel : session_.Finish().kernels) EXPECT_EQ(kernel.repeated, 0U) << kernel.name;
}

}  // namespace
}  // namespace upskill
