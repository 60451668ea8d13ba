// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/kernel_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/device/runtime_text.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr const char* kRuntimeFolder = "upskill-cuda-runtime";
constexpr const char* kDriverFile = "upskill-cuda-runtime/driver_of_trials.cc";
constexpr const char* kDriverObject = "upskill-cuda-runtime/driver_of_trials.o";
constexpr std::size_t kShownError = 300;
constexpr std::size_t kMaxProgramBytes = std::size_t{64} << 20U;

// Each source is compiled on its own, all at the same time; the messages come in the order of the sources.
std::string CompileAll(const KernelSources& sources) {
  const std::string code = sources.registers ? "[compute_90a,sm_90a] -Xptxas -v" : "compute_90a";
  std::string command = "nvcc --version | sed -n 's/.*release .*, V/nvcc /p'\nmkdir /tmp/build\n";
  std::string waits;
  std::string objects;
  std::size_t number = 0;
  const auto add = [&](const std::string& options, const std::string& file) {
    const std::string base = fmt::format("/tmp/build/{}", number);
    command += fmt::format("nvcc -std=c++17 {} -c -o {}.o {} > {}.log 2>&1 & p{}=$!\n", options, base, ShellWord(file),
                           base, number);
    waits += fmt::format("wait $p{0}; s=$?; cat {1}.log >&2; [ $s -eq 0 ] || exit 1\n", number, base);
    objects += fmt::format(" {}.o", base);
    ++number;
  };
  // An answer's own main() may be there to try its kernels: the driver's takes its place.
  const std::string rename = sources.driver.empty() ? "" : "-Dmain=main_of_answer ";
  std::string flags;
  for (const std::string& flag : sources.flags) flags += " " + ShellWord(flag);
  for (const std::string& file : sources.cuda)
    add(fmt::format("{}-lineinfo -I. --no-compress -gencode arch=compute_90a,code={}{}", rename, code, flags), file);
  if (sources.driver.empty()) {
    add("-O1", fmt::format("{}/runtime.cpp", kRuntimeFolder));
  } else {
    objects += fmt::format(" {}", kDriverObject);
  }
  return fmt::format("{}{}g++ -o /tmp/build/program{} -lpthread || exit 1\ncat /tmp/build/program\n", command, waits,
                     objects);
}

// The first name after "undefined reference to `", up to the closing quote.
std::optional<std::string> UndefinedName(std::string_view messages, bool of_runtime) {
  constexpr std::string_view kBefore = "undefined reference to `";
  for (std::size_t at = messages.find(kBefore); at != std::string_view::npos; at = messages.find(kBefore, at + 1)) {
    const std::size_t begin = at + kBefore.size();
    std::string name(messages.substr(begin, messages.find('\'', begin) - begin));
    const bool runtime = name.starts_with("cuda") || name.starts_with("__cuda") || name.starts_with("cu");
    if (runtime == of_runtime) return name;
  }
  return std::nullopt;
}

std::string FirstErrorLine(std::string_view messages) {
  for (const std::string_view line : SplitLines(messages)) {
    if (line.find("error") != std::string_view::npos || line.find("multiple definition") != std::string_view::npos)
      return ExcerptLine(ReplaceInvalidUtf8(line), kShownError);
  }
  const std::string_view rest = Trim(messages);
  return ExcerptLine(ReplaceInvalidUtf8(rest.substr(rest.size() - std::min(rest.size(), kShownError))), kShownError);
}

SandboxCommand WithLimits(SandboxCommand command) {
  command.limits.time = std::chrono::seconds(180);
  command.limits.output_bytes = kMaxProgramBytes;
  return command;
}

void AddRuntime(SandboxCommand& command) {
  for (const auto& [name, text] : CudaRuntimeSources())
    command.files[fmt::format("{}/{}", kRuntimeFolder, name)] = text;
}

}  // namespace

