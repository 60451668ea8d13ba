// SPDX-License-Identifier: Apache-2.0
// The runner that needs no GPU.
#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include "cuda/device/device_process.h"
#include "cuda/device/kernel_build.h"
#include "cuda/device/kernel_runner.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxReportBytes = std::size_t{512} << 20U;

std::string RandomKey() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return "";
  std::string key;
  for (const unsigned char byte : bytes) key += fmt::format("{:02x}", byte);
  return key;
}

class KernelInterpreter : public KernelRunner {
 public:
  KernelInterpreter(const Sandbox& sandbox, int stop_at) : sandbox_(sandbox), stop_at_(stop_at) {}

  std::string WhyNot() const override {
    if (const Status available = sandbox_.Available(); !available) return available.error().message;
    if (!sandbox_.HasProgram("nvcc")) return kHowToAddNvcc;
    if (!sandbox_.HasProgram("g++")) return "g++, which nvcc needs, isn't installed where the sandbox can read it";
    return "";
  }

  Result<KernelBuild> Build(const KernelSources& sources, const StopFlag* stop) const override {
    std::string driver_object;
    if (!sources.driver.empty()) {
      const std::lock_guard lock(mutex_);
      if (sources.driver != driver_) {
        ASSIGN_OR_RETURN(const SandboxOutcome outcome, InSandbox(DriverCommand(sources.driver), stop));
        if (outcome.ending != SandboxOutcome::Ending::kExited || outcome.exit_code != 0) return WithoutDriver(outcome);
        driver_ = sources.driver;
        driver_object_ = outcome.output;
      }
      driver_object = driver_object_;
    }
    ASSIGN_OR_RETURN(const SandboxOutcome outcome, InSandbox(BuildCommand(sources, driver_object), stop));
    return ReadBuild(outcome);
  }

  Result<KernelRun> Run(const KernelBuild& build, DeviceTask task, std::chrono::milliseconds time,
                        const StopFlag* stop) const override {
    std::error_code code;
    SandboxCommand command;
    command.program = std::filesystem::read_symlink("/proc/self/exe", code);
    if (code) return Error{ErrorKind::kIo, "/proc/self/exe: " + code.message()};
    task.key = RandomKey();
    if (task.key.empty()) return Error{ErrorKind::kIo, "the system has no random numbers"};
    task.program.insert(task.program.begin(), "./program");
    command.first_process = true;
    command.command = fmt::format("exec \"${}\" {} task.json", kProgramVariable, kDeviceArgument);
    command.files = {{"program", build.program}, {"task.json", DumpJson(TaskToJson(task))}};
    command.limits.time = time;
    command.limits.output_bytes = kMaxReportBytes;
    command.stop = stop;
    command.stop_at = stop_at_;
    KernelRun run;
    ASSIGN_OR_RETURN(run.outcome, sandbox_.Run(command));
    if (run.outcome.ending != SandboxOutcome::Ending::kExited || run.outcome.exit_code != 0) return run;
    JsonLimits limits;
    limits.bytes = kMaxReportBytes;
    limits.string_bytes = kMaxReportBytes;
    const Result<Json> json = ParseJson(run.outcome.output, "the report on the kernels", limits);
    if (!json) return json.error();
    ASSIGN_OR_RETURN(DeviceReport report, ReportFromJson(*json));
    if (report.key != task.key) return InputError("the report on the kernels isn't that of this run");
    run.report = std::move(report);
    return run;
  }

 private:
  Result<SandboxOutcome> InSandbox(SandboxCommand command, const StopFlag* stop) const {
    command.stop = stop;
    command.stop_at = stop_at_;
    return sandbox_.Run(command);
  }

  static KernelBuild WithoutDriver(const SandboxOutcome& outcome) {
    KernelBuild build = ReadBuild(outcome);
    if (!build.stopped) build.unclear = "the check's own program: " + std::exchange(build.problem, "");
    return build;
  }

  const Sandbox& sandbox_;
  int stop_at_;
  mutable std::mutex mutex_;
  mutable std::string driver_;  // the last one, and its object; guarded by mutex_
  mutable std::string driver_object_;
};

}  // namespace

std::unique_ptr<KernelRunner> MakeKernelInterpreter(const Sandbox& sandbox, int stop_at) {
  return std::make_unique<KernelInterpreter>(sandbox, stop_at);
}

}  // namespace upskill
