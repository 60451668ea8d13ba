// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/cuda_run_spec.h"

#include <gmock/gmock.h>

#include <utility>
#include <vector>

#include "cuda/checks/cuda_run_trials.h"

namespace upskill {
namespace {

using testing::HasSubstr;

Result<CudaRunSpec> SpecOf(const std::string& options) {
  CheckSpec spec;
  spec.type = "cuda_run";
  spec.options = ParseJson(options, "test").value();
  return ReadCudaRunSpec(spec);
}

constexpr const char* kGood = R"json({
  "function": "void launch(const float* in, __half* out, int rows, float eps, cudaStream_t stream)",
  "arguments": [
    {"name": "in", "type": "f32", "shape": ["rows", "2*cols"], "fill": {"kind": "normal", "deviation": 2}},
    {"name": "out", "type": "f16", "shape": ["rows"], "role": "out", "tolerance": 0.01},
    {"name": "rows", "type": "i32", "value": "rows"},
    {"name": "eps", "type": "f32", "value": 1e-5},
    {"name": "stream", "type": "stream"}],
  "sizes": [{"rows": 3, "cols": 5}, {"rows": 1, "cols": 1, "scale": 1000}],
  "reference_code": "void reference(const float*, float*, int, float) {}", "seeds": 2, "timeout_seconds": 5
})json";

TEST(CudaRunSpec, IsReadAndMakesTheSameInputsEveryTime) {
  const Result<CudaRunSpec> spec = SpecOf(kGood);
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_EQ(spec->arguments.size(), 5U);
  EXPECT_EQ(spec->time, std::chrono::seconds(5));
  const std::vector<RunInputs> inputs = *MakeInputs(*spec);
  const std::vector<RunInputs> again = *MakeInputs(*spec);
  ASSERT_EQ(inputs.size(), 8U);
  EXPECT_EQ(inputs[0].arguments[0].data.size(), 3U * 10 * 4);
  EXPECT_EQ(inputs[0].arguments[0].data, again[0].arguments[0].data);
  EXPECT_NE(inputs[0].arguments[0].data, inputs[2].arguments[0].data) << "another seed";
  EXPECT_EQ(inputs[0].arguments[1].bytes, 6U);
  EXPECT_EQ(inputs[0].arguments[2].bits, 3U);
  const std::vector<DeviceTrial> trials = MakeTrials(*spec, inputs);
  ASSERT_EQ(trials.size(), 8U);
  EXPECT_FALSE(trials[0].same_buffers);
  EXPECT_TRUE(trials[1].same_buffers);
  EXPECT_EQ(SizesText(inputs[0].sizes), "cols=5, rows=3");
}

TEST(CudaRunSpec, OfAModelDeclaresAFunction) {
  Json options = ParseJson(kGood, "test").value();
  options["init_inputs"] = {"rows", 1e-5};
  EXPECT_THAT(SpecOf(DumpJson(options)).error().message, HasSubstr("has no \"function\""));
  options.erase("function");
  EXPECT_THAT(SpecOf(DumpJson(options)).error().message, HasSubstr("types of PyTorch's tensors")) << "a stream";
  options["arguments"].erase(4);
  const Result<CudaRunSpec> spec = SpecOf(DumpJson(options));
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_EQ(spec->function, "void ModelNew(void* a0, void* a1, long long a2, double a3)");
  options["init_inputs"] = {"unknown"};
  EXPECT_THAT(SpecOf(DumpJson(options)).error().message, HasSubstr("no size is called"));
}

TEST(CudaRunSpec, RepetitionsDifferInSomeElementsUnlessResultsMustBeEqual) {
  CudaRunSpec spec = *SpecOf(kGood);
  spec.sizes = {{{"rows", 20.0}, {"cols", 10.0}}};
  const auto changed = [&] {
    const std::vector<RunInputs> inputs = *MakeInputs(spec);
    const std::string& a = inputs[0].arguments[0].data;
    const std::string& b = inputs[1].arguments[0].data;
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); i += 4) count += a.compare(i, 4, b, i, 4) != 0 ? 1 : 0;
    return count;
  };
  EXPECT_GE(changed(), 5U);
  EXPECT_LE(changed(), 7U);
  spec.deterministic = true;
  EXPECT_EQ(changed(), 0U);
  // One of the sizes has other inputs, too, also with one seed.
  spec.seeds = 1;
  const std::vector<RunInputs> inputs = *MakeInputs(spec);
  ASSERT_EQ(inputs.size(), 2U * static_cast<std::size_t>(spec.repetitions));
  EXPECT_NE(inputs.front().arguments[0].data, inputs.back().arguments[0].data);
}

TEST(CudaRunSpec, TheReferencesResultsAreTakenApart) {
  const CudaRunSpec spec = *SpecOf(kGood);
  std::vector<RunInputs> inputs = *MakeInputs(spec);
  // Half precision is single there: 4 × 3 + 4 × 1 elements.
  EXPECT_THAT(TakeExpected(spec, std::string(15 * 4, 'x'), inputs).error().message, HasSubstr("something else"));
  EXPECT_THAT(TakeExpected(spec, std::string(17 * 4, 'x'), inputs).error().message, HasSubstr("more than"));
  ASSERT_TRUE(TakeExpected(spec, std::string(16 * 4, 'x'), inputs).ok());
  EXPECT_EQ(inputs[3].expected[1].size(), 12U);
  EXPECT_EQ(inputs[4].expected[1].size(), 4U);
}