SandboxCommand DriverCommand(const std::string& driver) {
  SandboxCommand command;
  AddRuntime(command);
  command.files[kDriverFile] = driver;
  command.command = fmt::format(
      "nvcc -std=c++17 -O1 -c -o /tmp/runtime.o {}/runtime.cpp >&2 & runtime=$!\n"
      "nvcc -std=c++17 -x c++ -O1 -c -o /tmp/driver.o {} >&2 || exit 1\n"
      "wait $runtime && g++ -r -nostdlib -o /tmp/both.o /tmp/driver.o /tmp/runtime.o >&2 && cat /tmp/both.o\n",
      kRuntimeFolder, kDriverFile);
  return WithLimits(std::move(command));
}

SandboxCommand BuildCommand(const KernelSources& sources, const std::string& driver_object) {
  SandboxCommand command;
  command.files = sources.files;
  if (sources.driver.empty()) {
    AddRuntime(command);
  } else {
    command.files[kDriverObject] = driver_object;
  }
  command.command = CompileAll(sources);
  return WithLimits(std::move(command));
}

KernelBuild ReadBuild(const SandboxOutcome& outcome) {
  KernelBuild build;
  build.seconds = outcome.seconds;
  build.stopped = outcome.ending == SandboxOutcome::Ending::kStopped;
  const std::size_t end = outcome.output.find('\n');
  build.tools = ExcerptLine(ReplaceInvalidUtf8(std::string_view(outcome.output).substr(0, end)), 60);
  if (build.stopped) return build;
  if (outcome.ending != SandboxOutcome::Ending::kExited) {
    build.problem = "compiling it takes more time, memory or output than a check may use";
    return build;
  }
  if (outcome.exit_code == 0 && end != std::string::npos) {
    build.program = outcome.output.substr(end + 1);
    build.registers = RegistersOf(outcome.error);
    return build;
  }
  if (const auto missing = UndefinedName(outcome.error, false)) {
    build.problem = fmt::format("it doesn't define {}", ExcerptLine(*missing, 200));
  } else if (const auto unknown = UndefinedName(outcome.error, true)) {
    build.unclear = fmt::format("it calls {}, which can't be run without a GPU here", ExcerptLine(*unknown, 100));
  } else if (const std::string_view header = MissingTorchHeader(outcome.error); !header.empty()) {
    build.unclear = fmt::format(
        "it includes {}, but programs are run without PyTorch here: ask for a function whose arguments are pointers "
        "and numbers, in a file without PyTorch; cuda_compile and cuda_bindings compile code with PyTorch",
        ExcerptLine(header, 60));
  } else {
    build.problem = "doesn't compile: " + FirstErrorLine(outcome.error);
  }
  return build;
}

std::string_view MissingTorchHeader(std::string_view messages) {
  constexpr std::array<std::string_view, 5> kHeaders = {"torch/", "ATen/", "c10/", "pybind11/", "Python.h"};
  for (const std::string_view line : SplitLines(messages)) {
    const std::size_t end = line.find(": No such file");
    if (end == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, end).substr(line.substr(0, end).rfind(' ') + 1);
    if (std::any_of(kHeaders.begin(), kHeaders.end(), [&](auto header) { return name.starts_with(header); }))
      return name;
  }
  return {};
}

std::map<std::string, std::uint32_t> RegistersOf(std::string_view assembler) {
  std::map<std::string, std::uint32_t> registers;
  std::string kernel;
  for (const std::string_view line : SplitLines(assembler)) {
    if (const std::size_t at = line.find("entry function '"); at != std::string_view::npos) {
      const std::size_t begin = line.find('\'', at) + 1;
      kernel = line.substr(begin, line.find('\'', begin) - begin);
    }
    const std::size_t used = line.find("Used ");
    if (kernel.empty() || used == std::string_view::npos) continue;
    const std::string_view number = line.substr(used + 5, line.find(' ', used + 5) - (used + 5));
    if (const auto count = ParseWholeNumber(number, 0, 1024)) registers[kernel] = static_cast<std::uint32_t>(*count);
  }
  return registers;
}

}  // namespace upskill
