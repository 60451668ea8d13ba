// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/torch_tasks.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "check/task_reader.h"
#include "cuda/checks/cuda_run_spec.h"
#include "cuda/checks/cuda_run_trials.h"
#include "cuda/checks/fake_torch_test.h"
#include "cuda/checks/recorded_model.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace fs = std::filesystem;

class TorchTasksTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::permissions(folder_.path(), fs::perms(0755));
    Write("site/torch/__init__.py", kFakeTorch);
    if (!sandbox().Available() || !sandbox().HasProgram("python3")) GTEST_SKIP() << "no sandbox, no Python";
  }

  Sandbox sandbox() const {
    SandboxOptions options;
    options.toolchains = {folder_.path() / "site"};
    return Sandbox(options);
  }

  void Write(const fs::path& name, std::string_view text) const {
    fs::create_directories((folder_.path() / name).parent_path());
    ASSERT_TRUE(WriteFileAtomically(folder_.path() / name, std::string(text)));
  }

  Result<Suite> Read(const std::string& name) const {
    const Sandbox sandbox = this->sandbox();
    return LoadSuiteOrTasks(folder_.path() / name, {}, sandbox);
  }

  // Why a file with this code isn't a case.
  std::string Refusal(const std::string& code) const {
    Write("one.py", code);
    const Result<Suite> suite = Read("one.py");
    return suite ? "" : suite.error().message;
  }

  TempFolder folder_;
};

std::string WithForward(const std::string& body, const std::string& inputs = "torch.rand(rows)",
                        const std::string& parameters = "x") {
  return "import torch\nrows = 900\nclass Model(torch.nn.Module):\n    def forward(self, " + parameters +
         "):\n        " + body + "\ndef get_inputs():\n    return [" + inputs +
         "]\ndef get_init_inputs():\n    return []\n";
}