TEST(CudaRunSpec, TheGeneratedProgramsCallWhatIsDeclared) {
  const CudaRunSpec spec = *SpecOf(kGood);
  EXPECT_THAT(DriverProgram(spec), HasSubstr("launch(Address{values[0]}, Address{values[1]}, Number{values[2]}, "
                                             "Real{values[3]}, Address{values[4]})"));
  EXPECT_THAT(ReferenceProgram(spec),
              HasSubstr("reference(reinterpret_cast<float*>(a0.data()), reinterpret_cast<float*>(a1.data()), "
                        "static_cast<int32_t>(a2), static_cast<float>(a3))"));
}

TEST(CudaRunSpec, SizesAreComputedFromLeftToRight) {
  const Sizes sizes = {{"n", 10.0}, {"m", 3.0}};
  const std::vector<std::pair<std::string, double>> good = {
      {"7", 7.0},      {"n", 10.0},    {"n*m", 30.0}, {"n + m", 13.0}, {"n/m", 4.0},
      {"n*m+1", 31.0}, {"1e-5", 1e-5}, {"n-1", 9.0},  {"-2.5", -2.5},  {"n*2/m", 7.0}};
  for (const auto& [expression, value] : good) {
    const Result<double> found = EvaluateSize(expression, sizes);
    ASSERT_TRUE(found.ok()) << expression << ": " << found.error().message;
    EXPECT_DOUBLE_EQ(*found, value) << expression;
  }
  for (const char* const expression : {"", "k", "n*", "n m", "(n)", "n/0", "*n", "n**m"})
    EXPECT_FALSE(EvaluateSize(expression, sizes).ok()) << expression;
}

TEST(CudaRunSpec, NamesOfDeclarations) {
  EXPECT_EQ(DeclaredName("void launch(const float* in)"), "launch");
  EXPECT_EQ(DeclaredName("extern \"C\" int run_all (float* x, int n);"), "run_all");
  EXPECT_EQ(DeclaredName("void kernels::scale(float* x)"), "kernels::scale");
  for (const char* const text : {"", "launch", "launch(float*)", "void f(", "void f() { }", "#include <x> f()"})
    EXPECT_EQ(DeclaredName(text), "") << text;
}

TEST(CudaRunSpec, WhatIsMalformedIsNamed) {
  const std::string function =
      R"json("function": "void f(float* x, int n)", "reference_code": "void reference(float*, int) {}")json";
  const auto with_arguments = [&](const std::string& arguments, const std::string& more = "") {
    return "{" + function + R"json(, "arguments": [)json" + arguments + "]" + more + "}";
  };
  const std::string out = R"json({"name": "x", "type": "f32", "shape": ["n"], "role": "out"})json";
  const std::string sized = R"json(, "sizes": [{"n": 4}])json";
  ASSERT_TRUE(SpecOf(with_arguments(out, sized)).ok());
  const std::vector<std::pair<std::string, std::string>> bad = {
      {R"json({"function": 1})json", "\"function\" of cuda_run"},
      {R"json({"function": "f"})json", "a declaration in C++"},
      {R"json({"arguments": []})json", "no \"function\""},
      {"{" + function + "}", "\"arguments\" of cuda_run"},
      {with_arguments(R"json({"type": "f32"})json"), "\"name\""},
      {with_arguments(R"json({"name": "x", "type": "float"})json"), "\"type\" of cuda_run"},
      {with_arguments(R"json({"name": "x", "type": "f32"})json"), "\"shape\" of cuda_run"},
      {with_arguments(R"json({"name": "x", "type": "f32", "shape": ["n"], "role": "both"})json"),
       "\"role\" of cuda_run"},
      {with_arguments(R"json({"name": "x", "type": "f32", "shape": [4]})json"), "have a buffer of the role"},
      {with_arguments(out), "no size is called"},
      {with_arguments(out, R"json(, "sizes": [{"n": "4"}])json"), "\"sizes\" of cuda_run"},
      {with_arguments(out, R"json(, "sizes": [{"n": 1e9}])json"), "has no dimension"},
      {with_arguments(out, R"json(, "sizes": [{"n": -1}])json"), "has no dimension"},
      {with_arguments(out, R"json(, "sizes": [{"n": 16777216}], "repetitions": 8)json"), "128 MiB"},
      {with_arguments(R"json({"name": "x", "type": "f32", "shape": [4], "role": "inout", "fill": "random"})json"),
       "\"fill\" of cuda_run"},
      {with_arguments(out, sized + R"json(, "precision": "f8")json"), "\"precision\" of cuda_run"},
      {with_arguments(out, sized + R"json(, "allow": ["races"])json"), "\"allow\" of cuda_run"},
      {with_arguments(out, sized + R"json(, "seeds": 0)json"), "\"seeds\" of cuda_run"},
      {with_arguments(out, sized + R"json(, "tolerance": "1%")json"), "\"tolerance\" of cuda_run"},
      {with_arguments(out, sized + R"json(, "min_coalescing": 90)json"), "\"min_coalescing\" of cuda_run"},
      {with_arguments(out, sized + R"json(, "deterministic": 1)json"), "\"deterministic\" of cuda_run"},
      {with_arguments(out, sized + R"json(, "timeout_seconds": 0)json"), "\"timeout_seconds\" of cuda_run"},
      {R"json({"function": "void f(float* x, int n)", "arguments": [)json" + out + "]" + sized + "}",
       "needs \"reference_code\""}};
  for (const auto& [options, message] : bad) {
    const Result<CudaRunSpec> spec = SpecOf(options);
    ASSERT_FALSE(spec.ok()) << options;
    EXPECT_THAT(spec.error().message, HasSubstr(message)) << options;
  }
}

}  // namespace
}  // namespace upskill
