// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/cuda_run_check.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/command_check.h"
#include "check/text_checks.h"
#include "cuda/checks/compiler_check.h"
#include "cuda/checks/cuda_compile_check.h"
#include "cuda/checks/cuda_run_judgment.h"
#include "cuda/checks/cuda_run_spec.h"
#include "cuda/checks/cuda_run_trials.h"
#include "cuda/checks/recorded_model.h"
#include "cuda/checks/torch_tasks.h"
#include "cuda/device/kernel_runner.h"
#include "sandbox/sandbox.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr const char* kLauncherFile = "launcher_of_check.cu";
constexpr SourceChoice kModelSources = {"Python source with the class ModelNew", ".py", "model_new.py", "python py",
                                        "ModelNew"};

class CudaRun : public Check {
 public:
  CudaRun(CheckSubject subject, CudaRunSpec spec, const Sandbox& sandbox)
      : subject_(std::move(subject)),
        spec_(std::move(spec)),
        sandbox_(sandbox),
        runner_(MakeKernelInterpreter(sandbox)) {}

  CheckResult Run(const CheckedAnswer& answer) const override {
    if (std::string reason = WhyNot(); !reason.empty()) return Skipped(std::move(reason));
    const SourceChoice& choice = spec_.init_inputs ? kModelSources : kCudaSources;
    KernelSources sources;
    sources.files = answer.files;
    sources.cuda = ChooseSources(subject_, choice, answer, sources.files);
    if (sources.cuda.empty()) return MissingSource(subject_, choice, answer);
    if (spec_.init_inputs) {
      const Result<RecordedModel> model =
          RecordModel(spec_, sources.files, FileOfModel(sources), sandbox_, answer.stop);
      if (!model) return Skipped(model.error().message);
      if (!model->unclear.empty()) return Skipped(model->unclear);
      if (!model->problem.empty()) return {subject_.name, Outcome::kFail, model->problem};
      sources = model->sources;
    }
    std::string python = spec_.init_inputs ? "" : WhyInlinePython(sources.cuda, sources.files);
    if (!spec_.launcher.empty()) {
      sources.files[kLauncherFile] = spec_.launcher;
      sources.cuda = {kLauncherFile};
    }
    if (!spec_.function.empty()) sources.driver = DriverProgram(spec_);
    if (const std::string conflict = ConflictOfFiles(sources.files); !conflict.empty())
      return {subject_.name, Outcome::kFail, "the files of the answer can't be written: " + conflict};
    if (answer.stop != nullptr && answer.stop->load() > 1) return Skipped("stopped");
    const Result<std::vector<RunInputs>> inputs = Expected(answer.stop);
    if (!inputs) return Skipped(inputs.error().message);
    const Result<KernelBuild> build = runner_->Build(sources, answer.stop);
    if (!build) return Skipped(build.error().message);
    if (build->stopped) return Skipped("stopped");
    if (std::string lacks = WhatIsLacking(build->problem + build->unclear); !lacks.empty())
      return Skipped(std::move(lacks));
    if (spec_.init_inputs && sources.cuda.size() > 2 && build->problem.find("multiple definition") != std::string::npos)
      return Skipped("its extensions define the same name, and here all of them are linked into one program");
    if (!build->unclear.empty()) return Skipped(build->unclear);
    if (!build->problem.empty() && !python.empty()) return Skipped(std::move(python));
    if (!build->problem.empty())
      return {subject_.name, Outcome::kFail, build->problem, CheckRun{build->seconds, build->tools}};
    return RunProgram(*build, *inputs, answer.stop);
  }

  std::string WhyItCannotPass() const override {
    const std::string reason = WhyNot();
    return reason.empty() ? "" : CannotRun(subject_.name, reason);
  }

 private:
  std::string WhyNot() const {
    std::string reason = runner_->WhyNot();
    if (reason.empty() && spec_.init_inputs && !sandbox_.HasProgram("python3"))
      reason = "python3, which runs the answer's Python, isn't installed where the sandbox can read it";
    return reason;
  }

  std::string WhatIsLacking(std::string_view message) const {
    return spec_.init_inputs ? WhatStandInLacks(message) : "";
  }

