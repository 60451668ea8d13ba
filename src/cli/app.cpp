// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <exception>
#include <new>

#include "cli/catalog_file.h"
#include "cli/check_command.h"
#include "cli/compare_command.h"
#include "cli/completion_command.h"
#include "cli/cuda_wing.h"
#include "cli/doctor_command.h"
#include "cli/env.h"
#include "cli/env_file.h"
#include "cli/eval_command.h"
#include "cli/eval_on.h"
#include "cli/eval_options.h"
#include "cli/generate_command.h"
#include "cli/generate_run.h"
#include "cli/help_command.h"
#include "cli/help_formatter.h"
#include "cli/import_command.h"
#include "cli/import_config_command.h"
#include "cli/improve_description_command.h"
#include "cli/init_command.h"
#include "cli/install_command.h"
#include "cli/judge_check_command.h"
#include "cli/kernel_command.h"
#include "cli/list_command.h"
#include "cli/man_command.h"
#include "cli/merge_command.h"
#include "cli/models_command.h"
#include "cli/pack_command.h"
#include "cli/plan_command.h"
#include "cli/prompts_command.h"
#include "cli/properties_command.h"
#include "cli/quickstart_command.h"
#include "cli/recheck_command.h"
#include "cli/report_command.h"
#include "cli/runs_command.h"
#include "cli/selftest_command.h"
#include "cli/teach_command.h"
#include "cli/toolchain_command.h"
#include "cli/trace_command.h"
#include "cli/update_command.h"
#include "cli/usage_errors.h"
#include "cli/validate_command.h"
#include "model/api_key.h"
#include "model/catalog.h"
#include "util/invariant.h"
#include "util/known_secrets.h"
#include "util/log.h"