TEST_F(TorchTasksTest, AFileIsACaseWithSmallSizes) {
  Write("stretch.py", kStretchTask);
  const Result<Suite> suite = Read("stretch.py");
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  ASSERT_EQ(suite->cases.size(), 1U);
  const Case& read = suite->cases[0];
  EXPECT_EQ(read.id, "stretch");
  EXPECT_THAT(read.input, AllOf(HasSubstr("many_rows = 3000"), HasSubstr("ModelNew")));
  const CudaRunSpec spec = ReadCudaRunSpec(read.checks[0]).value();
  EXPECT_EQ(DumpJson(*spec.init_inputs), R"([1.5,["widths_0",7]])");
  ASSERT_EQ(spec.arguments.size(), 3U);
  EXPECT_THAT(spec.arguments[0].shape, ElementsAre("many_rows", "widths_0", "7"));
  EXPECT_EQ(spec.arguments[0].fill.kind, FillRule::Kind::kUniform);
  EXPECT_EQ(spec.arguments[0].fill.low, 0.0);
  EXPECT_EQ(spec.arguments[1].value, "0.25");
  EXPECT_EQ(spec.sizes.size(), 3U);
  bool negative = false;
  for (const Sizes& sizes : spec.sizes) {
    EXPECT_LE(sizes.at("many_rows") * sizes.at("widths_0") * 7, 40'000);
    negative = negative || sizes.contains("scale");
  }
  EXPECT_TRUE(negative);
}

TEST_F(TorchTasksTest, TheModelMakesTheExpectedResults) {
  Write("stretch.py", kStretchTask);
  const CudaRunSpec spec = ReadCudaRunSpec(Read("stretch.py").value().cases[0].checks[0]).value();
  std::vector<RunInputs> inputs = MakeInputs(spec).value();
  const Sandbox with_torch = sandbox();
  SandboxCommand command = TorchCommand(ModelTask(spec, "model.py").value(), {{"model.py", spec.model}}, with_torch);
  command.files["input.bin"] = ReferenceInput(spec, inputs);
  const SandboxOutcome outcome = with_torch.Run(command).value();
  ASSERT_TRUE(TakeExpected(spec, outcome.output, inputs)) << outcome.error;
  for (const RunInputs& call : inputs) {
    for (std::size_t i = 0; i < call.expected[2].size() / 4; ++i)
      ASSERT_NEAR(ElementAt(ElementType::kF32, call.expected[2], i),
                  0.375 * ElementAt(ElementType::kF32, call.arguments[0].data, i), 1e-6);
  }
}

TEST_F(TorchTasksTest, WhatCantBeJudgedIsRefusedWithTheReason) {
  EXPECT_EQ(Refusal(WithForward("return x * 2")), "");
  EXPECT_THAT(Refusal(WithForward("return x, x")), HasSubstr("its result isn't a tensor"));
  EXPECT_THAT(Refusal(WithForward("return x * 0")), HasSubstr("doesn't depend on an input"));
  EXPECT_THAT(Refusal(WithForward("return torch.rand(3)")), HasSubstr("random"));
  EXPECT_THAT(Refusal(WithForward("raise ValueError('odd')")), HasSubstr("ValueError: odd"));
  EXPECT_THAT(Refusal(WithForward("return x * 2", "'text'")), HasSubstr("an input of the type str"));
  EXPECT_THAT(Refusal(WithForward("return x * 2\n    def named_parameters(self):\n        return [('w', 1)]")),
              HasSubstr("parameters or buffers (w)"));
  EXPECT_THAT(Refusal(WithForward("return x * 2", "torch.rand(90, 1000)")), HasSubstr("too many elements"));
  EXPECT_THAT(Refusal(WithForward("return x * 2", "torch.rand(9), float('inf')", "x, top")), HasSubstr("isn't finite"));
}

TEST_F(TorchTasksTest, HostileFilesDontHarmOthers) {
  Write("tasks/raises.py", "raise ValueError('\\ud800')\ndef get_init_inputs(): pass\n");
  Write("tasks/kills.py",
        "import os\nfor id in -1, os.getppid(), os.getpid():\n    try: os.kill(id, 9)\n    except OSError: pass\n"
        "def get_init_inputs(): pass\n");
  Write("tasks/pretends_no_torch.py", "import os\nos._exit(7)\ndef get_init_inputs(): pass\n");
  Write("tasks/multiplies.py",
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\ndef get_init_inputs(): pass\n");
  Write("tasks/answers.py",
        "import os\nfor i in range(3, 64):\n    try: os.write(i, b'{\"check\": {\"arguments\": 5}}')\n"
        "    except OSError: pass\nos._exit(0)\ndef get_init_inputs(): pass\n");
  Write("tasks/big.py", "def get_init_inputs(): pass\n" + std::string(300 << 10, '#'));
  Write("tasks/good.py", WithForward("print('{\"good\": 1}')\n        return x * 2"));
  Write("tasks/ends.py", "import os\nos._exit(0)\ndef get_init_inputs(): pass\n");
  Write("tasks/exits.py", "raise SystemExit(0)\ndef get_init_inputs(): pass\n");
  Write("tasks/loops.py", "while True: pass\ndef get_init_inputs(): pass\n");
  Write("tasks/large.py", "x = bytearray(10 << 30)\ndef get_init_inputs(): pass\n");
  Write("tasks/wrong.py", "def get_init_inputs(:\n");
  Write("tasks/helper.py", "not a task");
  const Result<Suite> suite = Read("tasks");
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  ASSERT_EQ(suite->cases.size(), 1U);
  EXPECT_EQ(suite->cases[0].id, "good");
  EXPECT_THAT(
      suite->warnings,
      ElementsAre(HasSubstr("answers.py is left out: "), HasSubstr("big.py is left out: "),
                  HasSubstr("ends.py is left out: it ends the process"), HasSubstr("exits.py is left out: "),
                  HasSubstr("kills.py is left out: it ends the process"),
                  HasSubstr("large.py is left out: no small sizes work: MemoryError"),
                  HasSubstr("loops.py is left out: it takes more than"), HasSubstr("multiplies.py is left out: "),
                  HasSubstr("pretends_no_torch.py is left out: it ends the process"),
                  HasSubstr("raises.py is left out: "), HasSubstr("wrong.py is left out: SyntaxError")));
}

TEST_F(TorchTasksTest, ReadingCanBeStopped) {
  Write("tasks/loops.py", "while True: pass\ndef get_init_inputs(): pass\n");
  StopFlag stop{0};
  const std::jthread user([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop = 1;
  });
  const Sandbox sandbox = this->sandbox();
  const Result<Suite> suite = LoadSuiteOrTasks(folder_.path() / "tasks", {}, sandbox, &stop);
  ASSERT_FALSE(suite.ok());
  EXPECT_EQ(suite.error().kind, ErrorKind::kCancelled);
}

TEST_F(TorchTasksTest, WithoutPyTorchTheErrorSaysWhatToInstall) {
  Write("site/torch/__init__.py", "raise ImportError('absent')");
  EXPECT_THAT(Refusal(WithForward("return x * 2")), AllOf(HasSubstr("absent"), HasSubstr("python3-torch")));
}

TEST(TorchTasks, AModelIsAReferenceForPythonOnly) {
  CheckSpec check;
  check.options = Json{{"reference_model", "x"},
                       {"init_inputs", Json::array()},
                       {"arguments", Json::array({{{"name", "y"}, {"type", "f32"}, {"shape", {1}}, {"role", "out"}}})}};
  EXPECT_TRUE(ReadCudaRunSpec(check).ok());
  check.options["reference_code"] = "x";
  EXPECT_FALSE(ReadCudaRunSpec(check).ok()) << "two references";
  check.options.erase("reference_code");
  check.options["arguments"][0]["role"] = "inout";
  EXPECT_FALSE(ReadCudaRunSpec(check).ok());
  check.options["arguments"][0]["role"] = "out";
  check.options.erase("init_inputs");
  check.options["function"] = "void f(float* y)";
  EXPECT_FALSE(ReadCudaRunSpec(check).ok());
}

}  // namespace
}  // namespace upskill
