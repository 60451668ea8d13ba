// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/env/catalog_file.h"
#include "cli/env/env.h"
#include "cli/eval/check_command.h"
#include "cli/eval/eval_command.h"
#include "cli/eval/eval_on.h"
#include "cli/eval/eval_options.h"
#include "cli/eval/judge_check_command.h"
#include "cli/eval/plan_command.h"
#include "cli/eval/quickstart_command.h"
#include "cli/eval/recheck_command.h"
#include "cli/eval/selftest_command.h"
#include "cli/generate/generate_command.h"
#include "cli/generate/generate_run.h"
#include "cli/generate/improve_description_command.h"
#include "cli/generate/teach_command.h"
#include "cli/help/completion.h"
#include "cli/help/help_command.h"
#include "cli/help/man_page.h"
#include "cli/help/prompts_command.h"
#include "cli/machine/cuda_wing.h"
#include "cli/machine/doctor_command.h"
#include "cli/machine/kernel_command.h"
#include "cli/machine/toolchain_command.h"
#include "cli/models/env_file.h"
#include "cli/models/import_config_command.h"
#include "cli/models/models_command.h"
#include "cli/options/help_formatter.h"
#include "cli/options/usage_errors.h"
#include "cli/runs/compare_command.h"
#include "cli/runs/import_command.h"
#include "cli/runs/merge_command.h"
#include "cli/runs/report_command.h"
#include "cli/runs/runs_command.h"
#include "cli/runs/trace_command.h"
#include "cli/skills/init_command.h"
#include "cli/skills/install_command.h"
#include "cli/skills/list_command.h"
#include "cli/skills/pack_command.h"
#include "cli/skills/properties_command.h"
#include "cli/skills/update_command.h"
#include "cli/skills/validate_command.h"
#include "model/api_key.h"
#include "model/catalog.h"
#include "util/known_secrets.h"
#include "util/log.h"

namespace upskill {
namespace {

struct GlobalOptions {
  std::string log_file;
  bool trust_config = false;
  bool no_env_file = false;
};

// Whether a command may show or use what is secret: then all keys are read first, so that none is printed.
enum class Keys { kRead, kNone };

struct Command {
  std::function<void(CLI::App&)> declare;
  std::function<ExitCode(const CLI::App&, Env&)> run;
  Keys keys = Keys::kRead;
};

// A command as its two functions: one declares its options, the other runs it with them.
template <typename Options, typename Run>
Command Of(void (*add)(CLI::App&, Options&), Run run, Keys keys = Keys::kRead) {
  const auto options = std::make_shared<Options>();
  return {[=](CLI::App& app) { add(app, *options); },
          [=](const CLI::App& app, Env& env) {
            if constexpr (std::is_invocable_v<Run, const Options&, Env&>) {
              return run(*options, env);
            } else {
              return run(app, *options, env);
            }
          },
          keys};
}

ExitCode RunEvalHereOrAsJobs(const CLI::App& app, const EvalOptions& options, Env& env) {
  return options.on.empty() ? RunEval(options, env) : RunEvalOn(*app.get_subcommand("eval"), options, env);
}

ExitCode RunGenerateCommand(const CLI::App& app, const GenerateCommandOptions& options, Env& env) {
  return RunGenerate(app, options, env).code;
}

// All commands, in the order of the help: a command that isn't here isn't declared.
std::vector<Command> Commands() {
  return {
      Of(AddQuickstartCommand, RunQuickstart, Keys::kNone),
      Of(AddEvalCommand, RunEvalHereOrAsJobs),
      Of(AddBenchmarkCommand, RunEval),
      Of(AddPlanCommand, RunPlanCommand),
      Of(AddCheckCommand, RunCheck),
      Of(AddJudgeCheckCommand, RunJudgeCheck),
      Of(AddInitCommand, RunInit),
      Of(AddValidateCommand, RunValidate),
      Of(AddReadPropertiesCommand, RunReadProperties),
      Of(AddToPromptCommand, RunToPrompt),
      Of(AddSelftestCommand, RunSelftest),
      Of(AddGenerateCommand, RunGenerateCommand),
      Of(AddTeachCommand, RunTeach),
      Of(AddImproveDescriptionCommand, RunImproveDescription),
      Of(AddPromptsCommand, RunPrompts),
      Of(AddTraceCommand, RunTrace),
      Of(AddListCommand, RunList),
      Of(AddInstallCommand, RunInstall),
      Of(AddUninstallCommand, RunUninstall),
      Of(AddUpdateCommand, RunUpdate),
      Of(AddPackCommand, RunPack),
      Of(AddRunsCommand, RunRuns),
      Of(AddReportCommand, RunReport),
      Of(AddCompareCommand, RunCompare),
      Of(AddRecheckCommand, RunRecheck),
      Of(AddMergeCommand, RunMerge),
      Of(AddImportCommand, RunImport),
      Of(AddModelsCommand, RunModels),
      Of(AddToolchainCommand, RunToolchain),
      Of(AddKernelCommand, RunKernel),
      Of(AddDoctorCommand, RunDoctor),
      Of(AddImportConfigCommand, RunImportConfig),
      Of(AddCompletionCommand, RunCompletion, Keys::kNone),
      Of(AddManCommand, RunMan, Keys::kNone),
      Of(AddHelpCommand, RunHelp, Keys::kNone),
  };
}

using CommandOfName = std::map<const CLI::App*, const Command*>;

// Returns the command of each name that can be given: `plot` is another name of `runs`.
CommandOfName Declare(CLI::App& app, GlobalOptions& options, const std::vector<Command>& commands) {
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag("--version", std::string("upskill ") + UPSKILL_VERSION, "Print the version");
  app.add_option("--log", options.log_file, "Append diagnostics to this file")->type_name("FILE");
  app.add_flag("--trust-config", options.trust_config,
               "Let ./upskill.config.yaml name model files, servers and folders elsewhere");
  app.add_flag("--no-env-file", options.no_env_file, "Don't read API keys from the file .env in this folder");
  app.require_subcommand(1);
  CommandOfName command_of;
  for (const Command& command : commands) {
    command.declare(app);
    for (const CLI::App* const name : app.get_subcommands([](const CLI::App*) { return true; }))
      command_of.try_emplace(name, &command);
  }
  AddHelpOfAll(app);
  return command_of;
}

// What is shown may hold a key of a provider that isn't used now.
void ReadAllKeys(bool no_env_file, Env& env) {
  Result<Catalog> catalog = LoadCatalogOf(env);
  if (!catalog) catalog = LoadCatalog();  // the command that needs the user's says what is wrong with it
  if (!catalog) return;
  RememberKeys(*catalog, env.variable);
  UseEnvFile(no_env_file, *catalog, env);
}

ExitCode Dispatch(const CLI::App& app, const GlobalOptions& options, const CommandOfName& command_of, Env& env) {
  if (!options.log_file.empty()) {
    if (const Status opened = SetLogFile(options.log_file); !opened)
      return PrintError(env, {opened.error().kind, opened.error().message + "; name another with --log"});
  }
  env.trust_config = options.trust_config;
  const Command& command = *command_of.at(app.get_subcommands().front());
  if (command.keys == Keys::kRead) ReadAllKeys(options.no_env_file, env);
  return command.run(app, env);
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
  GlobalOptions options;
  const std::vector<Command> commands = Commands();
  try {
    const CommandOfName command_of = Declare(app, options, commands);
    if (arguments.front() == kCompleteCommand) return RunComplete(app, arguments, env);
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // CLI11 takes them from the back
    app.parse(std::move(reversed));
    return Dispatch(app, options, command_of, env);
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
