// SPDX-License-Identifier: Apache-2.0
// What the processes tell each other, and what is read from compilers.
#include <gmock/gmock.h>

#include "cuda/device/device_report.h"
#include "cuda/device/device_task.h"
#include "cuda/device/kernel_build.h"
#include "cuda/device/kernel_costs.h"
#include "cuda/device/kernel_log.h"
#include "cuda/device/runtime_text.h"

namespace upskill {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(DeviceTask, IsReadAsItWasWritten) {
  DeviceTask task;
  task.key = "k";
  task.program = {"./program", "7"};
  task.trials = {
      {{{ArgumentRole::kIn, std::string("\0\xff", 2), 2, 0}, {ArgumentRole::kScalar, "", 0, UINT64_MAX}}, 9}};
  task.checks = false;
  task.threads = 3;
  const Result<DeviceTask> read = TaskFromJson(TaskToJson(task));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(DumpJson(TaskToJson(*read)), DumpJson(TaskToJson(task)));
  EXPECT_EQ(read->trials[0].arguments[0].data, std::string("\0\xff", 2));
  EXPECT_FALSE(TaskFromJson(Json::object()).ok());
}

TEST(DeviceReport, IsReadAsItWasWritten) {
  DeviceReport report;
  report.exit_code = 3;
  report.streams = 2;
  report.output = "\xff\n";
  report.trials.push_back({{{1, "abc", 2, 3}}, {0}, 1, 2, 3, 4, 5});
  report.kernels.push_back({"k", 2, 128, 64, {{"branches", 5}}, {{"integer", 6}}, {{"f32", 7}}, 1});
  report.findings.push_back({"race", "message", "detail", "k", "a.cu:3", "a.cu:4", "st.shared", "(0,0,0)", 7});
  const Result<DeviceReport> read = ReportFromJson(ReportToJson(report));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(DumpJson(ReportToJson(*read)), DumpJson(ReportToJson(report)));
  EXPECT_EQ(read->streams, 2U);
  EXPECT_FALSE(ReportFromJson(Json::object()).ok());
  EXPECT_FALSE(ReportFromJson(Json("text")).ok());
}

TEST(DeviceReport, AFindingSaysWhereAndWhat) {
  EXPECT_EQ(FindingLine({"race", "Race reported", "", "k", "a.cu:3", "a.cu:4", "", "(1,0,0) in block (0,0,0)", 2}),
            "a.cu:3: Race reported by thread (1,0,0) in block (0,0,0), and a.cu:4 (2 times)");
}

// Of an unrolled loop, each line has many instructions, which race at addresses of their own.
TEST(DeviceReport, RacesInTheSamePlacesAreOneFinding) {
  const DeviceFinding first{"race", "WAR at 0x780", "", "k", "a.cu:7", "a.cu:10", "st", "(0,0,0)", 1};
  const auto with = [&](auto change) {
    DeviceFinding other = first;
    other.message = "RAW at 0x784";
    change(other);
    return SameFinding(first, other);
  };
  EXPECT_TRUE(with([](DeviceFinding&) {}));
  EXPECT_TRUE(with([](DeviceFinding& other) { std::swap(other.place, other.other_place); }));
  EXPECT_FALSE(with([](DeviceFinding& other) { other.place = "a.cu:8"; }));
  EXPECT_FALSE(with([](DeviceFinding& other) { other.kernel = "l"; }));
  EXPECT_FALSE(with([](DeviceFinding& other) { other.kind = "misaligned"; }));
}

TEST(KernelBuild, RegistersAreTakenFromTheAssembler) {
  const auto registers = RegistersOf(
      "ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90a'\nptxas info    : Function properties for _Z1kPf\n"
      "ptxas info    : Used 14 registers, used 1 barriers\nptxas info    : Compiling entry function 'b' for 'sm_90a'\n"
      "ptxas info    : Used 255 registers\n");
  EXPECT_EQ(registers.at("_Z1kPf"), 14U);
  EXPECT_EQ(registers.at("b"), 255U);
}

SandboxOutcome Failed(std::string error) {
  SandboxOutcome outcome;
  outcome.exit_code = 1;
  outcome.output = "nvcc 13.0.88\n";
  outcome.error = std::move(error);
  return outcome;
}

TEST(KernelBuild, AMissingFunctionIsTheAnswersFaultAndAMissingCallOfCudaIsnt) {
  EXPECT_EQ(ReadBuild(Failed("driver.cc: undefined reference to `launch(float*)'\n")).problem,
            "it doesn't define launch(float*)");
  const KernelBuild unclear = ReadBuild(Failed("a.o: undefined reference to `cudaGraphAddKernelNode'\n"));
  EXPECT_THAT(unclear.unclear, HasSubstr("it calls cudaGraphAddKernelNode"));
  EXPECT_THAT(unclear.problem, IsEmpty());
  EXPECT_EQ(ReadBuild(Failed("a.cu(3): error: identifier \"x\" is undefined\n")).problem,
            "doesn't compile: a.cu(3): error: identifier \"x\" is undefined");
  SandboxOutcome good;
  good.exit_code = 0;
  good.output =
      "nvcc 13.0.88\n\x7f"
      "ELF\nrest";
  EXPECT_EQ(ReadBuild(good).program,
            "\x7f"
            "ELF\nrest");
  EXPECT_EQ(ReadBuild(good).tools, "nvcc 13.0.88");
}

TEST(KernelBuild, TheRuntimesFilesAndTheDriverAreNotTheAnswers) {
  KernelSources sources;
  sources.files = {{"upskill-cuda-runtime/wire.h", "#error of the answer"}, {"a b.cu", ""}};
  sources.cuda = {"a b.cu"};
  sources.driver = "int main() {}";
  sources.flags = {"-DNAME=two words"};
  sources.files["upskill-cuda-runtime/driver_of_trials.o"] = "of the answer";
  const SandboxCommand command = BuildCommand(sources, "object");
  EXPECT_EQ(command.files.at("upskill-cuda-runtime/driver_of_trials.o"), "object");
  EXPECT_THAT(command.command, HasSubstr("'-DNAME=two words'"));
  EXPECT_THAT(command.command, HasSubstr("'a b.cu'"));
  EXPECT_THAT(command.command, HasSubstr("-Dmain=main_of_answer"));
  const SandboxCommand driver = DriverCommand(sources.driver);
  EXPECT_THAT(driver.files.at("upskill-cuda-runtime/wire.h"), HasSubstr("struct UpskillRequest"));
  EXPECT_EQ(driver.files.count("a b.cu"), 0U);
  sources.driver.clear();
  const SandboxCommand whole = BuildCommand(sources, "");
  EXPECT_THAT(whole.files.at("upskill-cuda-runtime/wire.h"), HasSubstr("struct UpskillRequest"));
  EXPECT_THAT(whole.command, testing::Not(HasSubstr("-Dmain=")));
  for (const auto& [name, text] : CudaRuntimeSources()) EXPECT_FALSE(text.empty()) << name;
}

TEST(KernelCosts, AreSharesOfWhatTheCountersSay) {
  DeviceKernel kernel;
  kernel.launches = 2;
  kernel.threads_per_block = 256;
  kernel.counters = {{"global_load_sectors", 3}, {"global_store_sectors", 1},     {"global_load_bytes", 32},
                     {"global_store_bytes", 32}, {"shared_bank_conflicts", 10},   {"branches", 4},
                     {"divergent_branches", 1},  {"warp_instructions", 1'045'440}};
  const KernelCosts costs = CostsOf(kernel, 32);
  EXPECT_DOUBLE_EQ(costs.coalescing.value(), 0.5);
  EXPECT_DOUBLE_EQ(costs.divergence, 0.25);
  EXPECT_EQ(costs.bank_conflicts, 5U);
  EXPECT_DOUBLE_EQ(costs.compute_us, 1.0);
  EXPECT_FALSE(CostsOf(DeviceKernel(), 32).coalescing.has_value());
}

}  // namespace
}  // namespace upskill
