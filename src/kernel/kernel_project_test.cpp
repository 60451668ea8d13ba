// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel_project.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/kernel_project.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> ProblemsOf(const KernelFiles& files, const ProjectParts& parts = {}) {
  std::vector<std::string> texts;
  for (const KernelProblem& problem : JudgeKernelProject(files, parts).problems) texts.push_back(ProblemText(problem));
  return texts;
}

TEST(JudgeKernelProject, AValidProjectHasNoProblems) { EXPECT_THAT(ProblemsOf(ValidKernelProject()), IsEmpty()); }

// One mistake in the valid project, and what must be said about it.
struct Mistake {
  const char* file;
  const char* from;
  const char* to;
  const char* problem;  // how the only problem begins, and after " … " what else it says; empty if there is none
};

constexpr const char* kBinding = "torch-ext/torch_binding.cpp";
constexpr const char* kHeader = "torch-ext/torch_binding.h";
constexpr const char* kInit = "torch-ext/fused_rmsnorm/__init__.py";
constexpr const char* kCuda = "rmsnorm_cuda/rmsnorm.cu";
constexpr const char* kCpu = "rmsnorm_cpu/rmsnorm.cpp";

const std::vector<Mistake>& BuildMistakes() {
  static const std::vector<Mistake> mistakes = {
      {"build.toml", "version = 1", "version = 1.0",
       "build.toml, line 3, column 11: `version` in [general] must be an integer without quotes, not a floating-point"},
      {"build.toml", "version = 1", "version = -1",
       "build.toml, line 3, column 11: `version` in [general] must not be negative"},
      {"build.toml", "version = 1\n", "", "build.toml, line 1, column 1: [general] needs the key `version`"},
      {"build.toml", "license = \"Apache-2.0\"\n", "",
       "build.toml, line 1, column 1: [general] needs the key `license`"},
      {"build.toml", "edition = 5", "edition = 6", "build.toml, line 4, column 11: edition 6 isn't supported"},
      {"build.toml", "edition = 5", "edition = \"5\"",
       "build.toml, line 4, column 11: `edition` in [general] must be an integer without quotes, not a string"},
      {"build.toml", "\"cuda\", \"cpu\"]", "\"cuda\", \"cpu\", \"hip\"]",
       "build.toml, line 6, column 28: unknown backend `hip`; choose from cann, cpu, cuda"},
      {"build.toml", "\"cuda\", \"cpu\"]", "\"cuda\"]",
       "build.toml, line 21, column 11: [kernel.rmsnorm_cpu] has the backend `cpu`, which isn't in `backends`"},
      {"build.toml", "repo-id", "repo_id",
       "build.toml, line 9, column 1: [general.hub] has no key `repo_id`; here it is"},
      {"build.toml", "[torch]\n", "[torch]\nuniversal = true\n",
       "build.toml, line 12, column 1: [torch] has no key `universal`; it is a key of the old v1 format"},
      {"build.toml", "[torch]\n", "[torch-noarch]\n\n[torch]\n",
       "build.toml, line 11, column 2: [torch-noarch] is a second framework; keep exactly one"},
      {"build.toml", "depends = [\"torch\"]\n", "",
       "build.toml, line 14, column 1: [kernel.rmsnorm] needs the key `depends`"},
      {"build.toml", "depends = [\"torch\"]", "depends = [\"cutlass\"]",
       "build.toml, line 16, column 12: unknown dependency `cutlass`; choose from torch, metal-cpp"},
      {"build.toml", "backend = \"cuda\"", "backend = \"neuron\"",
       "build.toml, line 15, column 11: [kernel.rmsnorm] has the backend `neuron`; compiled kernels have one of cpu"},
      {"build.toml", "cuda-capabilities = [\"8.0\", \"9.0\"]", "cuda-capabilities = [9.0]",
       "build.toml, line 18, column 22: an entry of `cuda-capabilities` … must be a string"},
      {"build.toml", "cuda-capabilities", "cuda_capabilities",
       "build.toml, line 18, column 1: [kernel.rmsnorm] has no key `cuda_capabilities`; here it is written `cuda-cap"},
      {"build.toml", "\"8.0\", \"9.0\"", "\"sm_90\"",
       "build.toml, line 18, column 22: `sm_90` is not a compute capability; write \"9.0\""},
      {"build.toml", "\"8.0\", \"9.0\"", "\"90\"",
       "build.toml, line 18, column 22: `90` is not a compute capability; write \"9.0\""},
      {"build.toml", "\"8.0\", \"9.0\"", "\"99.0\"",
       "build.toml, line 18, column 22: kernel-builder supports none of the capabilities of [kernel.rmsnorm]"},
      {"build.toml", "cuda-capabilities = [\"8.0\", \"9.0\"]", "rocm-archs = [\"gfx942\"]",
       "build.toml, line 18, column 1: [kernel.rmsnorm] has no key `rocm-archs` … backend rocm"},
      {"build.toml", "[general.hub]", "[general.cuda]\nminver = 12.6\n\n[general.hub]",
       "build.toml, line 9, column 10: `minver` in [general.cuda] must be a string such as \"12.4\", not a floating-"},
      {"build.toml", "edition = 5", "edition = 5\nsource = \"file:///x\"",
       "build.toml, line 5, column 10: `source` in [general] `file:///x`: the scheme `file` isn't one of https"},
      {"build.toml", "edition = 5", "edition = 5\nkernel-depends = [{repo-id = \"a/b\"}]",
       "build.toml, line 5, column 19: a kernel dependency needs `version` or `revision`"},
      {"build.toml", "edition = 5", "edition = 5\npython-depends = [\"numpy\"]",
       "build.toml, line 5, column 19: kernels may not depend on the Python package `numpy` … einops"},
      {"build.toml", "[torch]", "[torch", "build.toml, line 11, column 7: not valid TOML: "},
      {"build.toml", "\"rmsnorm_cuda/reduce.cuh\"]", "\"rmsnorm_cuda/reduce.cuh\", \"rmsnorm_cuda/missing.cu\"]",
       "build.toml, line 17, column 62: the source `rmsnorm_cuda/missing.cu` doesn't exist"},
      {"build.toml", "\"rmsnorm_cuda/reduce.cuh\"]", "\"rmsnorm_cuda/reduce.cuh\", \"../rmsnorm.cu\"]",
       "build.toml, line 17, column 62: the source `../rmsnorm.cu` is outside the project"},
      {"build.toml", ", \"rmsnorm_cuda/reduce.cuh\"", "",
       "rmsnorm_cuda/rmsnorm.cu, line 4, column 11: `rmsnorm_cuda/reduce.cuh` is included, but no `src`"},
      {"build.toml", ", \"torch-ext/torch_binding.h\"", "",
       "torch-ext/torch_binding.cpp, line 5, column 11: `torch-ext/torch_binding.h` is included, but no `src`"},
      {"build.toml", "name = \"fused-rmsnorm\"", "name = \"rms-norm\"",
       "build.toml, line 2, column 8: the package of `rms-norm` must be torch-ext/rms_norm/__init__.py … there is "
       "`torch-ext/fused_rmsnorm/__init__.py`"},
      {"build.toml", "src = [\"rmsnorm_cpu/rmsnorm.cpp\"]",
       "src = [\"rmsnorm_cpu/rmsnorm.cpp\", \"rmsnorm_cuda/rmsnorm.cu\"]",
       "build.toml, line 23, column 35: `rmsnorm_cuda/rmsnorm.cu` is CUDA code, but the kernel's backend is cpu"},
  };
  return mistakes;
}

