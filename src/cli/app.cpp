// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/env/catalog_file.h"
#include "cli/env/env.h"
#include "cli/eval/commands.h"
#include "cli/generate/commands.h"
#include "cli/help/commands.h"
#include "cli/help/completion.h"
#include "cli/help/help_command.h"
#include "cli/machine/commands.h"
#include "cli/machine/cuda_wing.h"
#include "cli/models/commands.h"
#include "cli/models/env_file.h"
#include "cli/options/help_formatter.h"
#include "cli/options/usage_errors.h"
#include "cli/runs/commands.h"
#include "cli/skills/commands.h"
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

// All commands, in the order of the help: a command that isn't here isn't declared.
std::vector<Command> Commands() {
  return {
      QuickstartCommand(), EvalCommand(),     BenchmarkCommand(),
      PlanCommand(),       CheckCommand(),    JudgeCheckCommand(),
      InitCommand(),       ValidateCommand(), ReadPropertiesCommand(),
      ToPromptCommand(),   SelftestCommand(), GenerateCommand(),
      DeskCommand(),       TeachCommand(),    ImproveDescriptionCommand(),
      PromptsCommand(),    TraceCommand(),    ListCommand(),
      AuditCommand(),      InstallCommand(),  UninstallCommand(),
      UpdateCommand(),     OutdatedCommand(), VerifyCommand(),
      PackCommand(),       RunsCommand(),     ReportCommand(),
      CompareCommand(),    RecheckCommand(),  MergeCommand(),
      ImportCommand(),     ModelsCommand(),   ToolchainCommand(),
      KernelCommand(),     DoctorCommand(),   ImportConfigCommand(),
      CompletionCommand(), ManCommand(),      HelpCommand(),
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