  // The first source that has the class.
  static std::string FileOfModel(const KernelSources& sources) {
    const auto has_class = [&](const std::string& name) {
      return sources.files.at(name).find("ModelNew") != std::string::npos;
    };
    const auto found = std::find_if(sources.cuda.begin(), sources.cuda.end(), has_class);
    return found == sources.cuda.end() ? sources.cuda.front() : *found;
  }

  CheckResult Skipped(std::string reason) const { return {subject_.name, Outcome::kSkip, std::move(reason)}; }

  CheckResult RunProgram(const KernelBuild& build, const std::vector<RunInputs>& inputs, const StopFlag* stop) const {
    DeviceTask task;
    task.trials = MakeTrials(spec_, inputs);
    task.time_budget = spec_.time;
    task.seed = 1;
    const Result<KernelRun> run = runner_->Run(build, std::move(task), spec_.time + std::chrono::seconds(10), stop);
    if (!run) return Skipped(run.error().message);
    if (run->outcome.ending == SandboxOutcome::Ending::kStopped) return Skipped("stopped");
    SandboxLimits limits;
    limits.time = spec_.time;
    std::string problem = LimitOf(run->outcome, limits);
    if (problem.empty() && !run->report)
      problem = "the process that runs the kernels ended: " + EndOfOutput(run->outcome);
    CheckResult result{subject_.name, Outcome::kFail, std::move(problem)};
    if (run->report) {
      result = JudgeRun(spec_, inputs, *run->report);
      result.name = subject_.name;
    }
    if (std::string lacks = WhatIsLacking(result.detail); !lacks.empty()) return Skipped(std::move(lacks));
    result.run = CheckRun{build.seconds + run->outcome.seconds, build.tools};
    return result;
  }

  // The inputs and what the reference makes of them, computed once for all answers. The reference is compiled and run
  // without the answer.
  Result<std::vector<RunInputs>> Expected(const StopFlag* stop) const {
    if (spec_.function.empty()) return std::vector<RunInputs>();
    const std::lock_guard lock(mutex_);
    if (expected_) return *expected_;
    ASSIGN_OR_RETURN(std::vector<RunInputs> inputs, MakeInputs(spec_));
    SandboxCommand command;
    if (spec_.model.empty()) {
      command.command = "g++ -std=c++17 -O2 -o /tmp/reference reference.cpp && exec /tmp/reference";
      command.files = {{"reference.cpp", ReferenceProgram(spec_)}};
    } else {
      ASSIGN_OR_RETURN(Json task, ModelTask(spec_, "model.py"));
      command = TorchCommand(std::move(task), {{"model.py", spec_.model}}, sandbox_);
    }
    command.files["input.bin"] = ReferenceInput(spec_, inputs);
    command.limits.time = spec_.time;
    command.limits.output_bytes = std::size_t{256} << 20U;
    command.stop = stop;
    ASSIGN_OR_RETURN(const SandboxOutcome outcome, sandbox_.Run(command));
    if (outcome.ending == SandboxOutcome::Ending::kStopped) return Error{ErrorKind::kCancelled, "stopped"};
    if (!spec_.model.empty()) RETURN_IF_ERROR(CheckHasTorch(outcome));
    if (outcome.ending != SandboxOutcome::Ending::kExited || outcome.exit_code != 0)
      return InputError("the check's own reference doesn't compile or run: " + EndOfOutput(outcome));
    RETURN_IF_ERROR(TakeExpected(spec_, outcome.output, inputs));
    expected_ = inputs;
    return inputs;
  }

  CheckSubject subject_;
  CudaRunSpec spec_;
  const Sandbox& sandbox_;
  std::unique_ptr<KernelRunner> runner_;
  mutable std::mutex mutex_;
  mutable std::optional<std::vector<RunInputs>> expected_;
};

}  // namespace

Result<std::unique_ptr<Check>> MakeCudaRun(const CheckSpec& spec, CaseParts& parts) {
  ASSIGN_OR_RETURN(CudaRunSpec run, ReadCudaRunSpec(spec));
  if (!run.stdout_pattern.empty()) {
    RETURN_IF_ERROR(CompilePattern(run.stdout_pattern, parts));
  }
  parts.NeedFiles();
  CheckSubject subject = SubjectOf(spec, DeclaredName(run.function), parts);
  return std::unique_ptr<Check>(std::make_unique<CudaRun>(std::move(subject), std::move(run), parts.sandbox()));
}

}  // namespace upskill