const std::vector<Mistake>& CodeMistakes() {
  static const std::vector<Mistake> mistakes = {
      {kBinding, "#include <torch/library.h>", "#include <torch/extension.h>",
       "torch-ext/torch_binding.cpp, line 2, column 11: torch/extension.h isn't allowed"},
      {kBinding, "#include <torch/library.h>", "#include <torch/library.h>\n#include <pybind11/pybind11.h>",
       "torch-ext/torch_binding.cpp, line 3, column 11: pybind11/pybind11.h isn't allowed"},
      {kHeader, "#include <optional>", "#include <torch/extension.h>",
       "torch-ext/torch_binding.h, line 2, column 11: torch/extension.h isn't allowed"},
      {kBinding, "REGISTER_EXTENSION(", "PYBIND11_MODULE(relu, m) {}\n\nREGISTER_EXTENSION(",
       "torch-ext/torch_binding.cpp, line 20, column 1: `PYBIND11_MODULE` isn't allowed: register operators in TORCH_"},
      {kBinding, "REGISTER_EXTENSION(", "namespace py = pybind11;\nvoid f(py::object o) {}\n\nREGISTER_EXTENSION(",
       "torch-ext/torch_binding.cpp, line 21, column 8: pybind11 isn't allowed"},
      {kBinding, "REGISTER_EXTENSION(TORCH_EXTENSION_NAME)",
       "PyMODINIT_FUNC Start(void);\nREGISTER_EXTENSION(TORCH_EXTENSION_NAME)",
       "torch-ext/torch_binding.cpp, line 20, column 1: `PyMODINIT_FUNC` isn't allowed: REGISTER_EXTENSION"},
      {kBinding, "TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops)", "TORCH_LIBRARY_EXPAND(fused_rmsnorm, ops)",
       "torch-ext/torch_binding.cpp, line 7, column 1: TORCH_LIBRARY_EXPAND must be given TORCH_EXTENSION_NAME"},
      {kBinding, "REGISTER_EXTENSION(TORCH_EXTENSION_NAME)", "REGISTER_EXTENSION(fused_rmsnorm)",
       "torch-ext/torch_binding.cpp, line 20, column 1: REGISTER_EXTENSION must be given TORCH_EXTENSION_NAME"},
      {kBinding, "REGISTER_EXTENSION(TORCH_EXTENSION_NAME)\n", "",
       "build.toml: no file of `src` has REGISTER_EXTENSION(TORCH_EXTENSION_NAME)"},
      {kBinding, "REGISTER_EXTENSION(TORCH_EXTENSION_NAME)",
       "REGISTER_EXTENSION(TORCH_EXTENSION_NAME)\nREGISTER_EXTENSION(TORCH_EXTENSION_NAME)",
       "torch-ext/torch_binding.cpp, line 21, column 1: REGISTER_EXTENSION occurs a second time"},
      {kCpu, "#include <torch/all.h>\n",
       "#include <torch/all.h>\n#include \"registration.h\"\nREGISTER_EXTENSION(TORCH_EXTENSION_NAME)\n",
       "torch-ext/torch_binding.cpp, line 20, column 1: REGISTER_EXTENSION occurs a second time … rmsnorm_"},
      {kBinding, "#include \"registration.h\"\n", "",
       "torch-ext/torch_binding.cpp, line 6, column 1: TORCH_LIBRARY_EXPAND comes from registration.h"},
      {kBinding, "float epsilon", "Float epsilon",
       "torch-ext/torch_binding.cpp, line 8, column 7: the schema `rmsnorm( … `Float` is not a type"},
      {kBinding, "float epsilon=1e-6) -> ()", "float epsilon=1e-6)",
       "torch-ext/torch_binding.cpp, line 8, column 7: the schema `rmsnorm( … needs its results"},
      {kBinding, "float epsilon", "int epsilon",
       "torch-ext/torch_binding.cpp, line 12, column 7: `rmsnorm`: the argument `epsilon` has the type `int` … takes "
       "`double`"},
      {kBinding, "Tensor? weight", "Tensor weight",
       "torch-ext/torch_binding.cpp, line 12, column 7: `rmsnorm`: the argument `weight` has the type `Tensor` in the"},
      {kBinding, "Tensor! out, Tensor input, ", "Tensor! out, ",
       "torch-ext/torch_binding.cpp, line 12, column 7: `rmsnorm`: the schema has 3 arguments, but the function"},
      {kBinding, "Tensor! out", "Tensor out",
       "torch-ext/torch_binding.cpp, line 8, column 7: the operator `rmsnorm` returns nothing, but"},
      {kBinding, "-> Tensor[]", "-> Tensor",
       "torch-ext/torch_binding.cpp, line 13, column 7: `split`: the schema returns `Tensor` … returns "
       "`std::vector<torch::Tensor>`"},
      {kBinding, "-> Tensor[]", "-> ()",
       "torch-ext/torch_binding.cpp, line 13, column 7: `split`: the schema has 0 results … returns 1"},
      {kBinding, "ops.def(\"split(Tensor input, int parts, bool copy) -> Tensor[]\");\n", "",
       "torch-ext/torch_binding.cpp, line 12, column 7: `split` has no schema; add ops.def(\"split("},
      {kBinding, "  ops.def(\"split",
       "  ops.def(\"split(Tensor input, int parts, bool copy) -> Tensor[]\");\n  ops.def(\"split",
       "torch-ext/torch_binding.cpp, line 11, column 7: the operator `split` is defined a second time"},
      {kBinding, "ops.def(\"split(", "ops.def(\"chunk(Tensor input) -> Tensor\");\n  ops.def(\"split(",
       "torch-ext/torch_binding.cpp, line 10, column 7: the operator `chunk` has no implementation"},
      {kBinding, "torch::kCPU, &split", "torch::kCPU, &split_all",
       "torch-ext/torch_binding.cpp, line 13, column 7: the function `split_all` is declared nowhere in the project"},
      {kInit, "from .layers", "from fused_rmsnorm.layers",
       "torch-ext/fused_rmsnorm/__init__.py, line 5, column 1: a kernel is loaded from any folder … `from .layers`"},
      {kInit, "    ops.rmsnorm", "    torch.ops.fused_rmsnorm.rmsnorm",
       "torch-ext/fused_rmsnorm/__init__.py, line 10, column 5: torch.ops.fused_rmsnorm doesn't exist"},
      {kInit, "from ._ops import ops", "from torch import ops",
       "torch-ext/fused_rmsnorm/__init__.py: no module of the package imports the operators"},
      {kInit, "import torch\n", "import torch\nimport torch.utils.cpp_extension\n",
       "torch-ext/fused_rmsnorm/__init__.py, line 3, column 1: `torch.utils.cpp_extension` isn't allowed"},
  };
  return mistakes;
}

