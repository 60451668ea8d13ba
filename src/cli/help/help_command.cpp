// SPDX-License-Identifier: Apache-2.0
#include "cli/help/help_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/env/example_skill.h"
#include "cli/help/commands.h"
#include "cli/help/help_topics.h"
#include "cli/options/help_formatter.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxHelpColumns = 100;
constexpr std::size_t kUnknownColumns = 80;

Style HelpStyle(const Env& env) {
  Style style = StyleFor(env, env.out_is_terminal, ColorMode::kAuto);
  const bool known = env.out_is_terminal || env.variable("COLUMNS");
  style.columns = known ? std::min(env.columns, kMaxHelpColumns) : kUnknownColumns;
  return style;
}

std::string Suggestion(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> others;
  for (const HelpTopic& topic : HelpTopics()) others.emplace_back(topic.name);
  for (const HelpPage& page : HelpPages()) others.emplace_back(page.name);
  return NearestCommand(app, words, others);
}

// Where a subject without a topic of its own is explained. Whether it is known.
bool PrintPage(const std::string& word, Env& env) {
  for (const HelpPage& page : HelpPages()) {
    if (page.name != word) continue;
    std::string commands;
    for (const std::string_view line : SplitLines(page.commands)) commands += fmt::format("  {}\n", line);
    env.out(TerminalText::Escape(fmt::format("{}: docs/{}\n\n{}", page.about, page.page, commands)));
    return true;
  }
  return false;
}

struct HelpOptions {
  std::vector<std::string> words;  // a command with its subcommand, or a topic; none: all commands
};

void AddHelpCommand(CLI::App& app, HelpOptions& options) {
  CLI::App* command = app.add_subcommand("help", "Print help on a command or a topic")->group("Other");
  command->add_option("NAME", options.words, "A command such as `eval` or `trace show`, or a topic");
  AddExamples(*command, {{"The options of a command", "upskill help eval"},
                         {"How models are named", "upskill help model-strings"}});
}

std::string TopicList() {
  std::string topics = "Help topics:";
  for (const HelpTopic& topic : HelpTopics()) topics += fmt::format("\n  {:<14}  {}", topic.name, topic.summary);
  std::vector<std::string_view> pages;
  for (const HelpPage& page : HelpPages()) pages.push_back(page.name);
  std::sort(pages.begin(), pages.end());
  return topics + fmt::format("\n  Also: {}", fmt::join(pages, ", "));
}

ExitCode RunHelp(const CLI::App& app, const HelpOptions& options, Env& env) {
  if (const CLI::App* command = CommandOf(app, options.words); command != nullptr) {
    PrintHelp(*command, env);
    return ExitCode::kSuccess;
  }
  if (options.words.size() == 1) {
    for (const HelpTopic& topic : HelpTopics()) {
      if (topic.name != options.words.front()) continue;
      env.out(TerminalText::Escape(topic.text));
      return ExitCode::kSuccess;
    }
    if (PrintPage(options.words.front(), env)) return ExitCode::kSuccess;
    if (options.words.front() == "topics") {
      env.out(TerminalText::Escape(TopicList() + "\n"));
      return ExitCode::kSuccess;
    }
  }
  env.error(TerminalText::Format("error: no help on '{}'{}\n`upskill --help` lists the commands and topics\n",
                                 TerminalText::Join(options.words, " "), Suggestion(app, options.words)));
  return ExitCode::kUsage;
}

}  // namespace

Command HelpCommand() { return CommandOf({}, AddHelpCommand, RunHelp, Keys::kNone); }

void AddHelpOfAll(CLI::App& app) {
  AddExamples(app, {{"Measure a skill on the default model", "upskill eval path/to/skill --runs 3"},
                    {"Compare two models", "upskill eval path/to/skill -m haiku -m sonnet --max-cost 2"},
                    {"Write a skill from a recorded session", "upskill generate --from session.jsonl"}});
  AddHelpNote(app, TopicList());
  AddHelpNote(
      app,
      "Exit codes: 0 success; 1 a gate or threshold failed, some traces could not be read, or a folder that was to be "
      "listed doesn't exist; 2 usage or configuration error; 3 incomplete (can be resumed); 130 interrupted.");
  AddHelpNote(app, "`upskill COMMAND --help` lists the options of a command, `upskill help TOPIC` explains a topic.");
}

void PrintHelp(const CLI::App& command, Env& env) { env.out(HelpOf(command, HelpStyle(env))); }

void PrintFirstSteps(Env& env) {
  const std::optional<std::filesystem::path> example = FindExampleSkill(env);
  const std::string skill = example ? ShellWord(example->string()) : "path/to/skill";
  env.error(TerminalText::Format(
      "upskill measures whether a skill helps a model, and writes skills from recordings of agents' work.\n"
      "\n"
      "Start with one of these:\n"
      "  upskill quickstart\n"
      "      See a skill measured in three steps: no key, no network\n"
      "  upskill eval {} --runs 3\n"
      "      Measure a skill on the default model, with three rounds\n"
      "  upskill trace find\n"
      "      List the recordings of agents on this machine\n"
      "  upskill generate --from latest -m desk:desk\n"
      "      Write a skill from the newest of them\n"
      "  upskill doctor\n"
      "      See what this machine has, and what to do about what is missing\n"
      "  upskill --help\n"
      "      All commands and help topics\n",
      skill));
}

}  // namespace upskill
