// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <sstream>

#include "cli/compare_command.h"
#include "cli/env.h"
#include "cli/eval_command.h"
#include "cli/eval_options.h"
#include "cli/generate_command.h"
#include "cli/generate_run.h"
#include "cli/list_command.h"
#include "cli/merge_command.h"
#include "cli/models_command.h"
#include "cli/plan_command.h"
#include "cli/report_command.h"
#include "cli/runs_command.h"
#include "cli/selftest_command.h"
#include "cli/trace_command.h"
#include "util/log.h"
#include "util/text.h"

namespace upskill {
namespace {

struct AllOptions {
  GenerateCommandOptions generate;
  EvalOptions eval;
  EvalOptions benchmark;
  MergeOptions merge;
  ModelsOptions models;
  PlanOptions plan;
  RunsOptions runs;
  ReportOptions report;
  CompareOptions compare;
  SelftestOptions selftest;
  ListOptions list;
  TraceOptions trace;
  std::string log_file;
};

void Declare(CLI::App& app, AllOptions& options) {
  app.set_version_flag("--version", std::string("upskill ") + UPSKILL_VERSION);
  app.add_option("--log", options.log_file, "append diagnostics to this file");
  app.require_subcommand(1);
  app.failure_message(
      [](const CLI::App*, const CLI::Error& error) { return fmt::format("error: {}\n", error.what()); });
  app.footer(
      "Exit codes: 0 success; 1 a check or threshold failed; 2 usage or configuration; 3 incomplete, can be\nresumed; "
      "130 interrupted.");
  AddGenerateCommand(app, options.generate);
  AddEvalCommand(app, options.eval);
  AddBenchmarkCommand(app, options.benchmark);
  AddPlanCommand(app, options.plan);
  AddRunsCommand(app, options.runs);
  AddReportCommand(app, options.report);
  AddCompareCommand(app, options.compare);
  AddMergeCommand(app, options.merge);
  AddSelftestCommand(app, options.selftest);
  AddListCommand(app, options.list);
  AddModelsCommand(app, options.models);
  AddTraceCommand(app, options.trace);
}

ExitCode Dispatch(const CLI::App& app, const AllOptions& options, Env& env) {
  if (!options.log_file.empty()) SetLogFile(options.log_file);
  if (app.got_subcommand("generate")) return RunGenerate(app, options.generate, env);
  if (app.got_subcommand("eval")) return RunEval(options.eval, env);
  if (app.got_subcommand("benchmark")) return RunEval(options.benchmark, env);
  if (app.got_subcommand("plan")) return RunPlanCommand(options.plan, env);
  if (app.got_subcommand("report")) return RunReport(options.report, env);
  if (app.got_subcommand("compare")) return RunCompare(options.compare, env);
  if (app.got_subcommand("merge")) return RunMerge(options.merge, env);
  if (app.got_subcommand("selftest")) return RunSelftest(options.selftest, env);
  if (app.got_subcommand("list")) return RunList(options.list, env);
  if (app.got_subcommand("models")) return RunModels(app, options.models, env);
  if (app.got_subcommand("trace")) return RunTrace(app, options.trace, env);
  return RunRuns(options.runs, env);
}

}  // namespace

ExitCode RunCommandLine(const std::vector<std::string>& arguments, Env& env) {
  CLI::App app("Turns what an expert model worked out into a skill for cheaper models, and measures what it changes.",
               "upskill");
  AllOptions options;
  try {
    Declare(app, options);
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // CLI11 takes them from the back
    app.parse(std::move(reversed));
    return Dispatch(app, options, env);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(error, out, err);
    env.out(out.str());
    env.error(SafeForTerminal(err.str()));
    if (code != 0) env.error("`upskill --help` and `upskill COMMAND --help` list what there is\n");
    return code == 0 ? ExitCode::kSuccess : ExitCode::kUsage;
  } catch (const std::exception& error) {
    env.error(fmt::format("error: {}\n", SafeForTerminalLine(error.what())));
    return ExitCode::kUsage;
  }
}

}  // namespace upskill