const std::vector<Mistake>& LinkMistakes() {
  static const std::vector<Mistake> mistakes = {
      {kCuda, "void rmsnorm(", "static void rmsnorm(",
       "rmsnorm_cuda/rmsnorm.cu, line 8, column 13: the function `rmsnorm` is static or in an unnamed namespace"},
      {kCuda, "std::vector<torch::Tensor> split(torch::Tensor input, int64_t parts, bool copy) { return {input}; }",
       "namespace {\nstd::vector<torch::Tensor> split(torch::Tensor input, int64_t parts, bool copy) { return {}; }\n}",
       "rmsnorm_cuda/rmsnorm.cu, line 14, column 28: the function `split` is static or in an unnamed namespace"},
      {kCuda, "std::vector<torch::Tensor> split(torch::Tensor input, int64_t parts, bool copy) { return {input}; }",
       "namespace a::b {\nstd::vector<torch::Tensor> split(torch::Tensor input, int64_t parts, bool copy) { return {}; "
       "}\n}",
       "rmsnorm_cuda/rmsnorm.cu, line 14, column 28: the function `split` is in `a::b` here, but "
       "`torch-ext/torch_bind"},
      {kHeader, "std::vector<torch::Tensor> split(torch::Tensor input, int64_t parts, bool copy);",
       "namespace a {\nstd::vector<torch::Tensor> split(torch::Tensor input, int64_t parts, bool copy);\n}",
       "rmsnorm_cpu/rmsnorm.cpp, line 8, column 28: the function `split` is outside of any namespace here, but"},
      {kCuda, "torch::Tensor const &input, std", "torch::Tensor input, std",
       "rmsnorm_cuda/rmsnorm.cu, line 8, column 6: the function `rmsnorm` has `torch::Tensor` as parameter 2 here, but "
       "`torch-ext/torch_binding.h` declares it with `torch::Tensor const &`"},
      {kCuda, "int64_t parts, bool copy", "int64_t parts",
       "rmsnorm_cuda/rmsnorm.cu, line 13, column 28: the function `split` has 2 parameters here, but"},
      {kHeader, "void rmsnorm(", "void launch(float *out, int n);\nvoid rmsnorm(", ""},
      {kHeader, "std::vector<torch::Tensor> split(", "extern \"C\" std::vector<torch::Tensor> split(",
       "rmsnorm_cpu/rmsnorm.cpp, line 8, column 28: the function `split` isn't extern \"C\" here, but"},
      {kCuda, "std::vector<torch::Tensor> split(", "extern \"C\" std::vector<torch::Tensor> split(",
       "rmsnorm_cuda/rmsnorm.cu, line 13, column 39: the function `split` is extern \"C\" here, but"},
      {kCuda, "__global__", "static void later(float *out);\nvoid f(float *out) { later(out); }\n__global__", ""},
      {kCuda, "__global__", "void launch(float *out, int n = 1);\nvoid f(float *out) { launch(out); }\n__global__",
       "rmsnorm_cuda/rmsnorm.cu, line 6, column 6: the function `launch` is declared and used, but no file defines it"},
      {kCuda, "__global__",
       "void launch(float *out, int n, int m = 1) { *out = n; }\nvoid f(float *out) { launch(out); }\n__global__",
       "rmsnorm_cuda/rmsnorm.cu, line 7, column 22: the function `launch` has 3 parameters, but is called with 1"},
      {kBinding, "#include \"torch_binding.h\"\n", "",
       "torch-ext/torch_binding.cpp, line 11, column 7: the function `rmsnorm` is declared neither in this file"},
      {kCpu, "out.copy_(input);", "out.copy_(input);\n  f(out);", ""},
      {kCuda, "#include \"reduce.cuh\"", "#include \"reduce.cuh\"\n#include \"vector.cuh\"",
       "rmsnorm_cuda/rmsnorm.cu, line 5, column 11: `vector.cuh` is included, but isn't in the project"},
      {kBinding, "#elif defined(CUDA_KERNEL)", "#elif defined(CUDA_KERNELS)",
       "torch-ext/torch_binding.cpp, line 15, column 7: nothing defines `CUDA_KERNELS`, which this code is compiled "
       "for"},
      {kBinding, "#elif defined(CUDA_KERNEL)", "#elif defined(CUDA_KERNELS) || defined(ROCM_KERNEL)",
       "torch-ext/torch_binding.cpp, line 15, column 7: nothing defines `CUDA_KERNELS`, which this code is compiled "
       "for"},
      {kBinding, "#if defined(CPU_KERNEL)", "#ifdef CPU",
       "build.toml, line 21, column 11: there is a kernel for cpu, but no operator is registered for it"},
      {kBinding, "#elif defined(CUDA_KERNEL)", "#elif defined(CUDA_KERNEL) && defined(WITH_CUDA)",
       "build.toml, line 15, column 11: there is a kernel for cuda, but no operator is registered for it"},
      {kBinding, "#elif defined(CUDA_KERNEL)", "#elif defined(CUDA_KERNEL) || defined(ROCM_KERNEL)", ""},
      {kBinding, "#elif defined(CUDA_KERNEL)", "#elif TORCH_VERSION_MINOR > 4 && !defined(WITH_KERNELS)", ""},
  };
  return mistakes;
}

