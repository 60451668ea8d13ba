// SPDX-License-Identifier: Apache-2.0
#include "check/cuda_compile_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/answer_files.h"
#include "check/command_check.h"
#include "check/ptx_facts.h"
#include "check/text_checks.h"
#include "sandbox/sandbox.h"
#include "util/files.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxSources = 50;
constexpr std::size_t kMaxInstructionNames = 50;
constexpr const char* kUnnamedSource = "answer.cu";

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
std::string CompileCommand(const std::vector<std::string>& sources, const std::string& arch) {
  std::string command = "nvcc --version | sed -n 's/.*release .*, V/nvcc /p'\n";
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string source = ShellWord(sources[i]);
    command += fmt::format(
        "mkdir /tmp/k{0} && nvcc -std=c++17 -arch={1} -I. -Itorch-ext --keep --keep-dir /tmp/k{0} -Xptxas -v "
        "-c -o /tmp/k{0}/object.o {2} || exit 1\ncat /tmp/k{0}/*.ptx\n",
        i, arch, source);
  }
  return command;
}

class CudaCompile : public Check {
 public:
  CudaCompile(CheckSubject subject, CudaConditions conditions, const Sandbox& sandbox)
      : subject_(std::move(subject)), conditions_(std::move(conditions)), sandbox_(sandbox) {}

  CheckResult Run(const CheckedAnswer& answer) const override {
    if (std::string reason = WhyNot(); !reason.empty()) return {subject_.name, Outcome::kSkip, std::move(reason)};
    SandboxCommand command;
    command.files = answer.files;
    const std::vector<std::string> sources = SourcesOf(answer, command.files);
    if (sources.empty()) return {subject_.name, Outcome::kFail, Missing()};
    if (const std::string conflict = ConflictOfFiles(command.files); !conflict.empty())
      return {subject_.name, Outcome::kFail, "the files of the answer can't be written: " + conflict};
    if (answer.stop != nullptr && answer.stop->load() > 1) return {subject_.name, Outcome::kSkip, "stopped"};
    command.command = CompileCommand(sources, conditions_.arch);
    command.limits.time = std::chrono::seconds(180);
    command.limits.output_bytes = std::size_t{16} << 20U;
    command.stop = answer.stop;
    const Result<SandboxOutcome> run = sandbox_.Run(command);
    if (!run) return {subject_.name, Outcome::kSkip, run.error().message};
    if (run->ending == SandboxOutcome::Ending::kStopped) return {subject_.name, Outcome::kSkip, "stopped"};
    std::string problem = FindProblem(*run, command.limits);
    const std::string tools(run->output.substr(0, std::min<std::size_t>(run->output.find('\n'), 60)));
    return {subject_.name, problem.empty() ? Outcome::kPass : Outcome::kFail, std::move(problem),
            CheckRun{run->seconds, tools}};
  }

  std::string WhyItCannotPass() const override {
    const std::string reason = WhyNot();
    return reason.empty() ? "" : CannotRun(subject_.name, reason);
  }

 private:
  std::string WhyNot() const {
    if (const Status available = sandbox_.Available(); !available) return available.error().message;
    return sandbox_.HasProgram("nvcc") ? ""
                                       : "nvcc isn't installed where the sandbox can read it: `upskill toolchain add "
                                         "cuda` downloads it, --toolchain names another";
  }

  std::string Missing() const {
    return subject_.file.empty() ? "the answer has no CUDA source"
                                 : fmt::format("the answer has no file {}", subject_.file);
  }

  // The sources to compile; an unnamed one is put among the files.
  std::vector<std::string> SourcesOf(const CheckedAnswer& answer, std::map<std::string, std::string>& files) const {
    std::vector<std::string> sources;
    if (!subject_.file.empty()) {
      const CheckedPart& part = answer.parts[subject_.part];
      if (!part.text) return sources;
      files[subject_.file] = *part.text;
      return {subject_.file};
    }
    for (const auto& [name, content] : files) {
      if (name.ends_with(".cu") && sources.size() < kMaxSources) sources.push_back(name);
    }
    if (sources.empty() && answer.parts.front().text) {
      std::string code = DataInAnswer(*answer.parts.front().text, "cuda cu cpp c++");
      if (code.find("__global__") == std::string::npos) return sources;
      files[kUnnamedSource] = std::move(code);
      sources.emplace_back(kUnnamedSource);
    }
    return sources;
  }

  std::string FindProblem(const SandboxOutcome& run, const SandboxLimits& limits) const {
    if (std::string limit = LimitOf(run, limits); !limit.empty()) return limit;
    if (run.exit_code != 0) return fmt::format("doesn't compile: {}", FirstError(run));
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

  // The first line that names an error, else the end of what the compiler said.
  static std::string FirstError(const SandboxOutcome& run) {
    for (const std::string_view line : SplitLines(run.error)) {
      if (line.find("error") != std::string_view::npos || line.find("fatal") != std::string_view::npos)
        return ExcerptLine(ReplaceInvalidUtf8(line), 300);
    }
    return EndOfOutput(run);
  }

  CheckSubject subject_;
  CudaConditions conditions_;
  const Sandbox& sandbox_;
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
