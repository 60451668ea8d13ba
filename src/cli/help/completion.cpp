// SPDX-License-Identifier: Apache-2.0
#include "cli/help/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "cli/help/built_in_text.h"
#include "cli/help/completion_values.h"
#include "cli/help/help_topics.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxDescriptionColumns = 80;

// Where the cursor is: the command that the words before it name, and what is to be completed there.
struct Place {
  const CLI::App* command = nullptr;
  const CLI::Option* option = nullptr;  // whose value it is; null: an argument, option or command
  std::size_t arguments = 0;            // positional arguments before it
  bool only_arguments = false;          // after "--"
};

bool LooksLikeOption(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

const CLI::Option* OptionNamed(const CLI::App& command, const std::string& name) {
  const std::vector<const CLI::Option*> options = command.get_options();
  const auto found = std::find_if(options.begin(), options.end(), [&](const CLI::Option* option) {
    return !option->get_positional() && option->check_name(name);
  });
  return found == options.end() ? nullptr : *found;
}

bool NeedsValue(const CLI::Option& option) { return option.get_items_expected_min() > 0; }

// The command that the word names after those before it; null: it is an argument.
const CLI::App* CommandAfter(const Place& place, const std::string& word) {
  return place.only_arguments || place.arguments > 0 ? nullptr : CommandOf(*place.command, {word});
}

Place PlaceOf(const CLI::App& app, const std::vector<std::string>& words) {
  Place place;
  place.command = &app;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (place.option != nullptr) {
      place.option = nullptr;
    } else if (!place.only_arguments && word == "--") {
      place.only_arguments = true;
    } else if (!place.only_arguments && LooksLikeOption(word)) {
      const CLI::Option* option = OptionNamed(*place.command, word);
      if (option != nullptr && NeedsValue(*option)) place.option = option;
    } else if (const CLI::App* sub = CommandAfter(place, word); sub != nullptr) {
      place.command = sub;
    } else {
      ++place.arguments;
    }
  }
  return place;
}

// The argument that is the `position`-th one; the last takes all that follow if it takes several.
const CLI::Option* ArgumentAt(const CLI::App& command, std::size_t position) {
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    const auto most = static_cast<std::size_t>(std::max(option->get_items_expected_max(), 1));
    if (position < most) return option;
    position -= most;
  }
  return nullptr;
}

std::string ShortDescription(const std::string& text) { return ExcerptLine(text, kMaxDescriptionColumns); }

void AddMatching(const std::string& before, const std::string& start, std::vector<CompletionWord> found,
                 Completion& out) {
  for (CompletionWord& word : found) {
    if (!word.text.starts_with(start)) continue;
    out.words.push_back({before + word.text, std::move(word.description)});
  }
}

void AddValues(const CLI::App& command, const CLI::Option& option, const std::string& before, const std::string& start,
               const Env& env, Completion& out) {
  CompletionValues values = ValuesOf(command, option, env);
  AddMatching(before, start, std::move(values.words), out);
  out.paths = values.paths;
}

void AddOptions(const CLI::App& command, const std::string& start, Completion& out) {
  std::vector<CompletionWord> found;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() || option->get_group().empty()) continue;
    const std::string description = ShortDescription(option->get_description());
    const bool is_short = !start.starts_with("--") && option->get_lnames().empty();
    if (!option->get_lnames().empty()) found.push_back({"--" + option->get_lnames().front(), description});
    if (is_short && !option->get_snames().empty()) found.push_back({"-" + option->get_snames().front(), description});
  }
  AddMatching("", start, std::move(found), out);
}

std::vector<CompletionWord> CommandsOf(const CLI::App& command) {
  std::vector<CompletionWord> words;
  for (const CLI::App* sub : VisibleCommands(command))
    words.push_back({sub->get_name(), ShortDescription(sub->get_description())});
  return words;
}

std::vector<CompletionWord> WhatHelpKnows(const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* command = CommandOf(root, {words.begin() + 1, words.end() - 1});
  if (command == nullptr) return {};
  std::vector<CompletionWord> found = CommandsOf(*command);
  if (command != &root) return found;
  for (const HelpTopic& topic : HelpTopics()) found.push_back({std::string(topic.name), std::string(topic.summary)});
  return found;
}