namespace upskill {
namespace {

struct AllOptions {
  GenerateCommandOptions generate;
  EvalOptions eval;
  EvalOptions benchmark;
  MergeOptions merge;
  ModelsOptions models;
  PlanOptions plan;
  ImproveDescriptionOptions improve_description;
  TeachOptions teach;
  PromptsOptions prompts;
  RunsOptions runs;
  RecheckOptions recheck;
  ReportOptions report;
  CheckCommandOptions check;
  ImportCommandOptions import_results;
  JudgeCheckOptions judge_check;
  CompareOptions compare;
  SelftestOptions selftest;
  ListOptions list;
  InstallOptions install;
  UninstallOptions uninstall;
  UpdateOptions update;
  PackOptions pack;
  ToolchainOptions toolchain;
  KernelOptions kernel;
  DoctorOptions doctor;
  TraceOptions trace;
  ValidateOptions validate;
  PropertiesOptions read_properties;
  PropertiesOptions to_prompt;
  InitOptions init;
  QuickstartOptions quickstart;
  ImportConfigOptions import_config;
  CompletionOptions completion;
  ManOptions man;
  HelpOptions help;
  std::string log_file;
  bool trust_config = false;
  bool no_env_file = false;
};

void Declare(CLI::App& app, AllOptions& options) {
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag("--version", std::string("upskill ") + UPSKILL_VERSION, "Print the version");
  app.add_option("--log", options.log_file, "Append diagnostics to this file")->type_name("FILE");
  app.add_flag("--trust-config", options.trust_config,
               "Let ./upskill.config.yaml name model files, servers and folders elsewhere");
  app.add_flag("--no-env-file", options.no_env_file, "Don't read API keys from the file .env in this folder");
  app.require_subcommand(1);
  AddQuickstartCommand(app, options.quickstart);
  AddEvalCommand(app, options.eval);
  AddBenchmarkCommand(app, options.benchmark);
  AddPlanCommand(app, options.plan);
  AddCheckCommand(app, options.check);
  AddJudgeCheckCommand(app, options.judge_check);
  AddInitCommand(app, options.init);
  AddValidateCommand(app, options.validate);
  AddReadPropertiesCommand(app, options.read_properties);
  AddToPromptCommand(app, options.to_prompt);
  AddSelftestCommand(app, options.selftest);
  AddGenerateCommand(app, options.generate);
  AddTeachCommand(app, options.teach);
  AddImproveDescriptionCommand(app, options.improve_description);
  AddPromptsCommand(app, options.prompts);
  AddTraceCommand(app, options.trace);
  AddListCommand(app, options.list);
  AddInstallCommand(app, options.install);
  AddUninstallCommand(app, options.uninstall);
  AddUpdateCommand(app, options.update);
  AddPackCommand(app, options.pack);
  AddRunsCommand(app, options.runs);
  AddReportCommand(app, options.report);
  AddCompareCommand(app, options.compare);
  AddRecheckCommand(app, options.recheck);
  AddMergeCommand(app, options.merge);
  AddImportCommand(app, options.import_results);
  AddModelsCommand(app, options.models);
  AddToolchainCommand(app, options.toolchain);
  AddKernelCommand(app, options.kernel);
  AddDoctorCommand(app, options.doctor);
  AddImportConfigCommand(app, options.import_config);
  AddCompletionCommand(app, options.completion);
  AddManCommand(app, options.man);
  AddHelpCommand(app, options.help);
  AddHelpOfAll(app);
}

// What is shown may hold a key of a provider that isn't used now.
void ReadAllKeys(bool no_env_file, Env& env) {
  Result<Catalog> catalog = LoadCatalogOf(env);
  if (!catalog) catalog = LoadCatalog();  // the command that needs the user's says what is wrong with it
  if (!catalog) return;
  RememberKeys(*catalog, env.variable);
  UseEnvFile(no_env_file, *catalog, env);
}

ExitCode Dispatch(const CLI::App& app, const AllOptions& options, Env& env) {
  if (!options.log_file.empty()) {
    if (const Status opened = SetLogFile(options.log_file); !opened)
      return PrintError(env, {opened.error().kind, opened.error().message + "; name another with --log"});
  }
  env.trust_config = options.trust_config;
  if (app.got_subcommand("help")) return RunHelp(app, options.help, env);
  if (app.got_subcommand("completion")) return RunCompletion(options.completion, env);
  if (app.got_subcommand("man")) return RunMan(app, options.man, env);
  if (app.got_subcommand("quickstart")) return RunQuickstart(options.quickstart, env);
  ReadAllKeys(options.no_env_file, env);
  if (app.got_subcommand("generate")) return RunGenerate(app, options.generate, env).code;
  if (app.got_subcommand("eval") && !options.eval.on.empty())
    return RunEvalOn(*app.get_subcommand("eval"), options.eval, env);
  if (app.got_subcommand("eval")) return RunEval(options.eval, env);
  if (app.got_subcommand("benchmark")) return RunEval(options.benchmark, env);
  if (app.got_subcommand("check")) return RunCheck(options.check, env);
  if (app.got_subcommand("judge-check")) return RunJudgeCheck(options.judge_check, env);
  if (app.got_subcommand("plan")) return RunPlanCommand(options.plan, env);
  if (app.got_subcommand("teach")) return RunTeach(options.teach, env);
  if (app.got_subcommand("improve-description")) return RunImproveDescription(options.improve_description, env);
  if (app.got_subcommand("prompts")) return RunPrompts(options.prompts, env);
  if (app.got_subcommand("recheck")) return RunRecheck(options.recheck, env);
  if (app.got_subcommand("report")) return RunReport(options.report, env);
  if (app.got_subcommand("compare")) return RunCompare(options.compare, env);
  if (app.got_subcommand("merge")) return RunMerge(options.merge, env);
  if (app.got_subcommand("import")) return RunImport(options.import_results, env);
  if (app.got_subcommand("selftest")) return RunSelftest(options.selftest, env);
  if (app.got_subcommand("list")) return RunList(options.list, env);
  if (app.got_subcommand("install")) return RunInstall(options.install, env);
  if (app.got_subcommand("uninstall")) return RunUninstall(options.uninstall, env);
  if (app.got_subcommand("update")) return RunUpdate(options.update, env);
  if (app.got_subcommand("pack")) return RunPack(options.pack, env);
  if (app.got_subcommand("models")) return RunModels(app, options.models, env);
  if (app.got_subcommand("kernel")) return RunKernel(app, options.kernel, env);
  if (app.got_subcommand("toolchain")) return RunToolchain(app, options.toolchain, env);
  if (app.got_subcommand("doctor")) return RunDoctor(options.doctor, env);
  if (app.got_subcommand("trace")) return RunTrace(app, options.trace, env);
  if (app.got_subcommand("import-config")) return RunImportConfig(options.import_config, env);
  if (app.got_subcommand("init")) return RunInit(options.init, env);
  if (app.got_subcommand("read-properties")) return RunReadProperties(options.read_properties, env);
  if (app.got_subcommand("to-prompt")) return RunToPrompt(options.to_prompt, env);
  if (app.got_subcommand("validate")) return RunValidate(options.validate, env);
  CHECK(app.got_subcommand("runs"));  // no other command is declared
  return RunRuns(options.runs, env);
}

// What is printed holds no known secret, wherever it comes from.
Env WithoutPrintedSecrets(Env env) {
  for (auto* const print : {&env.out, &env.error}) {
    *print = [inner = *print](const TerminalText& text) {
      inner(HasKnownSecret(text.text()) ? TerminalText::Trusted(MaskSecrets(text.text())) : text);
    };
  }
  return env;
}

ExitCode RunArguments(const std::vector<std::string>& arguments, Env& env) {
  if (arguments.empty()) {
    PrintFirstSteps(env);
    return ExitCode::kUsage;
  }
  CLI::App app("Write skills from an expert model's work, and measure how much they help cheaper models", "upskill");
  AllOptions options;
  try {
    Declare(app, options);
    if (arguments.front() == kCompleteCommand) return RunComplete(app, arguments, env);
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // CLI11 takes them from the back
    app.parse(std::move(reversed));
    return Dispatch(app, options, env);
  } catch (const CLI::CallForHelp&) {
    PrintHelp(NamedCommand(app), env);
    return ExitCode::kSuccess;
  } catch (const CLI::CallForVersion& version) {
    env.out(TerminalText::Format("{}\n", version.what()));
    return ExitCode::kSuccess;
  } catch (const CLI::ParseError& error) {
    const UsageProblem problem = ExplainUsage(app, error);
    env.error(TerminalText::Format("error: {}\nusage: {}\nsee `{} --help`\n", problem.message,
                                   UsageOf(*problem.command), CommandPath(*problem.command)));
    return ExitCode::kUsage;
  } catch (const std::bad_alloc&) {
    env.error("error: not enough memory\n");
    return ExitCode::kUsage;
  } catch (const std::exception& error) {
    env.error(TerminalText::Format("error: {}\n", error.what()));
    return ExitCode::kUsage;
  }
}

}  // namespace

ExitCode RunCommandLine(const std::vector<std::string>& arguments, Env& env) {
  AddWingChecks();
  Env masking = WithoutPrintedSecrets(env);
  return RunArguments(arguments, masking);
}

}  // namespace upskill