const std::vector<Mistake>& PythonMistakes() {
  static const std::vector<Mistake> mistakes = {
      {kInit, "ops.rmsnorm(", "ops.rms_norm(",
       "torch-ext/fused_rmsnorm/__init__.py, line 10, column 5: no operator `rms_norm` is registered"},
      {kInit, "(out, x, weight, epsilon)", "(out, x)",
       "torch-ext/fused_rmsnorm/__init__.py, line 10, column 5: the operator `rmsnorm` needs the argument `weight`"},
      {kInit, "(out, x, weight, epsilon)", "(\n        out,\n        x,\n        epsilon=epsilon,\n    )",
       "torch-ext/fused_rmsnorm/__init__.py, line 10, column 5: the operator `rmsnorm` needs the argument `weight`"},
      {kInit, "(out, x, weight, epsilon)", "(out, x, weight, eps=epsilon)",
       "torch-ext/fused_rmsnorm/__init__.py, line 10, column 5: the operator `rmsnorm` has no argument `eps`"},
      {kInit, "(out, x, weight, epsilon)", "(out, x, weight, epsilon, 1)",
       "torch-ext/fused_rmsnorm/__init__.py, line 10, column 5: the operator `rmsnorm` takes 4 arguments, not 5"},
      {kInit, "(out, x, weight, epsilon)", "(out, x, weight=max(weight, [1, 2]))", ""},
      {kInit, "(out, x, weight, epsilon)", "(*args)", ""},
      {"torch-ext/fused_rmsnorm/layers.py", "    pass", "    from ._ops import ops as o\n    f = o.chunk",
       "torch-ext/fused_rmsnorm/layers.py, line 6, column 9: no operator `chunk` is registered"},
      {kInit, "from .layers import RMSNorm", "from . import layer",
       "torch-ext/fused_rmsnorm/__init__.py, line 5, column 1: the package has no `layer`"},
      {kInit, "from .layers import RMSNorm", "from .layer import (\n    RMSNorm,\n)",
       "torch-ext/fused_rmsnorm/__init__.py, line 5, column 1: there is no module `.layer`"},
      {kInit, "from .layers import RMSNorm", "from .layers import RMSNorm, LayerNorm",
       "torch-ext/fused_rmsnorm/__init__.py, line 5, column 1: `.layers` has no `LayerNorm`"},
      {kInit, "from .layers import RMSNorm", "from . import layers as l", ""},
      {kInit, "from .layers import RMSNorm", "try:\n    from .layer import RMSNorm\nexcept ImportError:\n    pass", ""},
  };
  return mistakes;
}

