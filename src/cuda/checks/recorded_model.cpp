// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/recorded_model.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "check/command_check.h"
#include "cuda/checks/cuda_run_trials.h"
#include "cuda/device/runtime_text.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr const char* kTorchFolder = "upskill-torch";
constexpr const char* kLacks = "the stand-in for PyTorch lacks ";
constexpr std::array<std::string_view, 13> kHeaders = {"torch/extension.h",
                                                       "torch/types.h",
                                                       "torch/torch.h",
                                                       "torch/all.h",
                                                       "ATen/ATen.h",
                                                       "ATen/Dispatch.h",
                                                       "ATen/cuda/CUDAContext.h",
                                                       "c10/cuda/CUDAGuard.h",
                                                       "c10/cuda/CUDAStream.h",
                                                       "c10/cuda/CUDAException.h",
                                                       "c10/util/Half.h",
                                                       "pybind11/pybind11.h",
                                                       "pybind11/stl.h"};

std::string HowPythonEnded(const SandboxOutcome& outcome, const SandboxLimits& limits) {
  const std::string limit = LimitOf(outcome, limits);
  return limit.empty() ? "its Python ends early: " + EndOfOutput(outcome) : "its Python: " + limit;
}

void AddSources(const Json& report, KernelSources& sources) {
  for (const std::string_view name : kHeaders)
    sources.files[fmt::format("{}/{}", kTorchFolder, name)] = "#include <upskill_torch_calls.h>\n";
  const std::map<std::string, std::string> runtime = CudaRuntimeSources();
  sources.files[fmt::format("{}/torch.h", kTorchFolder)] = runtime.at("torch.h");
  sources.files[fmt::format("{}/upskill_torch_calls.h", kTorchFolder)] = runtime.at("torch_calls.h");
  sources.flags = {fmt::format("-I{}", kTorchFolder), "--expt-relaxed-constexpr"};
  for (const Json& extension : Member(report, "extensions")) {
    for (const auto& [key, name] : {std::pair("cuda", "cuda{}.cu"), std::pair("cpp", "cpp{}.cpp")}) {
      sources.cuda.push_back(
          fmt::format("{}/{}", kTorchFolder, fmt::format(fmt::runtime(name), sources.cuda.size() / 2)));
      sources.files[sources.cuda.back()] = StringAt(extension, key);
    }
    // The record is made beside the answer's Python, and nvcc passes some of its flags to a shell.
    static const RE2 harmless(R"(-D\w+(=[\w.+-]*)?|--?use_fast_math)");
    for (const Json& flag : Member(extension, "flags")) {
      if (flag.is_string() && RE2::FullMatch(flag.get_ref<const std::string&>(), harmless))
        sources.flags.push_back(flag.get<std::string>());
    }
  }
}

// The buffers that forward gets, or those that it returns. A model as the reference gets numbers, too.
Result<Json> BuffersOf(const CudaRunSpec& spec, const Sizes& sizes, bool results) {
  Json buffers = Json::array();
  for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
    const RunArgument& argument = spec.arguments[i];
    if ((argument.role == ArgumentRole::kOut) != results) continue;
    if (argument.role == ArgumentRole::kScalar) {
      if (spec.model.empty()) continue;
      ASSIGN_OR_RETURN(const double value, EvaluateSize(argument.value, sizes));
      const bool is_real = InfoOf(argument.type).is_real;
      buffers.push_back({{"argument", i}, {"value", is_real ? Json(value) : SizeAsJson(value)}});
      continue;
    }
    Json shape = Json::array();
    for (const std::string& dimension : argument.shape) {
      ASSIGN_OR_RETURN(const double size, EvaluateSize(dimension, sizes));
      shape.push_back(static_cast<std::int64_t>(size));
    }
    buffers.push_back({{"argument", i}, {"shape", shape}, {"type", InfoOf(argument.type).name}});
  }
  return buffers;
}

}  // namespace

