// SPDX-License-Identifier: Apache-2.0
#include "cli/machine/kernel_command.h"

#include <CLI/CLI.hpp>

#include "cli/eval/option_row.h"
#include "cli/machine/commands.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"

namespace upskill {
namespace {

void AddCommonOptions(CLI::App& command, KernelOptions& options) {
  command
      .add_option("FILE", options.file,
                  "CUDA source with a main(); it can include files beside it and in folders there")
      ->required();
  command.add_option("ARG", options.arguments, "Arguments of the program, after --");
  command.add_option("--nvcc-flags", options.nvcc_flags, "More flags for nvcc, separated by spaces")
      ->type_name("FLAGS");
  command.add_option("--threads", options.threads, "Threads that run the blocks of a kernel")
      ->check(WholeNumber(1, 63))
      ->default_str("one for each processor")
      ->type_name("N");
  command.add_option("--timeout", options.timeout_seconds, "Maximum time of each run (seconds)")
      ->capture_default_str()
      ->type_name("SECONDS")
      ->check(Number(1.0, 3600.0));
  command.add_flag("--json", options.json, "Print a JSON object");
  AddSandboxOptions(command, options.sandbox, "the compiler and the program", "programs");
  AddColorOption(command, options.color);
}

// `kernel run` and `kernel check`.
void AddKernelCommand(CLI::App& app, KernelOptions& options) {
  CLI::App* command = app.add_subcommand("kernel", "Run and check CUDA programs without a GPU")->group("Other");
  command->require_subcommand(1, 1);
  AddExamples(*command, {{"Run a program", "upskill kernel run saxpy.cu"},
                         {"Look for races and invalid accesses", "upskill kernel check saxpy.cu"}});
  CLI::App* run = command->add_subcommand("run", "Compile a CUDA program and print what it prints");
  AddCommonOptions(*run, options);
  AddExamples(*run, {{"Run a program", "upskill kernel run saxpy.cu"},
                     {"With arguments", "upskill kernel run gemm.cu -- 256 256"}});
  CLI::App* check =
      command->add_subcommand("check", "Look for faults in the kernels that a program runs, and for what they cost");
  AddCommonOptions(*check, options);
  check->add_option("--schedules", options.schedules, "Number of runs, each with warps and blocks in a different order")
      ->capture_default_str()
      ->type_name("N")
      ->check(WholeNumber(1, 100));
  AddExamples(*check, {{"Look for races and invalid accesses", "upskill kernel check reduce.cu"},
                       {"For programs to read", "upskill kernel check --json reduce.cu"}});
}

}  // namespace

Command KernelCommand() { return CommandOf({"kernel"}, AddKernelCommand, RunKernel); }

}  // namespace upskill
