// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "check/command_check.h"
#include "cli/machine/kernel_command.h"
#include "cli/machine/kernel_text.h"
#include "cli/options/option_checks.h"
#include "cuda/device/kernel_runner.h"
#include "util/files.h"
#include "util/processors.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxSource = std::uint64_t{4} << 20U;
constexpr std::size_t kMaxHeaders = 200;
constexpr std::size_t kMaxEntries = 5000;  // of the folders that are looked at
constexpr int kDeepest = 3;                // of these folders

std::vector<std::string> WordsOf(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

// The file, and what it may include: headers and CUDA sources beside it and in folders there.
Result<KernelSources> ReadSources(const std::string& file) {
  KernelSources sources;
  ASSIGN_OR_RETURN(std::string text, ReadFile(file, kMaxSource));
  const std::string name = fs::path(file).filename().string();
  sources.files[name] = std::move(text);
  sources.cuda = {name};
  constexpr auto kSuffixes = std::to_array<std::string_view>({".h", ".cuh", ".hpp", ".hh", ".inl", ".cu"});
  const fs::path folder = FolderOf(file);
  std::error_code code;
  std::size_t seen = 0;
  for (auto entry = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, code);
       entry != fs::end(entry) && ++seen < kMaxEntries && sources.files.size() <= kMaxHeaders; entry.increment(code)) {
    const fs::path path = entry->path();
    if (entry.depth() == kDeepest || path.filename().string().starts_with('.')) entry.disable_recursion_pending();
    const std::string suffix = path.extension().string();
    if (std::find(kSuffixes.begin(), kSuffixes.end(), suffix) == kSuffixes.end() || !entry->is_regular_file(code))
      continue;
    if (Result<std::string> header = ReadFile(path, kMaxSource))
      sources.files[path.lexically_relative(folder).generic_string()] = std::move(*header);
  }
  return sources;
}

// What this command sets itself, or would change what the compiler makes.
Status CheckNvccFlags(const std::vector<std::string>& flags) {
  constexpr auto kOwn = std::to_array<std::string_view>({"--output-file",
                                                         "--output-directory",
                                                         "--options-file",
                                                         "-c",
                                                         "--compile",
                                                         "-dc",
                                                         "--device-c",
                                                         "-dw",
                                                         "--device-w",
                                                         "-dlink",
                                                         "--device-link",
                                                         "-link",
                                                         "--link",
                                                         "-lib",
                                                         "--lib",
                                                         "-run",
                                                         "--run",
                                                         "-E",
                                                         "--preprocess",
                                                         "-ptx",
                                                         "--ptx",
                                                         "-cubin",
                                                         "--cubin",
                                                         "-fatbin",
                                                         "--fatbin",
                                                         "-arch",
                                                         "--gpu-architecture",
                                                         "-gencode",
                                                         "--generate-code",
                                                         "-code",
                                                         "--gpu-code",
                                                         "-x",
                                                         "--x",
                                                         "-std",
                                                         "--std",
                                                         "-M"});
  for (const std::string& flag : flags) {
    const std::string_view name = std::string_view(flag).substr(0, flag.find('='));
    if (name == "-rdc" || name == "--relocatable-device-code")
      return InputError(fmt::format("--nvcc-flags {}: relocatable device code can't be run here; leave it out",
                                    ExcerptLine(flag, 60)));
    if (!name.starts_with("-o") && std::find(kOwn.begin(), kOwn.end(), name) == kOwn.end()) continue;
    return InputError(
        fmt::format("--nvcc-flags {}: upskill sets this itself (output, steps, architecture, language); "
                    "leave it out",
                    ExcerptLine(flag, 60)));
  }
  return {};
}

Result<KernelBuild> BuildFile(const KernelRunner& runner, const KernelOptions& options, bool registers,
                              const Env& env) {
  RETURN_IF_ERROR(CheckNvccFlags(WordsOf(options.nvcc_flags)));
  if (const std::string reason = runner.WhyNot(); !reason.empty()) return InputError(reason);
  ASSIGN_OR_RETURN(KernelSources sources, ReadSources(options.file));
  sources.registers = registers;
  sources.flags = WordsOf(options.nvcc_flags);
  ASSIGN_OR_RETURN(KernelBuild build, runner.Build(sources, env.stop));
  if (build.stopped) return Error{ErrorKind::kCancelled, "interrupted"};
  const std::string& problem = build.problem.empty() ? build.unclear : build.problem;
  if (!problem.empty()) return InputError(fmt::format("{}: {}", options.file, problem));
  return build;
}