Result<Json> ModelTask(const CudaRunSpec& spec, const std::string& file) {
  Json all = Json::array();
  for (const Sizes& sizes : spec.sizes) {
    Json constants = Json::object();
    for (const auto& [name, value] : sizes) constants[name] = SizeAsJson(value);
    ASSIGN_OR_RETURN(Json init, EvaluateInput(*spec.init_inputs, sizes));
    ASSIGN_OR_RETURN(Json inputs, BuffersOf(spec, sizes, false));
    ASSIGN_OR_RETURN(Json outputs, BuffersOf(spec, sizes, true));
    all.push_back({{"constants", std::move(constants)},
                   {"init", std::move(init)},
                   {"inputs", std::move(inputs)},
                   {"outputs", std::move(outputs)},
                   {"calls", SeedsOf(spec, all.empty()) * spec.repetitions}});
  }
  return Json{{"file", file}, {"function", spec.function}, {"sizes", std::move(all)}};
}

Result<RecordedModel> RecordModel(const CudaRunSpec& spec, const std::map<std::string, std::string>& files,
                                  const std::string& file, const Sandbox& sandbox, const StopFlag* stop) {
  RecordedModel model;
  ASSIGN_OR_RETURN(const Json task, ModelTask(spec, file));
  SandboxCommand command;
  command.files = files;
  command.files[fmt::format("{}/record.py", kTorchFolder)] = CudaRuntimeSources().at("torch_recorder.py");
  command.files[fmt::format("{}/task.json", kTorchFolder)] = DumpJson(task);
  if (const std::string conflict = ConflictOfFiles(command.files); !conflict.empty()) {
    model.problem = "the files of the answer can't be written: " + conflict;
    return model;
  }
  command.command = fmt::format("exec python3 -I -B {0}/record.py {0}/task.json", kTorchFolder);
  command.limits.time = std::chrono::seconds(20);
  command.stop = stop;
  ASSIGN_OR_RETURN(const SandboxOutcome outcome, sandbox.Run(command));
  if (outcome.ending == SandboxOutcome::Ending::kStopped) {
    model.unclear = "stopped";
    return model;
  }
  const Result<Json> report = ParseJson(outcome.output, "the record of the answer's Python");
  if (outcome.ending != SandboxOutcome::Ending::kExited || !report || !report->is_object()) {
    model.problem = HowPythonEnded(outcome, command.limits);
  } else if (const std::string lacks = StringAt(*report, "lacks"); !lacks.empty()) {
    model.unclear = kLacks + ExcerptLine(ReplaceInvalidUtf8(lacks), 100);
  } else if (const std::string problem = StringAt(*report, "problem"); !problem.empty()) {
    model.problem = ExcerptLine(ReplaceInvalidUtf8(problem), 300);
  } else {
    model.sources.files = files;
    AddSources(*report, model.sources);
  }
  return model;
}

std::string WhatStandInLacks(std::string_view message) {
  if (const std::size_t at = message.find(kLacks); at != std::string_view::npos)
    return std::string(message.substr(at, message.find_first_of("\"\n", at) - at));
  // As nvcc and g++ name what a namespace, a class or a macro doesn't have.
  static const RE2 unknown(
      R"re((?:namespace|class) "(?:const )?(?:at|pybind11)\b[^"]*" has no member "([^"]+)"|)re"
      R"re('(\w+)' is not a member of '(?:at|torch|c10|pybind11)\b|'class at::\w+' has no member named '(\w+)'|)re"
      R"re(identifier "((?:AT|TORCH|C10)_\w+)" is undefined|'((?:AT|TORCH|C10)_\w+)' was not declared|)re"
      R"re(it includes ([^ ,]+))re");
  std::array<std::string, 6> names;
  if (!RE2::PartialMatch(message, unknown, &names[0], &names[1], &names[2], &names[3], &names[4], &names[5])) return "";
  const auto name = std::find_if(names.begin(), names.end(), [](const std::string& each) { return !each.empty(); });
  return kLacks + (name == names.end() ? std::string() : *name);
}

}  // namespace upskill
