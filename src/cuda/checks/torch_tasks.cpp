// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/torch_tasks.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "check/command_check.h"
#include "check/task_reader.h"
#include "cuda/checks/cuda_run_spec.h"
#include "cuda/device/runtime_text.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTorchProgram = "upskill_torch_tasks.py";
constexpr int kNoTorch = 7;  // the program's exit code
constexpr std::uint64_t kMaxTaskBytes = std::uint64_t{256} << 10U;
constexpr const char* kInput = R"(Replace this PyTorch model by CUDA kernels:

```python
{}
```

Answer with one Python file in a fenced block. It has a class `ModelNew`, which takes the place of `Model`: `__init__` and `forward` have the same arguments, and the result is the same tensor, computed by your own CUDA kernels. Compile them with `torch.utils.cpp_extension.load_inline`.
All tensors are contiguous and on the GPU, with the types that `get_inputs` shows. Their sizes vary: the answer is also checked with other values of the constants that are sizes, odd ones among them, and inputs may be negative where the model allows it.
The answer runs without PyTorch: in Python, only allocate tensors, change their shapes and call the extension's functions; in C++, use a tensor's sizes, type and data pointer, and factory functions such as `torch::empty`. PyTorch's operators, such as `torch::relu`, aren't available. The kernels run on an emulated GPU, which reports data races, accesses outside of allocations and reads of uninitialized memory.
)";

struct Leftovers {
  std::vector<std::string> lines;

  void Add(const fs::path& file, std::string_view why) {
    lines.push_back(fmt::format("{} is left out: {}", file.string(), why.empty() ? "no reason is given" : why));
  }
};

// The parts of `from` that reading a file finds out. A file may have written the report about itself, so others, such
// as a tolerance, aren't taken from it.
Json OnlyParts(const Json& from, std::initializer_list<const char*> names) {
  Json parts = Json::object();
  for (const char* const name : names) {
    if (from.contains(name)) parts[name] = from[name];
  }
  return parts;
}

Result<Json> CaseOf(const fs::path& path, const std::string& text, const Json& report) {
  const Json& found = Member(report, "check");
  if (!found.is_object()) return InputError(ExcerptLine(ReplaceInvalidUtf8(StringAt(report, "refused")), 200));
  Json check = OnlyParts(found, {"init_inputs", "sizes"});
  Json& arguments = check["arguments"] = Json::array();
  for (const Json& argument : Member(found, "arguments")) {
    if (argument.is_object())
      arguments.push_back(OnlyParts(argument, {"name", "type", "role", "shape", "fill", "value"}));
  }
  check["type"] = "cuda_run";
  check["reference_model"] = text;
  Json made = {{"id", path.stem().string()},
               {"input", fmt::format(kInput, Trim(text))},
               {"checks", Json::array({std::move(check)})}};
  ASSIGN_OR_RETURN(const Suite alone, ParseSuite(DumpJson({{"cases", Json::array({made})}}), path.string()));
  RETURN_IF_ERROR(ReadCudaRunSpec(alone.cases.at(0).checks.at(0)));
  return made;
}

}  // namespace

SandboxCommand TorchCommand(Json task, std::map<std::string, std::string> files, const Sandbox& sandbox) {
  task["path"] = Json::array();
  if (const std::optional<fs::path> folder = sandbox.ToolchainWith("torch/__init__.py"))
    task["path"].push_back(folder->string());
  SandboxCommand command;
  command.command = fmt::format("exec python3 -I -B {} upskill_task.json", kTorchProgram);
  command.files = std::move(files);
  command.files[kTorchProgram] = CudaRuntimeSources().at("torch_tasks.py");
  command.files["upskill_task.json"] = DumpJson(task);
  return command;
}

Status CheckHasTorch(const SandboxOutcome& outcome) {
  constexpr int kNoCommand = 127;
  if (outcome.ending != SandboxOutcome::Ending::kExited ||
      (outcome.exit_code != kNoTorch && outcome.exit_code != kNoCommand))
    return {};
  return InputError("tasks of KernelBench need PyTorch, and python3 in the sandbox can't import it (" +
                    EndOfOutput(outcome) +
                    "): install it (on Debian: apt-get install python3-torch), or pass the folder that has torch/ with "
                    "--toolchain FOLDER");
}

Result<Suite> ReadTorchTasks(const fs::path& path, const Sandbox& sandbox) {
  std::vector<fs::path> paths;  // of what is in `files`
  std::map<std::string, std::string> files;
  Json names = Json::array();
  Leftovers left_out;
  for (const fs::path& file : TaskFilesIn(path)) {
    const Result<std::string> text = ReadFile(file, kMaxTaskBytes);
    if (!text) {
      left_out.Add(file, text.error().message);
      continue;
    }
    names.push_back(fmt::format("tasks/{}.py", names.size()));
    files[names.back().get<std::string>()] = ReplaceInvalidUtf8(*text);
    paths.push_back(file);
  }
  SandboxCommand command = TorchCommand({{"read", names}}, files, sandbox);
  command.limits.time = std::chrono::minutes(10);
  command.limits.output_bytes = std::size_t{64} << 20U;
  ASSIGN_OR_RETURN(const SandboxOutcome outcome, sandbox.Run(command));
  RETURN_IF_ERROR(CheckHasTorch(outcome));
  const Result<Json> report = ParseJson(outcome.output, "the report about tasks");
  if (!report || !report->is_object()) {
    const std::string limit = LimitOf(outcome, command.limits);
    return InputError(fmt::format("{}: reading it as tasks of KernelBench failed: {}", path.string(),
                                  limit.empty() ? EndOfOutput(outcome) : limit));
  }
  Json cases = Json::array();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string name = names[i].get<std::string>();
    const Result<Json> made = CaseOf(paths[i], files[name], Member(*report, name.c_str()));
    if (made) {
      cases.push_back(*made);
    } else {
      left_out.Add(paths[i], made.error().message);
    }
  }
  if (cases.empty())
    return InputError(
        left_out.lines.empty()
            ? path.string() +
                  ": no task of KernelBench: it needs Python files with Model, get_inputs and get_init_inputs"
            : fmt::format("{}", fmt::join(left_out.lines, "\n")));
  ASSIGN_OR_RETURN(Suite suite, ParseSuite(DumpJson({{"cases", std::move(cases)}}), path.string()));
  suite.source = path;
  suite.warnings.insert(suite.warnings.begin(), left_out.lines.begin(), left_out.lines.end());
  return suite;
}

}  // namespace upskill
