// SPDX-License-Identifier: Apache-2.0
#include "cli/man_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/help_formatter.h"
#include "cli/man_page.h"
#include "util/files.h"
#include "util/nearest_name.h"
#include "util/text.h"

namespace upskill {
namespace {

Result<std::size_t> WritePages(const CLI::App& command, const std::filesystem::path& folder) {
  RETURN_IF_ERROR(
      WriteFileAtomically(folder / (ManPageName(command) + ".1"), ManPage(command), Durability::kNotSynced));
  std::size_t written = 1;
  for (const CLI::App* sub : VisibleCommands(command)) {
    ASSIGN_OR_RETURN(const std::size_t below, WritePages(*sub, folder));
    written += below;
  }
  return written;
}

Result<const CLI::App*> CommandOf(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    const CLI::App* next = nullptr;
    std::vector<std::string> names;
    for (const CLI::App* sub : VisibleCommands(*command)) {
      names.push_back(sub->get_name());
      if (sub->get_name() == word) next = sub;
    }
    if (next == nullptr)
      return InputError(fmt::format("no manual page for '{}'{}; `upskill --help` lists the commands",
                                    fmt::join(words, " "), DidYouMean(word, names)));
    command = next;
  }
  return command;
}

}  // namespace

void AddManCommand(CLI::App& app, ManOptions& options) {
  CLI::App* command = app.add_subcommand("man", "Print a manual page, or write all of them")->group("Other");
  command->add_option("NAME", options.words, "A command such as `eval` or `trace show`");
  command->add_option("-o,--output", options.output, "Write the pages of all commands to this folder")
      ->type_name("DIR");
  AddExamples(*command, {{"The page of a command, for man -l -", "upskill man eval"},
                         {"Install all pages for yourself", "upskill man -o ~/.local/share/man/man1"}});
}

ExitCode RunMan(const CLI::App& app, const ManOptions& options, Env& env) {
  const Result<const CLI::App*> command = CommandOf(app, options.words);
  if (!command) return PrintError(env, command.error());
  if (options.output.empty()) {
    PrintDocument(env, ManPage(**command));
    return ExitCode::kSuccess;
  }
  if (const Status made = MakeFolders(options.output); !made) return PrintError(env, made.error());
  const Result<std::size_t> written = WritePages(app, options.output);
  if (!written) return PrintError(env, written.error());
  env.out(TerminalText::Format("{} in {}\n", Counted(*written, "page"), options.output));
  return ExitCode::kSuccess;
}

}  // namespace upskill