void ExpectProblem(const Mistake& mistake) {
  const KernelFiles files = WithReplaced(ValidKernelProject(), mistake.file, mistake.from, mistake.to);
  const std::vector<std::string> problems = ProblemsOf(files);
  if (*mistake.problem == '\0') {
    EXPECT_THAT(problems, IsEmpty()) << mistake.file << ": " << mistake.to;
    return;
  }
  constexpr std::string_view kGap = " … ";
  const std::string_view problem = mistake.problem;
  const std::size_t gap = problem.find(kGap);
  const std::string_view rest = gap == std::string_view::npos ? "" : problem.substr(gap + kGap.size());
  EXPECT_THAT(problems, ElementsAre(AllOf(testing::StartsWith(std::string(problem.substr(0, gap))),
                                          HasSubstr(std::string(rest)))))
      << mistake.file << ": " << mistake.to;
}

TEST(JudgeKernelProject, SaysWhatIsWrongWithBuildToml) {
  for (const Mistake& mistake : BuildMistakes()) ExpectProblem(mistake);
}

TEST(JudgeKernelProject, SaysWhatIsWrongWithTheCode) {
  for (const Mistake& mistake : CodeMistakes()) ExpectProblem(mistake);
}

TEST(JudgeKernelProject, SaysWhatCannotBeLinked) {
  for (const Mistake& mistake : LinkMistakes()) ExpectProblem(mistake);
}

