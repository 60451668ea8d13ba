// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/recorded_model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

#include "util/json.h"

namespace upskill {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;

CudaRunSpec SpecOfModel() {
  CheckSpec check;
  check.options = ParseJson(R"json({
    "init_inputs": ["rows", 0.5],
    "arguments": [{"name": "x", "type": "f32", "shape": ["rows", 4]}, {"name": "w", "type": "f16", "shape": [4]},
                  {"name": "out", "type": "f32", "shape": ["rows"], "role": "out"}],
    "sizes": [{"rows": 3}, {"rows": 1}],
    "reference_code": "void reference(const float*, const float*, float*) {}"})json",
                            "test")
                      .value();
  return ReadCudaRunSpec(check).value();
}

class RecordedModelTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!DefaultSandbox().Available() || !DefaultSandbox().HasProgram("python3"))
      GTEST_SKIP() << "no sandbox, no Python";
  }

  static RecordedModel Record(const std::string& python,
                              const std::string& sources = "cpp_sources=CPP, cuda_sources=CUDA") {
    const std::string text = fmt::format(R"(import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline
CPP, CUDA = "torch::Tensor f(torch::Tensor);", """// the kernel""" + f"s"
module = load_inline("m", {})
class ModelNew(nn.Module):
    def __init__(self, rows, scale):
        super().__init__()
        self.rows, self.scale = rows, scale
    def forward(self, x, w):
{})",
                                         sources, python);
    return RecordModel(SpecOfModel(), {{"a.py", text}}, "a.py", DefaultSandbox(), nullptr).value();
  }
};

constexpr const char* kPlain = "        return module.f(x)\n";

TEST_F(RecordedModelTest, SourcesAreThoseOfLoadInline) {
  for (const char* sources : {"cpp_sources=CPP, cuda_sources=CUDA, functions=['f']",
                              "cpp_sources=[CPP], cuda_sources=['', CUDA], functions='f'",
                              "CPP, CUDA, {'f': 'what it does'}, verbose=True, extra_cuda_cflags=['-O3', '-DX=1']"}) {
    const RecordedModel model = Record(kPlain, sources);
    EXPECT_EQ(model.problem + model.unclear, "") << sources;
    ASSERT_EQ(model.sources.cuda.size(), 2U);
    EXPECT_THAT(model.sources.files.at(model.sources.cuda[0]), HasSubstr("// the kernels"));
    EXPECT_THAT(model.sources.files.at(model.sources.cuda[1]), HasSubstr("m.def(\"f\", &f);"));
  }
}

TEST_F(RecordedModelTest, FlagsForAShellAreLeftOut) {
  const RecordedModel model = Record(kPlain,
                                     "CPP, CUDA, ['f'], extra_cuda_cflags=['-DX=1', '--use_fast_math', '-DY=$(id)', "
                                     "'-Xcompiler=x;echo;:use_fast_math']");
  EXPECT_EQ(model.problem + model.unclear, "");
  EXPECT_THAT(model.sources.flags, IsSupersetOf({"-DX=1", "--use_fast_math"}));
  for (const std::string& flag : model.sources.flags) EXPECT_EQ(flag.find_first_of("$;"), std::string::npos) << flag;
}

TEST_F(RecordedModelTest, CallsAreThoseOfForwardForEachOfTheSizes) {
  const RecordedModel model = Record(R"(        print("not for the report")
        y = torch.empty((self.rows, 2), dtype=x.dtype, device=x.device)
        module.f(x.contiguous(), y, x.size(-1), self.scale, None, w.dtype == torch.float16, [1, 2])
        return y.view(-1)
)");
  ASSERT_EQ(model.problem + model.unclear, "");
  const std::string code = model.sources.files.at(model.sources.cuda[1]);
  EXPECT_THAT(code, HasSubstr("void ModelNew(void* a0, void* a1, void* a2)"));
  for (const char* part : {"Given(a0, {3, 4}, at::kFloat)", "Given(a1, {4}, at::kHalf)", "at::empty({3, 2}",
                           "at::empty({1, 2}", "Return(v[4], a2, {1}, at::kFloat)", "\"0.5\"", "{true}"})
    EXPECT_THAT(code, HasSubstr(part));
}