// Letters of any script, digits, and what is special neither to a shell nor to the line editor of one.
bool IsPlainWord(std::string_view text) {
  constexpr std::string_view kPlain = "-_./:@+,=%";
  return !text.empty() && text.front() != ':' && !FindInvalidUtf8(text) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) {
                       return IsAsciiAlphanumeric(c) || static_cast<unsigned char>(c) >= 0x80 ||
                              kPlain.find(c) != std::string_view::npos;
                     }) &&
         SafeForTerminal(text) == text;
}

}  // namespace

Completion Complete(const CLI::App& app, const std::vector<std::string>& words, const Env& env) {
  Completion out;
  if (words.empty()) return out;
  const std::string& last = words.back();
  const Place place = PlaceOf(app, words);
  if (place.option != nullptr) {
    AddValues(*place.command, *place.option, "", last, env, out);
    return out;
  }
  const std::size_t equals = last.find('=');
  if (!place.only_arguments && last.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* option = OptionNamed(*place.command, last.substr(0, equals));
    if (option != nullptr)
      AddValues(*place.command, *option, last.substr(0, equals + 1), last.substr(equals + 1), env, out);
    return out;
  }
  if (!place.only_arguments && last.starts_with('-')) {
    AddOptions(*place.command, last, out);
    return out;
  }
  const std::string& name = place.command->get_name();
  if (place.command->get_parent() == &app && (name == "help" || name == "man")) {
    AddMatching("", last, WhatHelpKnows(app, words), out);
    return out;
  }
  if (place.arguments == 0) AddMatching("", last, CommandsOf(*place.command), out);
  if (const CLI::Option* argument = ArgumentAt(*place.command, place.arguments))
    AddValues(*place.command, *argument, "", last, env, out);
  return out;
}

std::string CompletionLines(const Completion& completion) {
  std::string lines;
  for (const CompletionWord& word : completion.words) {
    if (!IsPlainWord(word.text)) continue;
    lines += word.text;
    if (!word.description.empty()) lines += "\t" + SafeForTerminal(word.description);
    lines += '\n';
  }
  if (completion.paths == CompletionPaths::kFiles) lines += ":files\n";
  if (completion.paths == CompletionPaths::kFolders) lines += ":folders\n";
  return lines;
}

void AddCompletionCommand(CLI::App& app, CompletionOptions& options) {
  CLI::App* command =
      app.add_subcommand("completion", "Print a script that completes command lines in a shell")->group("Other");
  command->add_option("SHELL", options.shell, "bash, zsh or fish")
      ->required()
      ->transform(OneOf({"bash", "zsh", "fish"}));
  AddExamples(*command, {{"For bash", "upskill completion bash"}, {"For fish", "upskill completion fish"}});
  AddHelpNote(
      *command,
      "Where the script goes: eval \"$(upskill completion bash)\" in ~/.bashrc, source <(upskill completion zsh) "
      "in ~/.zshrc after compinit, ~/.config/fish/completions/upskill.fish for fish.");
}

// The scripts run the program in PATH, never the one that is typed: `./upskill` in a folder of someone else would run
// before it is entered. Words are passed as they are, and nothing of what is printed is evaluated.
ExitCode RunCompletion(const CompletionOptions& options, Env& env) {
  PrintDocument(env, std::string(BuiltInText("completion/upskill." + options.shell)));
  return ExitCode::kSuccess;
}

ExitCode RunComplete(const CLI::App& app, const std::vector<std::string>& arguments, Env& env) {
  const std::size_t skipped = arguments.size() > 1 && arguments[1] == "--" ? 2 : 1;
  const std::vector<std::string> words(arguments.begin() + static_cast<std::ptrdiff_t>(skipped), arguments.end());
  PrintDocument(env, CompletionLines(Complete(app, words, env)));
  return ExitCode::kSuccess;
}

}  // namespace upskill
