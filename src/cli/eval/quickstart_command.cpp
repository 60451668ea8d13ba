// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>

#include "cli/env/catalog_file.h"
#include "cli/env/example_skill.h"
#include "cli/env/model_costs.h"
#include "cli/eval/commands.h"
#include "cli/models/embedded_model.h"
#include "cli/models/models_check.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "model/model_spec.h"
#include "report/terminal/style.h"
#include "util/text.h"

namespace upskill {
namespace {

struct QuickstartOptions {
  std::string model;  // empty: the default model, in process
  std::vector<std::string> base_urls;
  double max_cost_usd = 0.5;
};

namespace fs = std::filesystem;

constexpr const char* kReport = "upskill-quickstart.html";

// A model of each provider that the user has a key for.
std::vector<std::string> ModelsWithKey(const Env& env) {
  std::vector<std::string> models;
  const Result<Catalog> catalog = LoadCatalogOf(env);
  if (!catalog) return models;
  for (const auto& [name, provider] : catalog->providers) {
    const KeyState::Kind key = KeyStateOf(provider, env).kind;
    if (!provider.student.empty() && (key == KeyState::Kind::kVariable || key == KeyState::Kind::kSaved))
      models.push_back(provider.student);
  }
  return models;
}

// Whether requests for it may cost something, so that a limit is needed. A name that isn't understood is refused later.
bool MayCost(const QuickstartOptions& options, const Env& env) {
  const Result<Catalog> catalog = LoadCatalogOf(env);
  if (!catalog) return true;
  const Result<ModelSpec> spec = ParseModelSpec(options.model, {&*catalog, !options.base_urls.empty()});
  return !spec ||
         (!RunsInProcess(*spec) && spec->provider != "generic");  // generic: servers of the user, without a price
}

void Say(const std::string& line, const Env& env) {
  constexpr std::size_t kIndent = 5;
  env.out(Wrapped(line, env.columns, kIndent) + "\n");
}

void SayModel(const QuickstartOptions& options, const Env& env) {
  if (!options.model.empty()) {
    const std::string limit = MayCost(options, env) ? fmt::format(", for at most ${:.2f}", options.max_cost_usd) : "";
    Say(fmt::format("1/3  The model: {}{}", options.model, limit), env);
    return;
  }
  Say(fmt::format("1/3  The model: the default one, SmolLM2-135M-Instruct, in process: {}",
                  FindEmbeddedModel(env) ? "no key, no network" : "no key; it is downloaded first, once"),
      env);
  for (const std::string& model : ModelsWithKey(env))
    env.out(TerminalText::Format("     With your key: upskill quickstart -m {}\n", model));
}

// Says which command is run, then runs it.
ExitCode Step(const std::vector<std::string>& command, Env& env) {
  std::string line = "     upskill";
  for (const std::string& word : command) line += " " + ShellWord(word);
  env.out(TerminalText::Format("{}\n\n", line));
  return RunCommandLine(command, env);
}

void SayNext(const Env& env) {
  env.out(
      "\nNext\n"
      "     upskill init my-skill                start your own skill, with a case\n"
      "     upskill generate --from latest       write one from your newest recording\n"
      "     upskill eval path/to/skill --runs 3  measure any skill with test cases\n"
      "     upskill help model-strings           other models: keys, servers, files\n");
}

void AddQuickstartCommand(CLI::App& app, QuickstartOptions& options) {
  CLI::App* command = app.add_subcommand("quickstart", "See a skill measured, in three steps")->group("Measure skills");
  command
      ->add_option("-m,--model", options.model,
                   "Model to measure the example skill on [default: the default model, in process]")
      ->type_name("MODEL");
  command
      ->add_option("--base-url", options.base_urls,
                   "OpenAI-compatible server for a plain model name (repeatable, makes a pool)")
      ->allow_extra_args(false)
      ->needs(command->get_option("--model"))
      ->type_name("URL");
  command->add_option("--max-cost", options.max_cost_usd, "Stop before exceeding this cost (USD)")
      ->check(PositiveNumber())
      ->capture_default_str()
      ->type_name("USD");
  AddExamples(*command, {{"Without a key", "upskill quickstart"},
                         {"With your own key", "upskill quickstart -m haiku"},
                         {"On a server of yours", "upskill quickstart -m llama3 --base-url http://localhost:8080/v1"}});
}

// Measures the example skill in three steps, each with the command that does the same. A key of the user is used only
// if a model is named.
ExitCode RunQuickstart(const QuickstartOptions& options, Env& env) {
  const std::optional<fs::path> skill = FindExampleSkill(env);
  if (!skill) {
    return PrintError(env,
                      InputError("the example skill isn't installed here; run `make install` or go to the folder of "
                                 "upskill's sources, or measure a skill of your own: upskill eval path/to/skill"));
  }
  SayModel(options, env);
  Say(fmt::format("2/3  Its answers to the test cases of {}, without and with the skill", skill->filename().string()),
      env);
  std::vector<std::string> eval = {"eval", skill->string(), "--runs", "3", "--max-tokens", "128"};
  if (!options.model.empty()) eval.insert(eval.end(), {"-m", options.model});
  for (const std::string& url : options.base_urls) eval.insert(eval.end(), {"--base-url", url});
  if (!options.model.empty() && MayCost(options, env))
    eval.insert(eval.end(), {"--max-cost", fmt::format("{}", options.max_cost_usd)});
  if (const ExitCode code = Step(eval, env); code != ExitCode::kSuccess) return code;
  env.out("\n3/3  The report of this run, to look at in a browser\n");
  if (const ExitCode code = Step({"report", "latest", "-o", kReport}, env); code != ExitCode::kSuccess) return code;
  SayNext(env);
  return ExitCode::kSuccess;
}

}  // namespace

Command QuickstartCommand() { return CommandOf({"quickstart"}, AddQuickstartCommand, RunQuickstart, Keys::kNone); }

}  // namespace upskill