TEST(JudgeKernelProject, SaysWhatPythonCannotFind) {
  for (const Mistake& mistake : PythonMistakes()) ExpectProblem(mistake);
}

TEST(JudgeKernelProject, OperatorsThatPythonRegistersCanBeCalled) {
  const char* const custom =
      "@torch.library.custom_op(add_op_namespace_prefix(\"scale\"), mutates_args=())\ndef scale(x):\n    pass\n\n"
      "def twice(x):\n    return ops.scale(x)\n";
  KernelFiles files = ValidKernelProject();
  files[kInit] += custom;
  EXPECT_THAT(ProblemsOf(files), IsEmpty());
  EXPECT_THAT(ProblemsOf(WithReplaced(files, kInit, "\"scale\"", "\"scales\"")),
              ElementsAre(HasSubstr("no operator `scale` is registered")));
  const char* const fake =
      "from ._ops import ops, add_op_namespace_prefix as p\n@torch.library.register_fake(p(\"split";
  EXPECT_THAT(
      ProblemsOf(WithReplaced(ValidKernelProject(), kInit, "from ._ops import ops", fake + std::string("\"))"))),
      IsEmpty());
  EXPECT_THAT(
      ProblemsOf(WithReplaced(ValidKernelProject(), kInit, "from ._ops import ops", fake + std::string("s\"))"))),
      ElementsAre(HasSubstr("no operator `splits` is registered")));
}

