// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/cuda_compile_check.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/text_checks.h"
#include "cuda/checks/compiler_check.h"
#include "cuda/checks/ptx_facts.h"
#include "cuda/checks/torch_headers.h"
#include "cuda/device/kernel_build.h"
#include "sandbox/sandbox.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxInstructionNames = 50;

struct CudaConditions {
  std::string arch = "sm_90";
  std::vector<std::string> uses;
  std::vector<std::string> not_uses;
  std::optional<std::uint64_t> max_registers;
  std::optional<std::uint64_t> spills;
  std::optional<std::uint64_t> max_shared_bytes;
  std::optional<std::uint64_t> min_shared_alignment;
};

Status ReadNames(const CheckSpec& spec, const char* key, std::vector<std::string>& names) {
  const Json* const list = FindMember(spec.options, key);
  if (list == nullptr) return {};
  for (const Json& item : list->is_array() ? *list : Json::array({*list})) {
    if (!item.is_string() || item.get_ref<const std::string&>().empty())
      return InputError(
          fmt::format("\"{}\" of cuda_compile must be an instruction's name such as \"cp.async\", or a list", key));
    names.push_back(item.get<std::string>());
  }
  if (names.size() > kMaxInstructionNames)
    return InputError(fmt::format("\"{}\" of cuda_compile has more than {} names", key, kMaxInstructionNames));
  return {};
}

Status ReadCount(const CheckSpec& spec, const char* key, std::optional<std::uint64_t>& count) {
  const Json* const value = FindMember(spec.options, key);
  if (value == nullptr) return {};
  if (!value->is_number_unsigned())
    return InputError(fmt::format("\"{}\" of cuda_compile must be a whole number", key));
  count = value->get<std::uint64_t>();
  return {};
}

bool IsArchitecture(std::string_view name) {
  if (!name.starts_with("sm_")) return false;
  name.remove_prefix(3);
  if (name.ends_with('a') || name.ends_with('f')) name.remove_suffix(1);
  return name.size() >= 2 && name.size() <= 3 && name.find_first_not_of("0123456789") == std::string_view::npos;
}

Result<CudaConditions> ReadCudaConditions(const CheckSpec& spec) {
  CudaConditions conditions;
  if (const Json* const arch = FindMember(spec.options, "arch"); arch != nullptr) {
    if (!arch->is_string() || !IsArchitecture(arch->get_ref<const std::string&>()))
      return InputError("\"arch\" of cuda_compile must be an architecture such as \"sm_90\" or \"sm_90a\"");
    conditions.arch = arch->get<std::string>();
  }
  RETURN_IF_ERROR(ReadNames(spec, "uses", conditions.uses));
  RETURN_IF_ERROR(ReadNames(spec, "not_uses", conditions.not_uses));
  RETURN_IF_ERROR(ReadCount(spec, "max_registers", conditions.max_registers));
  RETURN_IF_ERROR(ReadCount(spec, "spills", conditions.spills));
  RETURN_IF_ERROR(ReadCount(spec, "max_shared_bytes", conditions.max_shared_bytes));
  RETURN_IF_ERROR(ReadCount(spec, "min_shared_alignment", conditions.min_shared_alignment));
  return conditions;
}

// Compiles the sources one after another; PTX goes to the output, the compiler's messages to the error stream.
std::string CompileCommand(const std::vector<std::string>& sources, const std::string& arch,
                           const std::string& options) {
  std::string command = "nvcc --version | sed -n 's/.*release .*, V/nvcc /p'\n";
  for (std::size_t i = 0; i < sources.size(); ++i) {
    command += fmt::format(
        "mkdir /tmp/k{0} && nvcc {3} -arch={1} -I. -Itorch-ext --keep --keep-dir /tmp/k{0} -Xptxas -v "
        "-c -o /tmp/k{0}/object.o {2} || exit 1\ncat /tmp/k{0}/*.ptx\n",
        i, arch, ShellWord(sources[i]), options);
  }
  return command;
}

class CudaCompile : public CompilerCheck {
 public:
  CudaCompile(CheckSubject subject, CudaConditions conditions, const Sandbox& sandbox)
      : CompilerCheck(std::move(subject), kCudaSources, sandbox), conditions_(std::move(conditions)) {}

 private:
  std::string WhatIsMissing() const override { return sandbox().HasProgram("nvcc") ? "" : kHowToAddNvcc; }

  void Prepare(const std::vector<std::string>& sources, SandboxCommand& command) const override {
    std::string options = "-std=c++17";
    if (const std::optional<TorchHeaders> torch = FindTorchHeaders(sandbox())) {
      options = torch->options;
      for (const auto& [name, content] : torch->files) command.files[name] = content;
    }
    command.command = CompileCommand(sources, conditions_.arch, options);
  }

  std::string WhyUnclear(std::string_view error) const override {
    if (MissingTorchHeader(error).empty() || FindTorchHeaders(sandbox())) return "";
    return fmt::format("it includes PyTorch's headers, which aren't here: {}", kHowToAddTorch);
  }

  std::string FindProblem(const SandboxOutcome& run) const override {
    const PtxFacts ptx = FactsOfPtx(run.output);
    if (ptx.kernels.empty()) return "it has no kernel (__global__ function)";
    for (const std::string& name : conditions_.uses) {
      if (!UsesInstruction(ptx, name)) return fmt::format("it doesn't use {}", Quoted(name));
    }
    for (const std::string& name : conditions_.not_uses) {
      if (UsesInstruction(ptx, name)) return fmt::format("it uses {}", Quoted(name));
    }
    const AssemblerFacts assembled = FactsOfAssembler(run.error);
    const auto more_than = [](std::optional<std::uint64_t> found, std::optional<std::uint64_t> most) {
      return most && found.value_or(0) > *most;
    };
    if (more_than(assembled.registers, conditions_.max_registers))
      return fmt::format("it needs {} registers, more than {}", *assembled.registers, *conditions_.max_registers);
    if (more_than(assembled.spill_bytes, conditions_.spills))
      return fmt::format("it spills {} bytes of registers, more than {}", *assembled.spill_bytes, *conditions_.spills);
    if (more_than(assembled.shared_bytes, conditions_.max_shared_bytes))
      return fmt::format("it has {} bytes of static shared memory, more than {}", *assembled.shared_bytes,
                         *conditions_.max_shared_bytes);
    if (conditions_.min_shared_alignment && ptx.shared_alignment < *conditions_.min_shared_alignment)
      return fmt::format("its shared memory is aligned to {} bytes, not {}", ptx.shared_alignment,
                         *conditions_.min_shared_alignment);
    return "";
  }

  CudaConditions conditions_;
};

}  // namespace

Result<std::unique_ptr<Check>> MakeCudaCompile(const CheckSpec& spec, CaseParts& parts) {
  ASSIGN_OR_RETURN(CudaConditions conditions, ReadCudaConditions(spec));
  parts.NeedFiles();
  CheckSubject subject = SubjectOf(spec, conditions.arch, parts);
  return std::unique_ptr<Check>(
      std::make_unique<CudaCompile>(std::move(subject), std::move(conditions), parts.sandbox()));
}

}  // namespace upskill
