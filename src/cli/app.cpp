// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
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
#include "cli/generate/desk_command.h"
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
#include "util/text.h"

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
  std::vector<std::string> names;  // none if it looks at all commands
  std::function<void(CLI::App&)> declare;
  std::function<ExitCode(const CLI::App&, Env&)> run;
  Keys keys = Keys::kRead;
};

// A command as its two functions: one declares its options, the other runs it with them.
template <typename Options, typename Run>
Command Of(std::vector<std::string> names, void (*add)(CLI::App&, Options&), Run run, Keys keys = Keys::kRead) {
  const auto options = std::make_shared<Options>();
  return {std::move(names), [=](CLI::App& app) { add(app, *options); },
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
      Of({"quickstart"}, AddQuickstartCommand, RunQuickstart, Keys::kNone),
      Of({"eval"}, AddEvalCommand, RunEvalHereOrAsJobs),
      Of({"benchmark"}, AddBenchmarkCommand, RunEval),
      Of({"plan"}, AddPlanCommand, RunPlanCommand),
      Of({"check"}, AddCheckCommand, RunCheck),
      Of({"judge-check"}, AddJudgeCheckCommand, RunJudgeCheck),
      Of({"init"}, AddInitCommand, RunInit),
      Of({"validate"}, AddValidateCommand, RunValidate),
      Of({"read-properties"}, AddReadPropertiesCommand, RunReadProperties),
      Of({"to-prompt"}, AddToPromptCommand, RunToPrompt),
      Of({"selftest"}, AddSelftestCommand, RunSelftest),
      Of({"generate"}, AddGenerateCommand, RunGenerateCommand),
      Of({"desk"}, AddDeskCommand, RunDesk),
      Of({"teach"}, AddTeachCommand, RunTeach),
      Of({"improve-description"}, AddImproveDescriptionCommand, RunImproveDescription),
      Of({"prompts"}, AddPromptsCommand, RunPrompts),
      Of({"trace"}, AddTraceCommand, RunTrace),
      Of({"list"}, AddListCommand, RunList),
      Of({"install"}, AddInstallCommand, RunInstall),
      Of({"uninstall"}, AddUninstallCommand, RunUninstall),
      Of({"update"}, AddUpdateCommand, RunUpdate),
      Of({"pack"}, AddPackCommand, RunPack),
      Of({"runs", "plot"}, AddRunsCommand, RunRuns),
      Of({"report"}, AddReportCommand, RunReport),
      Of({"compare"}, AddCompareCommand, RunCompare),
      Of({"recheck"}, AddRecheckCommand, RunRecheck),
      Of({"merge"}, AddMergeCommand, RunMerge),
      Of({"import"}, AddImportCommand, RunImport),
      Of({"models"}, AddModelsCommand, RunModels),
      Of({"toolchain"}, AddToolchainCommand, RunToolchain),
      Of({"kernel"}, AddKernelCommand, RunKernel),
      Of({"doctor"}, AddDoctorCommand, RunDoctor),
      Of({"import-config"}, AddImportConfigCommand, RunImportConfig),
      Of({}, AddCompletionCommand, RunCompletion, Keys::kNone),
      Of({}, AddManCommand, RunMan, Keys::kNone),
      Of({}, AddHelpCommand, RunHelp, Keys::kNone),
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

// The command that the arguments begin with, alone: declaring the options of all takes 20 times as long.
std::vector<Command> CommandsFor(const std::string& name) {
  std::vector<Command> commands = Commands();
  const auto has_name = [&](const Command& command) {
    return std::find(command.names.begin(), command.names.end(), name) != command.names.end();
  };
  const auto named = std::find_if(commands.begin(), commands.end(), has_name);
  if (named != commands.end()) return {std::move(*named)};
  return commands;
}

// `-j=4` as `-j4`, which CLI11 takes.
std::vector<std::string> WithoutEqualsOfLetters(std::vector<std::string> words) {
  for (auto word = words.begin(); word != words.end() && *word != "--"; ++word) {
    const bool is_letter = word->size() > 3 && word->front() == '-' && IsAsciiLetter(word->at(1)) && word->at(2) == '=';
    if (is_letter) word->erase(2, 1);
  }
  return words;
}

// Nothing if the arguments can't be parsed with one command alone: the error may be about another one.
std::optional<ExitCode> RunWith(const std::vector<Command>& commands, const std::vector<std::string>& arguments,
                                Env& env) {
  CLI::App app("Write skills from an expert model's work, and measure how much they help cheaper models", "upskill");
  GlobalOptions options;
  const CommandOfName command_of = Declare(app, options, commands);
  if (arguments.front() == kCompleteCommand) return RunComplete(app, arguments, env);
  try {
    std::vector<std::string> words = WithoutEqualsOfLetters(arguments);
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    PrintHelp(NamedCommand(app), env);
    return ExitCode::kSuccess;
  } catch (const CLI::CallForVersion& version) {
    env.out(TerminalText::Format("{}\n", version.what()));
    return ExitCode::kSuccess;
  } catch (const CLI::ParseError& error) {
    if (commands.size() == 1) return std::nullopt;
    const UsageProblem problem = ExplainUsage(app, error);
    env.error(TerminalText::Format("error: {}\nusage: {}\nsee `{} --help`\n", problem.message,
                                   UsageOf(*problem.command), CommandPath(*problem.command)));
    return ExitCode::kUsage;
  }
  return Dispatch(app, options, command_of, env);
}

ExitCode RunArguments(const std::vector<std::string>& arguments, Env& env) {
  if (arguments.empty()) {
    PrintFirstSteps(env);
    return ExitCode::kUsage;
  }
  try {
    std::optional<ExitCode> code = RunWith(CommandsFor(arguments.front()), arguments, env);
    if (!code) code = RunWith(Commands(), arguments, env);
    return *code;
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