// The kind of C++ type that one is told from another by, for each in a schema.
TEST(JudgeKernelProject, ComparesTheTypesOfSchemasWithThoseOfFunctions) {
  struct Pair {
    const char* schema;
    const char* cpp;
    bool fits;
  };
  const std::vector<Pair> pairs = {
      {"Tensor", "torch::Tensor", true},
      {"Tensor!", "at::Tensor&", true},
      {"Tensor(a!)", "const torch::Tensor &", true},
      {"Tensor", "int64_t", false},
      {"Tensor", "torch::Tensor const", true},
      {"Tensor?", "c10::optional<at::Tensor>", true},
      {"Tensor?", "const std::optional<torch::Tensor> &", true},
      {"Tensor?", "torch::Tensor", false},
      {"Tensor", "std::optional<torch::Tensor>", false},
      {"Tensor[]", "at::TensorList", true},
      {"Tensor[]", "std::vector<torch::Tensor>", true},
      {"Tensor[]", "torch::Tensor", false},
      {"Tensor?[]", "c10::List<std::optional<at::Tensor>>", true},
      {"int", "int64_t", true},
      {"int", "int", false},
      {"int", "double", false},
      {"int", "size_t", false},
      {"int[]", "at::IntArrayRef", true},
      {"int[2]", "std::vector<int64_t>", true},
      {"int?", "std::optional<int64_t>", true},
      {"SymInt", "int64_t", true},
      {"float", "double", true},
      {"float", "float", false},
      {"float[]", "c10::ArrayRef<double>", true},
      {"bool", "bool", true},
      {"bool", "int64_t", false},
      {"str", "std::string const &", true},
      {"str", "c10::string_view", true},
      {"Scalar", "const at::Scalar&", true},
      {"Generator?", "std::optional<at::Generator>", true},
      {"Tensor", "my_alias", true},
  };
  for (const Pair& pair : pairs) {
    KernelFiles files = ValidKernelProject();
    const std::string function = "torch::Tensor copy(torch::Tensor x, " + std::string(pair.cpp) + " y)";
    files = WithReplaced(files, kHeader, "void rmsnorm", function + ";\nvoid rmsnorm");
    files = WithReplaced(files, kCuda, "void rmsnorm(", function + " { return x; }\nvoid rmsnorm(");
    files = WithReplaced(files, kBinding, "  ops.def(\"split",
                         "  ops.def(\"copy(Tensor x, " + std::string(pair.schema) +
                             " y) -> Tensor\");\n  ops.impl(\"copy\", torch::kCUDA, &copy);\n  ops.def(\"split");
    EXPECT_EQ(ProblemsOf(files).empty(), pair.fits) << pair.schema << " and " << pair.cpp;
  }
}

TEST(JudgeKernelProject, FilesThatAreMissing) {
  const auto without = [](const char* path) {
    KernelFiles files = ValidKernelProject();
    files.erase(path);
    return ProblemsOf(files);
  };
  EXPECT_THAT(without("build.toml"), ElementsAre("build.toml: there is no such file"));
  EXPECT_THAT(without(kCpu), ElementsAre("build.toml, line 23, column 8: the source `rmsnorm_cpu/rmsnorm.cpp` doesn't "
                                         "exist"));
}

TEST(JudgeKernelProject, FilesThatAreTooMany) {
  for (const char* path : {"setup.py", "pyproject.toml", "CMakeLists.txt", "torch-ext/fused_rmsnorm/_ops.py"}) {
    KernelFiles files = ValidKernelProject();
    files[path] = "";
    EXPECT_THAT(ProblemsOf(files),
                ElementsAre(std::string(path) + ": kernel-builder generates this file; leave it out"));
  }
  KernelFiles files = ValidKernelProject();
  files["tests/helper.cpp"] = "int main() { return 0; }\n";
  EXPECT_THAT(ProblemsOf(files), IsEmpty()) << "nothing that is built needs it";
}