TEST_F(RecordedModelTest, EachExtensionHasItsSources) {
  const RecordedModel model = Record(R"(        other = load_inline("n", [CPP, "// other"], CUDA, functions=["f"])
        return other.f(module.f(x))
)");
  ASSERT_EQ(model.problem + model.unclear, "");
  ASSERT_EQ(model.sources.cuda.size(), 4U);
  EXPECT_THAT(model.sources.files.at(model.sources.cuda[3]), HasSubstr("// other"));
  EXPECT_THAT(model.sources.files.at(model.sources.cuda[1]), HasSubstr("Call(1, \"f\", {v[2]})"));
}

TEST_F(RecordedModelTest, WhatPyTorchHasAndTheStandInLacksIsntTheAnswersFault) {
  for (const char* python :
       {"        return torch.relu(module.f(x))\n", "        return module.f(x) + 1\n",
        "        return nn.functional.relu(x)\n", "        return module.f(x.t())\n", "        import triton\n",
        "        return module.f(x).shape\n", "        return torch.empty(3)\n", "        a, b = module.f(x)\n",
        "        try:\n            torch.relu(x)\n        except Exception:\n            pass\n",
        "        for i in range(9): load_inline(f'm{i}', str(i))\n"}) {
    const RecordedModel model = Record(python);
    EXPECT_EQ(model.problem, "") << python;
    EXPECT_THAT(model.unclear, HasSubstr("the stand-in for PyTorch lacks ")) << python;
  }
}

TEST_F(RecordedModelTest, OtherErrorsAre) {
  const auto problem = [&](const char* python) { return Record(python, "cpp_sources=CPP, functions=['f']").problem; };
  EXPECT_THAT(problem("        return undefined\n"), HasSubstr("a.py:11: NameError"));
  EXPECT_THAT(problem("        return module.g(x)\n"), HasSubstr("function g"));
  EXPECT_THAT(problem("        return [x, w]\n"), HasSubstr("forward doesn't return 1 tensor"));
  EXPECT_THAT(problem("        return )\n"), HasSubstr("SyntaxError"));
  EXPECT_THAT(problem("        import os; os._exit(0)\n"), HasSubstr("ends early"));
  EXPECT_THAT(problem("        raise SystemExit(3)\n"), HasSubstr("SystemExit"));
  const auto whole = [](const char* python) {
    return RecordModel(SpecOfModel(), {{"a.py", python}}, "a.py", DefaultSandbox(), nullptr).value().problem;
  };
  EXPECT_THAT(whole("x = 1\n"), HasSubstr("no class ModelNew"));
  EXPECT_THAT(whole("import torch\nclass ModelNew:\n  def __init__(self, *_): torch.relu(1)\n"),
              HasSubstr("doesn't call load_inline"));
}

TEST(RecordedModel, MessagesNameWhatTheStandInLacks) {
  for (const auto& [message, name] : {
           std::pair(R"(doesn't compile: cuda_sources(7): error: namespace "at" has no member "relu")", "relu"),
           std::pair(R"(s(7): error: class "at::Tensor" has no member "sum")", "sum"),
           std::pair(R"(s(7): error: identifier "AT_DISPATCH_X" is undefined)", "AT_DISPATCH_X"),
           std::pair("s:1:2: error: 'relu' is not a member of 'at'", "relu"),
           std::pair("s:1:2: error: 'class at::Tensor' has no member named 'sum'", "sum"),
           std::pair("it includes torch/script.h, but", "torch/script.h"),
           std::pair("what(): the stand-in for PyTorch lacks views\nmore", "views"),
       })
    EXPECT_EQ(WhatStandInLacks(message), std::string("the stand-in for PyTorch lacks ") + name);
  for (const char* message : {R"(error: identifier "n" is undefined)", R"(error: class "Mine" has no member "sum")",
                              "it doesn't define f", ""})
    EXPECT_EQ(WhatStandInLacks(message), "");
}

}  // namespace
}  // namespace upskill
