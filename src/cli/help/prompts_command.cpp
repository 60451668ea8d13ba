// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <utility>

#include "cli/help/commands.h"
#include "cli/options/help_formatter.h"
#include "prompts/prompts.h"
#include "util/nearest_name.h"

namespace upskill {
namespace {

struct PromptsOptions {
  std::string name;    // empty: all are listed
  std::string folder;  // with prompts in place of built-in ones; may be empty
};

std::string PlaceholdersOf(const PromptKind& kind) {
  std::string names;
  for (const PromptPlaceholder& placeholder : kind.placeholders) {
    names += names.empty() ? "" : ", ";
    names += std::string(placeholder.name) + (placeholder.required ? "" : " (optional)");
  }
  return names;
}

void AddPromptsCommand(CLI::App& app, PromptsOptions& options) {
  CLI::App* command = app.add_subcommand("prompts", "Print the prompts sent to teachers, students and judges")
                          ->group("Skills and traces");
  command->add_option("NAME", options.name, "Prompt to print; without it, all are listed");
  command->add_option("--prompts", options.folder, "Folder with prompts that replace built-in ones, as for generate")
      ->type_name("DIR");
  AddExamples(*command,
              {{"Change what the teacher is asked for", "upskill prompts draft >prompts/draft.md"},
               {"Use the changed text", "upskill generate --from session.jsonl -m sonnet --prompts prompts"}});
}

ExitCode RunPrompts(const PromptsOptions& options, Env& env) {
  Prompts prompts = BuiltInPrompts();
  if (!options.folder.empty()) {
    Result<Prompts> own = Prompts::FromFolder(options.folder);
    if (!own) return PrintError(env, own.error());
    prompts = *std::move(own);
  }
  std::vector<std::string> names;
  for (const PromptKind& kind : PromptKinds()) {
    names.emplace_back(kind.name);
    if (kind.name != options.name) continue;
    PrintDocument(env, prompts.Text(kind.name));
    return ExitCode::kSuccess;
  }
  if (!options.name.empty())
    return PrintError(env, InputError("no prompt is named '" + options.name + "'" + DidYouMean(options.name, names) +
                                      "; `upskill prompts` lists them"));
  for (const PromptKind& kind : PromptKinds()) {
    const bool changed = prompts.Text(kind.name) != BuiltInPrompts().Text(kind.name);
    const std::string about = fmt::format("{}{}", kind.about, changed ? " [changed]" : "");
    env.out(TerminalText::Format("{:<15} {}\n", kind.name, Wrapped(about, env.columns, 16)));
    if (!kind.placeholders.empty())
      env.out(TerminalText::Format("{:<15}   {}\n", "", Wrapped(PlaceholdersOf(kind), env.columns, 18)));
  }
  return ExitCode::kSuccess;
}

}  // namespace

Command PromptsCommand() { return CommandOf({"prompts"}, AddPromptsCommand, RunPrompts); }

}  // namespace upskill
