// SPDX-License-Identifier: Apache-2.0
#include "cli/options/usage_errors.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/options/help_formatter.h"
#include "cli/options/python_options.h"
#include "util/list.h"
#include "util/nearest_name.h"
#include "util/text.h"

namespace upskill {
namespace {

struct Unknown {
  const CLI::App* command = nullptr;  // that doesn't know it
  std::string word;
};

// The first argument that no command of the command line knows.
std::optional<Unknown> FirstUnknown(const CLI::App& app) {
  for (const CLI::App* command = &app; command != nullptr;) {
    for (const std::string& word : command->remaining(false)) {
      if (word != "--") return Unknown{command, word};
    }
    const std::vector<CLI::App*> next = command->get_subcommands();
    command = next.empty() ? nullptr : next.back();
  }
  return std::nullopt;
}

// Two options that exclude each other, and why.
std::string ImpossibleCombination(const std::string& a, const std::string& b) {
  const auto one_is = [&](const char* name) { return a == name || b == name; };
  const std::string& other = a == "--resume" ? b : a;
  if (one_is("--resume"))
    return fmt::format("{} can't be combined with --resume: a resumed run keeps its original options", other);
  const char* why = one_is("--batch") ? ": a batch is sent and paid for as a whole" : "";
  return fmt::format("{} can't be combined with {}{}", a, b, why);
}

bool IsOption(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

std::vector<std::string> OptionsOf(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> NamesOf(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

// The commands that have this option, those of commands among them: "`runs`, `trace show`".
std::string CommandsWith(const CLI::App& app, const std::string& option) {
  std::string list;
  for (const CLI::App* command : VisibleCommands(app)) {
    std::string inner;
    if (IsOneOf(option, OptionsOf(*command))) {
      inner = fmt::format("`{}`", CommandPath(*command).substr(CommandPath(app).size() + 1));
    } else if (const std::string below = CommandsWith(*command, option); !below.empty()) {
      inner = fmt::format("`{} {}", command->get_name(), below.substr(1));
    }
    if (!inner.empty()) list += (list.empty() ? "" : ", ") + inner;
  }
  return list;
}

std::string UnknownOption(const CLI::App& app, const Unknown& unknown) {
  const std::string name = unknown.word.substr(0, unknown.word.find('='));
  const CLI::App& command = *unknown.command;
  if (const std::optional<std::string> instead = InsteadOfPythonOption(name))
    return fmt::format("{} has no option '{}': {}", CommandPath(command), name, *instead);
  const std::vector<std::string> own = OptionsOf(command);
  if (&command != &app) {
    const std::string path = CommandPath(command);
    const std::vector<std::string> global = OptionsOf(app);
    if (IsOneOf(name, global))
      return fmt::format("'{0}' goes before the command: upskill {0} ... {1}", name, path.substr(path.find(' ') + 1));
    if (NearestName(name, own)) return fmt::format("unknown option '{}' for {}{}", name, path, DidYouMean(name, own));
    if (const std::string others = CommandsWith(app, name); !others.empty())
      return fmt::format("unknown option '{}' for {}; it is an option of {}", name, path, others);
    if (NearestName(name, global))
      return fmt::format("unknown option '{}' for {}{} (before the command)", name, path, DidYouMean(name, global));
    return fmt::format("unknown option '{}' for {}", name, path);
  }
  if (const CLI::App& named = NamedCommand(app); &named != &app && IsOneOf(name, OptionsOf(named)))
    return fmt::format("'{}' goes after the command: {} {}", name, CommandPath(named), name);
  if (NearestName(name, own)) return fmt::format("unknown option '{}'{}", name, DidYouMean(name, own));
  if (const std::string others = CommandsWith(app, name); !others.empty())
    return fmt::format("'{}' goes after a command: it is an option of {}", name, others);
  return fmt::format("unknown option '{}'", name);
}

// What a word processor makes of two hyphens, before the name of an option: "–from", "—-from". The name, else nothing.
std::string NameAfterLongDash(std::string_view word) {
  constexpr std::array<std::string_view, 4> kDashes = {"\u2010", "\u2013", "\u2014", "\u2212"};
  bool is_long = false;
  for (bool more = true; more;) {
    more = !word.empty() && word.front() == '-';
    if (more) word.remove_prefix(1);
    for (const std::string_view dash : kDashes) {
      if (!word.starts_with(dash)) continue;
      word.remove_prefix(dash.size());
      is_long = more = true;
    }
  }
  return is_long ? std::string(word.substr(0, word.find('='))) : std::string();
}

// The command's option that such a word means; empty if there is none.
std::string OptionWithLongDash(const CLI::App& command, const std::string& word) {
  const std::string name = NameAfterLongDash(word);
  const std::string option = (name.size() == 1 ? "-" : "--") + name;
  return !name.empty() && IsOneOf(option, OptionsOf(command)) ? option : std::string();
}

std::string UnknownArgument(const CLI::App& app, const Unknown& unknown) {
  if (IsOption(unknown.word)) return UnknownOption(app, unknown);
  if (const std::string option = OptionWithLongDash(*unknown.command, unknown.word); !option.empty())
    return fmt::format("'{}' begins with a long dash instead of hyphens: write {}", unknown.word, option);
  // It was taken for an argument, and what follows it is the one too many.
  for (const CLI::Option* argument : unknown.command->get_options()) {
    for (const std::string& word : argument->get_positional() ? argument->results() : std::vector<std::string>()) {
      if (const std::string option = OptionWithLongDash(*unknown.command, word); !option.empty())
        return fmt::format("'{}' begins with a long dash instead of hyphens: write {}", word, option);
    }
  }
  const std::vector<std::string> commands = NamesOf(VisibleCommands(*unknown.command));
  if (commands.empty())
    return fmt::format("unexpected argument '{}' for {}", unknown.word, CommandPath(*unknown.command));
  if (unknown.command == &app)
    return fmt::format("unknown command '{}'{}", unknown.word, DidYouMean(unknown.word, commands));
  const std::string path = CommandPath(*unknown.command);
  const std::string alone =
      unknown.word == "list" ? fmt::format("; `{}` alone lists, and its commands are ", path) : "; its commands are ";
  const std::string meant = DidYouMean(unknown.word, commands);
  return fmt::format("unknown command '{}' for {}{}", unknown.word, path,
                     meant.empty() ? alone + fmt::format("{}", fmt::join(commands, ", ")) : meant);
}

// The part of a message of CLI11 before and after `between`.
std::optional<std::pair<std::string, std::string>> SplitAt(const std::string& text, const std::string& between) {
  const std::size_t at = text.find(between);
  if (at == std::string::npos) return std::nullopt;
  return std::pair(text.substr(0, at), text.substr(at + between.size()));
}

std::string MissingArgument(const CLI::App& command, const std::string& text) {
  const auto parts = SplitAt(text, " is required");
  if (parts && parts->first != "A subcommand") {
    return fmt::format("missing {}: {}", parts->first.starts_with('-') ? "option" : "argument", parts->first);
  }
  return fmt::format("missing command: one of {}", fmt::join(NamesOf(VisibleCommands(command)), ", "));
}

}  // namespace

const CLI::App& NamedCommand(const CLI::App& app) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): the App isn't a temporary
  return named.empty() ? app : NamedCommand(*named.back());
}

UsageProblem ExplainUsage(const CLI::App& app, const CLI::ParseError& error) {
  const auto is = [&](CLI::ExitCodes kind) { return error.get_exit_code() == static_cast<int>(kind); };
  const CLI::App& command = NamedCommand(app);
  // A misspelt name is the cause of what is missing.
  if (is(CLI::ExitCodes::RequiredError) || is(CLI::ExitCodes::ExtrasError)) {
    if (const std::optional<Unknown> unknown = FirstUnknown(app))
      return {unknown->command, UnknownArgument(app, *unknown)};
  }
  const std::string text = error.what();
  if (is(CLI::ExitCodes::RequiredError)) return {&command, MissingArgument(command, text)};
  if (is(CLI::ExitCodes::ExcludesError)) {
    if (const auto names = SplitAt(text, " excludes "))
      return {&command, ImpossibleCombination(names->first, names->second)};
  }
  if (is(CLI::ExitCodes::ArgumentMismatch)) {
    const std::string name = text.substr(0, text.find(':'));
    if (ContainsAny(text, {": At Most 1 required", ": At most 1 required"}))
      return {&command, fmt::format("{} may be given only once", name)};
    if (const CLI::Option* option = command.get_option_no_throw(name))
      return {&command, fmt::format("{} needs a value: {}", name, Trim(OptionNames(*option)))};
  }
  if (is(CLI::ExitCodes::ConversionError)) {
    constexpr std::string_view kPrefix = "Could not convert: ";
    if (const auto value = SplitAt(text, " = "); value && value->first.starts_with(kPrefix))
      return {&command,
              fmt::format("{} must be a number, not '{}'", value->first.substr(kPrefix.size()), value->second)};
  }
  if (is(CLI::ExitCodes::ValidationError)) {
    if (const auto parts = SplitAt(text, ": must be "))
      return {&command, fmt::format("{} must be {}", parts->first, parts->second)};
    // CLI11 doesn't name an option that the help doesn't show: its check does.
    if (text.starts_with(": ")) return {&command, text.substr(2)};
  }
  return {&command, text};
}

}  // namespace upskill
