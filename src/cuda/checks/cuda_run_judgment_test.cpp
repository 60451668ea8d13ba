// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/cuda_run_judgment.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace upskill {
namespace {

using testing::HasSubstr;

std::string Elements(ElementType type, std::initializer_list<double> values) {
  std::string bytes;
  for (const double value : values) AppendElement(type, value, bytes);
  return bytes;
}

RunArgument Output(ElementType type) {
  RunArgument argument;
  argument.name = "out";
  argument.type = type;
  argument.role = ArgumentRole::kOut;
  return argument;
}

std::string Compared(ElementType type, std::initializer_list<double> expected, std::initializer_list<double> got,
                     double tolerance) {
  return CompareBuffer(Output(type), tolerance, Elements(ReferenceType(type), expected), Elements(type, got));
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(CompareBuffer, ErrorsAreRelativeToTheReferencesSize) {
  using enum ElementType;
  EXPECT_EQ(Compared(kF32, {1, 2}, {1, 2}, 0.0), "");
  EXPECT_EQ(Compared(kF32, {1000, 0}, {1000.05, 0.05}, 1e-4), "") << "0.05 is little beside 1000";
  EXPECT_THAT(Compared(kF32, {1000, 0}, {1000.2, 0}, 1e-4), HasSubstr("out[0] is 1000.2"));
  EXPECT_THAT(Compared(kF32, {0.001, 0.001}, {0.001, 0.0012}, 1e-4),
              HasSubstr("out[1] is 0.00120000006 instead of 0.00100000005, 1 of 2 elements"));
  EXPECT_EQ(Compared(kF16, {1.0004}, {1.0}, 2e-3), "");
  EXPECT_THAT(Compared(kBf16, {1.0}, {1.1}, 1.6e-2), HasSubstr("1 of 1"));
}

TEST(CompareBuffer, NaNAndInfinitiesAreExpectedOrWrong) {
  using enum ElementType;
  EXPECT_EQ(Compared(kF32, {kNaN, kInfinity, -kInfinity}, {kNaN, kInfinity, -kInfinity}, 0.1), "");
  EXPECT_NE(Compared(kF32, {1.0}, {kNaN}, 0.1), "");
  EXPECT_NE(Compared(kF32, {kNaN}, {1.0}, 0.1), "");
  EXPECT_NE(Compared(kF32, {kInfinity}, {-kInfinity}, 0.1), "");
  EXPECT_NE(Compared(kF32, {kInfinity}, {3e38}, 0.1), "");
  EXPECT_EQ(Compared(kF16, {1e6}, {kInfinity}, 1e-3), "") << "too large for the type";
}

TEST(CompareBuffer, WholeNumbersAreExact) {
  using enum ElementType;
  EXPECT_EQ(Compared(kI32, {1, -7}, {1, -7}, 0.0), "");
  EXPECT_THAT(Compared(kI32, {1, -7}, {1, -8}, 0.0), HasSubstr("out[1] is -8 instead of -7"));
  // Which a double can't tell apart.
  const auto raw = [](std::uint64_t number) { return std::string(reinterpret_cast<const char*>(&number), 8); };
  EXPECT_NE(CompareBuffer(Output(kU64), 0.0, raw((1ULL << 60U) + 1), raw(1ULL << 60U)), "");
  EXPECT_NE(CompareBuffer(Output(kI32), 0.0, "12345678", "1234"), "") << "another size";
}

struct Judged {
  CudaRunSpec spec;
  std::vector<RunInputs> inputs;
  DeviceReport report;
};

// A run that passes: one call, twice.
Judged Good() {
  Judged judged;
  judged.spec.function = "void launch(const float* in, float* out)";
  RunArgument in = Output(ElementType::kF32);
  in.name = "in";
  in.role = ArgumentRole::kIn;
  judged.spec.arguments = {in, Output(ElementType::kF32)};
  judged.spec.sizes = {{{"n", 2.0}}};
  const RunInputs inputs = {judged.spec.sizes[0], {{}, {}}, {"", Elements(ElementType::kF32, {1, 2})}};
  judged.inputs = {inputs, inputs};
  DeviceTrialReport trial;
  trial.launches = 1;
  trial.outputs = {{1, Elements(ElementType::kF32, {1, 2}), 0, 0, 0}};
  judged.report.exit_code = 0;
  judged.report.trials = {trial, trial};
  judged.report.kernels = {{"k", 2, 32, 0, {{"global_load_sectors", 2}, {"global_load_bytes", 32}}, {}, {{"f32", 64}}}};
  return judged;
}

std::string Problem(const Judged& judged) {
  const CheckResult result = JudgeRun(judged.spec, judged.inputs, judged.report);
  EXPECT_EQ(result.outcome == Outcome::kPass, result.detail.empty());
  return result.detail;
}

TEST(JudgeRun, ARightRunPassesAndEachFaultFails) {
  EXPECT_EQ(Problem(Good()), "");
  const auto with = [](auto change) {
    Judged judged = Good();
    change(judged.report.trials[1], judged);
    return Problem(judged);
  };
  using Trial = DeviceTrialReport;
  EXPECT_EQ(with([](Trial& t, Judged&) { t.launches = 0; }), "it launches no kernel (n=2)");
  EXPECT_EQ(with([](Trial& t, Judged&) { t.changed_inputs = {0}; }), "it changes its input in (n=2)");
  EXPECT_EQ(with([](Trial& t, Judged&) { t.outputs[0].unwritten = 4; }), "4 bytes of out aren't written (n=2)");
  EXPECT_THAT(with([](Trial& t, Judged&) { t.outputs[0].from_host = 8; }), HasSubstr("come from the host"));
  EXPECT_THAT(with([](Trial& t, Judged&) { t.outputs[0].copied = 8; }), HasSubstr("copied from an input"));
  EXPECT_THAT(with([](Trial& t, Judged&) { t.pending_streams = 1; }), HasSubstr("stream of its own"));
  EXPECT_THAT(with([](Trial& t, Judged&) { t.bytes_to_host = 257; }), HasSubstr("copies 257 bytes to the host"));
  EXPECT_THAT(with([](Trial& t, Judged&) { t.error = 9; }), HasSubstr("error 9"));
  EXPECT_THAT(with([](Trial& t, Judged&) { t.outputs[0].data = Elements(ElementType::kF32, {1, 3}); }),
              HasSubstr("out[1] is 3 instead of 2"));
  EXPECT_THAT(with([](Trial&, Judged& j) { j.report.trials.pop_back(); }), HasSubstr("in call 2 of 2"));
  EXPECT_THAT(with([](Trial&, Judged& j) { j.report.findings = {{"race", "Race", "", "k", "a.cu:3", "", "", "", 1}}; }),
              HasSubstr("race: a.cu:3: Race"));
  EXPECT_THAT(with([](Trial&, Judged& j) { j.report.failure = "a trap"; }), HasSubstr("a kernel fails: a trap"));
  EXPECT_THAT(with([](Trial&, Judged& j) { j.report.limit = "too long"; }), HasSubstr("doesn't end"));
  EXPECT_THAT(with([](Trial&, Judged& j) { j.report.kernels.clear(); }), HasSubstr("launches no kernel"));
}

TEST(JudgeRun, ConditionsOnPrecisionAndCosts) {
  Judged judged = Good();
  judged.spec.precision = "fp8";
  EXPECT_THAT(Problem(judged), AllOf(HasSubstr("don't compute in fp8"), HasSubstr("f32")));
  judged.report.kernels[0].precisions["fp8"] = 20;
  EXPECT_THAT(Problem(judged), HasSubstr("don't compute in fp8")) << "most is in f32";
  judged.report.kernels[0].precisions["fp8"] = 50;
  EXPECT_EQ(Problem(judged), "");
  judged.spec.precision = "f32";
  EXPECT_EQ(Problem(judged), "");
  judged.spec.min_coalescing = 0.9;
  EXPECT_THAT(Problem(judged), HasSubstr("uses 50 % of the bytes"));
  judged.spec.min_coalescing = 0.5;
  judged.spec.bank_conflicts = 0;
  judged.report.kernels[0].counters["shared_bank_conflicts"] = 64;
  EXPECT_THAT(Problem(judged), HasSubstr("32 bank conflicts"));
  judged.spec.bank_conflicts = 32;
  judged.spec.max_divergence = 0.1;
  judged.report.kernels[0].counters["branches"] = 4;
  judged.report.kernels[0].counters["divergent_branches"] = 1;
  EXPECT_THAT(Problem(judged), HasSubstr("25 % of the branches"));
}

TEST(JudgeRun, AllowedFindingsAndUnequalResultsWithinTheTolerance) {
  Judged judged = Good();
  judged.report.findings = {{"race", "Race", "", "k", "", "", "", "", 1}};
  judged.spec.allow = {"race"};
  EXPECT_EQ(Problem(judged), "");
  judged.report.trials[1].outputs[0].data = Elements(ElementType::kF32, {1, 2.00001});
  EXPECT_EQ(Problem(judged), "");
  judged.spec.deterministic = true;
  EXPECT_EQ(Problem(judged), "its results differ between two runs on the same inputs (n=2)");
}

TEST(JudgeRun, AProgramOfItsOwnIsJudgedByItsExitAndOutput) {
  Judged judged = Good();
  judged.spec = {};
  judged.report.trials.clear();
  judged.report.output = "PASSED\n";
  EXPECT_EQ(Problem(judged), "");
  judged.spec.stdout_pattern = "^FAILED";
  EXPECT_THAT(Problem(judged), HasSubstr("no match for \"^FAILED\""));
  judged.report.exit_code = 2;
  EXPECT_EQ(Problem(judged), "it ends with exit code 2: PASSED");
}

TEST(JudgeRun, WhatCantBeRunHereIsSkipped) {
  Judged judged = Good();
  judged.report.unsupported = "the instruction tex.2d can't be run here";
  EXPECT_EQ(JudgeRun(judged.spec, judged.inputs, judged.report).outcome, Outcome::kSkip);
}

}  // namespace
}  // namespace upskill
