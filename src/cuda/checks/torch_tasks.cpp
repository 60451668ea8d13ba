// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/torch_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
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
#include "util/processors.h"
#include "util/text.h"
#include "util/work_pool.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTorchProgram = "upskill_torch_tasks.py";
constexpr int kNoTorch = 7;   // the program's exit code
constexpr int kSignal = 128;  // and its number: the exit code of a program that it ended
constexpr std::uint32_t kMostAtOnce = 8;
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

struct ReadTask {
  fs::path file;
  std::string text;
  Json report;    // what the program says of it
  Status status;  // why nothing can be read
};

Json Refused(std::string why) { return {{"refused", std::move(why)}}; }

Status Read(ReadTask& task, const Sandbox& sandbox, const StopFlag* stop) {
  const Result<std::string> text = ReadFile(task.file, kMaxTaskBytes);
  if (!text) {
    task.report = Refused(text.error().message);
    return {};
  }
  task.text = ReplaceInvalidUtf8(*text);
  SandboxCommand command = TorchCommand({{"read", "task.py"}}, {{"task.py", task.text}}, sandbox);
  command.stop = stop;
  command.stop_at = 1;
  ASSIGN_OR_RETURN(const SandboxOutcome outcome, sandbox.Run(command));
  if (outcome.ending == SandboxOutcome::Ending::kStopped) return Error{ErrorKind::kCancelled, "interrupted"};
  if (outcome.output.empty()) RETURN_IF_ERROR(CheckHasTorch(outcome));
  Result<Json> report = ParseJson(outcome.output, "the report about a task");
  if (report && report->is_object()) {
    task.report = *std::move(report);
  } else if (const std::string limit = LimitOf(outcome, command.limits); !limit.empty()) {
    task.report = Refused(limit);
  } else {
    task.report = Refused(outcome.exit_code == kSignal + SIGALRM ? "it takes more than five seconds"
                                                                 : "it ends the process that reads it");
  }
  return {};
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

Result<Suite> ReadTorchTasks(const fs::path& path, const Sandbox& sandbox, const StopFlag* stop) {
  std::vector<ReadTask> tasks;
  for (fs::path& file : TaskFilesIn(path)) tasks.emplace_back().file = std::move(file);
  {
    std::atomic<bool> ended = false;
    WorkPool pool(std::min(kMostAtOnce, AvailableProcessors()));
    for (ReadTask& task : tasks) {
      pool.Post([&] {
        if (ended) return;
        if (task.status = Read(task, sandbox, stop); !task.status) ended = true;
      });
    }
  }
  for (const ReadTask& task : tasks) RETURN_IF_ERROR(task.status);
  Leftovers left_out;
  Json cases = Json::array();
  for (const ReadTask& task : tasks) {
    const Result<Json> made = CaseOf(task.file, task.text, task.report);
    if (made) {
      cases.push_back(*made);
    } else {
      left_out.Add(task.file, made.error().message);
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