TEST(JudgeKernelProject, AFileThatDefinesWhatIsNeededMustBeListed) {
  KernelFiles files = ValidKernelProject();
  files = WithReplaced(files, kCuda, "__global__", "void launch(float *out);\n__global__");
  files = WithReplaced(files, kCuda, "  rmsnorm_kernel", "  launch(out.data_ptr<float>());\n  rmsnorm_kernel");
  files["rmsnorm_cuda/launch.cu"] = "void launch(float *out) { *out = 0; }\n";
  EXPECT_THAT(
      ProblemsOf(files),
      ElementsAre("build.toml: no `src` lists `rmsnorm_cuda/launch.cu`, which defines the function `launch` that "
                  "listed files use"));
}

TEST(JudgeKernelProject, JudgesOnlyWhatIsAskedFor) {
  KernelFiles files = {{"build.toml", kValidBuildToml}};
  EXPECT_THAT(ProblemsOf(files, {false, false, false}), IsEmpty());
  EXPECT_THAT(ProblemsOf(files, {true, false, false}).size(), 5U);
  EXPECT_THAT(ProblemsOf(files, {false, true, false}).size(), 1U);
  EXPECT_THAT(ProblemsOf(files, {false, false, true}).size(), 2U);
}

TEST(JudgeKernelProject, BranchesOfConditionsMayHaveTheirOwnRegistration) {
  KernelFiles files = ValidKernelProject();
  files = WithReplaced(files, kBinding, "REGISTER_EXTENSION(TORCH_EXTENSION_NAME)",
                       "#if defined(CUDA_KERNEL)\nREGISTER_EXTENSION(TORCH_EXTENSION_NAME)\n#else\n"
                       "REGISTER_EXTENSION(TORCH_EXTENSION_NAME)\n#endif\n#if 0\nPYBIND11_MODULE(a, m) {}\n#endif");
  EXPECT_THAT(ProblemsOf(files), IsEmpty());
}

TEST(JudgeKernelProject, TheStableAbiHasItsOwnMacros) {
  KernelFiles files = ValidKernelProject();
  files[kBinding] =
      "#include <torch/csrc/stable/library.h>\n#include \"registration.h\"\n#include \"torch_binding.h\"\n"
      R"code(STABLE_TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, m) {
  m.def("rmsnorm(Tensor! out, Tensor input, Tensor? weight, float epsilon) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL_EXPAND(TORCH_EXTENSION_NAME, CUDA, m) { m.impl("rmsnorm", TORCH_BOX(&rmsnorm)); }
STABLE_TORCH_LIBRARY_IMPL_EXPAND(TORCH_EXTENSION_NAME, CPU, m) { m.impl("rmsnorm", TORCH_BOX(&rmsnorm)); }
REGISTER_EXTENSION(TORCH_EXTENSION_NAME)
)code";
  EXPECT_THAT(ProblemsOf(files), IsEmpty());
  files = WithReplaced(files, kBinding, "NAME, CPU", "NAME, CUDA");
  EXPECT_THAT(ProblemsOf(files),
              ElementsAre(HasSubstr("there is a kernel for cpu, but no operator is registered for it "
                                    "(ops.impl(…, torch::kCPU, …))")));
}

TEST(JudgeKernelProject, ProjectsWithoutCompiledCodeHaveNoBinding) {
  const KernelFiles files = {
      {"build.toml", R"code([general]
name = "triton-softmax"
version = 0
edition = 5
license = "mit"
backends = ["cuda", "rocm"]
python-depends = ["einops"]

[torch-noarch]
cuda_capabilities = ["8.0", "9.0"]
)code"},
      {"torch-ext/triton_softmax/__init__.py", "from .softmax import softmax\n"},
      {"torch-ext/triton_softmax/softmax.py", "import triton\n\n\ndef softmax(x):\n    return x\n"}};
  EXPECT_THAT(ProblemsOf(files), IsEmpty());
}

}  // namespace
}  // namespace upskill