Result<DeviceReport> RunOnce(const KernelRunner& runner, const KernelBuild& build, const KernelOptions& options,
                             const DeviceTask& task, const Env& env) {
  const std::chrono::milliseconds time(static_cast<std::int64_t>(options.timeout_seconds * 1000.0));
  DeviceTask timed = task;
  timed.program = options.arguments;
  timed.time_budget = time;
  timed.instruction_budget = std::numeric_limits<std::int64_t>::max();  // the time alone says when it is too much
  timed.threads = options.threads > 0 ? static_cast<std::uint32_t>(options.threads) : AvailableProcessors();
  ASSIGN_OR_RETURN(KernelRun run, runner.Run(build, std::move(timed), time + std::chrono::seconds(5), env.stop));
  if (run.outcome.ending == SandboxOutcome::Ending::kStopped) return Error{ErrorKind::kCancelled, "interrupted"};
  SandboxLimits limits;
  limits.time = time;
  if (const std::string limit = LimitOf(run.outcome, limits); !limit.empty())
    return InputError(fmt::format("{}: {}", options.file, limit));
  if (!run.report)
    return Error{ErrorKind::kPermanent, "the process that runs the kernels ended: " + EndOfOutput(run.outcome)};
  if (!run.report->unsupported.empty()) return InputError(fmt::format("{}: {}", options.file, run.report->unsupported));
  return std::move(*run.report);
}

ExitCode RunProgram(const KernelRunner& runner, const KernelOptions& options, Env& env) {
  const Result<KernelBuild> build = BuildFile(runner, options, false, env);
  if (!build) return PrintError(env, build.error());
  DeviceTask task;
  task.checks = false;
  task.counts = false;
  const Result<DeviceReport> report = RunOnce(runner, *build, options, task, env);
  if (!report) return PrintError(env, report.error());
  const bool failed =
      report->exit_code != 0 || !report->failure.empty() || !report->limit.empty() || !report->findings.empty();
  if (options.json) {
    Json json = KernelReportJson(*report, build->registers);
    // What wasn't looked for isn't reported as absent.
    if (report->findings.empty()) json.erase("findings");
    for (Json& kernel : json["kernels"]) kernel.erase("costs");
    PrintDocument(env, DumpJsonIndented(json) + "\n");
  } else {
    PrintDocument(env, report->output);
    if (!report->error.empty()) env.error(TerminalText::Escape(report->error));
    env.error(FindingsText(*report));
    if (report->exit_code != 0) env.error(TerminalText::Format("the program's exit code is {}\n", report->exit_code));
    if (report->output_cut) PrintWarning(env, kOutputCut);
  }
  return failed ? ExitCode::kFailed : ExitCode::kSuccess;
}

ExitCode CheckProgram(const KernelRunner& runner, const KernelOptions& options, Env& env) {
  const Result<KernelBuild> build = BuildFile(runner, options, true, env);
  if (!build) return PrintError(env, build.error());
  std::optional<DeviceReport> all;
  for (int schedule = 0; schedule < options.schedules; ++schedule) {
    DeviceTask task;
    task.seed = static_cast<std::uint64_t>(schedule) * 1'000'003;
    Result<DeviceReport> report = RunOnce(runner, *build, options, task, env);
    if (!report) return PrintError(env, report.error());
    if (!all) {
      all = std::move(*report);
    } else {
      AddOtherFindings(*report, *all);
      if (all->exit_code == 0) all->exit_code = report->exit_code;
    }
  }
  if (options.json) {
    PrintDocument(env, DumpJsonIndented(KernelReportJson(*all, build->registers)) + "\n");
  } else {
    env.out(TerminalText::Escape(all->output));
    if (!all->error.empty()) env.error(TerminalText::Escape(all->error));
    env.out(FindingsText(*all));
    env.out(FindingsCount(*all, options.schedules));
    env.out(CostsText(*all, build->registers, StyleFor(env, env.out_is_terminal, options.color)));
    if (all->exit_code != 0) env.error(TerminalText::Format("the program's exit code is {}\n", all->exit_code));
    if (all->kernels.empty()) PrintWarning(env, "the program launched no kernel");
  }
  const bool passed = all->findings.empty() && all->exit_code == 0 && all->failure.empty() && all->limit.empty();
  return passed ? ExitCode::kSuccess : ExitCode::kFailed;
}

}  // namespace

ExitCode RunKernel(const CLI::App& app, const KernelOptions& options, Env& env) {
  const Result<SandboxOptions> sandbox_options = SandboxOptionsOf(options.sandbox, env);
  if (!sandbox_options) return PrintError(env, sandbox_options.error());
  const Sandbox sandbox(*sandbox_options);
  const std::unique_ptr<KernelRunner> runner = MakeKernelInterpreter(sandbox, 1);
  if (app.get_subcommand("kernel")->got_subcommand("check")) return CheckProgram(*runner, options, env);
  return RunProgram(*runner, options, env);
}

}  // namespace upskill
