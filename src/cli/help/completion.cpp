// SPDX-License-Identifier: Apache-2.0
#include "cli/help/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/env/catalog_file.h"
#include "cli/env/config.h"
#include "cli/help/built_in_text.h"
#include "cli/help/commands.h"
#include "cli/help/help_topics.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "install/agents.h"
#include "install/install_records.h"
#include "model/hub/gguf_cache.h"
#include "model/hub/gguf_name.h"
#include "prompts/prompts.h"
#include "util/list.h"
#include "util/text.h"
#include "util/user_folders.h"

namespace upskill {
namespace {

// What the value of an option or argument may be.
struct CompletionValues {
  std::vector<CompletionWord> words;
  CompletionPaths paths = CompletionPaths::kNone;
};

namespace fs = std::filesystem;

constexpr std::size_t kMaxNames = 1000;

bool ExistsIn(const fs::path& folder, const char* name) {
  std::error_code code;
  return fs::exists(folder / name, code);
}

// The names of the folders in `folder` that `wanted` accepts, sorted.
template <typename Predicate>
std::vector<std::string> FoldersIn(const fs::path& folder, Predicate wanted) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    if (wanted(it->path())) names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<CompletionWord> WordsOf(std::vector<std::string> names) {
  if (names.size() > kMaxNames) names.resize(kMaxNames);
  std::vector<CompletionWord> words;
  words.reserve(names.size());
  for (std::string& name : names) words.push_back({std::move(name), ""});
  return words;
}

Config ConfigOrDefaults(const Env& env) {
  const Result<Config> config = ReadConfig(env);
  return config ? *config : Config();
}

// Skills of the configured folder, by their paths.
std::vector<CompletionWord> Skills(const Env& env) {
  const fs::path folder = ConfigOrDefaults(env).skills_dir;
  std::vector<std::string> paths;
  for (const std::string& name : FoldersIn(folder, [](const fs::path& path) { return ExistsIn(path, "SKILL.md"); }))
    paths.push_back((folder / name).string());
  return WordsOf(std::move(paths));
}

// Runs of the configured folder, the newest first, as their names begin with the time.
std::vector<CompletionWord> Runs(const Env& env) {
  const auto is_run = [](const fs::path& path) {
    return ExistsIn(path, "plan.json") || ExistsIn(path, "batch_summary.json") || ExistsIn(path, "run_1");
  };
  std::vector<std::string> names = FoldersIn(ConfigOrDefaults(env).runs_dir, is_run);
  std::reverse(names.begin(), names.end());
  std::vector<CompletionWord> words = WordsOf(std::move(names));
  words.insert(words.begin(), {"latest", "the newest run"});
  return words;
}

std::vector<CompletionWord> Models(const Env& env) {
  std::vector<CompletionWord> words;
  Result<Catalog> catalog = LoadCatalogOf(env);
  if (!catalog) catalog = LoadCatalog();
  if (catalog) {
    for (const auto& [name, alias] : catalog->aliases) words.push_back({name, alias.model});
    for (const auto& [name, provider] : catalog->providers) words.push_back({name + ".", "a model of " + name});
  }
  for (const CachedGguf& gguf : ListCachedGgufs(HubCacheOf(env.variable))) {
    if (words.size() >= kMaxNames) break;
    const GgufName name{gguf.repo, gguf.quant.empty() ? gguf.file.filename().string() : gguf.quant};
    words.push_back({"llama:" + name.text(), "on this machine"});
  }
  return words;
}

std::vector<CompletionWord> Agents() {
  std::vector<CompletionWord> words;
  for (const Agent& agent : KnownAgents()) words.push_back({agent.id, agent.name});
  return words;
}

std::vector<CompletionWord> InstalledNames(const Env& env) {
  const fs::path folder = UserConfigFolder(env.variable);
  if (folder.empty()) return {};
  const Result<std::vector<InstalledSkill>> installed = LoadInstalledSkills(folder);
  std::vector<std::string> names;
  if (installed)
    for (const InstalledSkill& skill : *installed) names.push_back(skill.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return WordsOf(std::move(names));
}

// NAME means something else for each command.
std::vector<CompletionWord> NamesFor(const std::string& command, const CLI::Option& option, const Env& env) {
  if (option.check_name("--agent")) return Agents();
  if (command == "uninstall" || command == "update") return InstalledNames(env);
  if (command == "add" || command == "remove")
    return {{"cuda", "nvcc and CUDA's headers"}, {"torch", "PyTorch's headers"}};
  if (command == "pull") return {{"default", "the default model"}};
  if (command == "prompts") {
    std::vector<std::string> names;
    for (const PromptKind& kind : PromptKinds()) names.emplace_back(kind.name);
    return WordsOf(std::move(names));
  }
  return {};
}

std::vector<CompletionWord> AcceptedNames(const CLI::Option& option) {
  const std::vector<std::string> names = NamesAcceptedBy(option);
  return WordsOf(names);
}

// By what the help calls the value (MODEL, SKILL, RUN, FILE, …), or by the names that the option accepts. At most 1,000
// names of each kind.
CompletionValues ValuesOf(const CLI::App& command, const CLI::Option& option, const Env& env) {
  using namespace std::string_view_literals;
  if (std::vector<CompletionWord> names = AcceptedNames(option); !names.empty()) return {std::move(names), {}};
  const std::string kind = option.get_positional() ? option.get_name(true) : option.get_type_name();
  if (kind == "MODEL") return {Models(env), CompletionPaths::kNone};
  if (kind == "SKILL" || (kind == "PATH" && option.get_positional())) return {Skills(env), CompletionPaths::kFiles};
  if (kind == "RUN" || kind == "A" || kind == "B") return {Runs(env), CompletionPaths::kFolders};
  if (kind == "SHELL") return {WordsOf({"bash", "fish", "zsh"}), CompletionPaths::kNone};
  if (kind == "DIR") return {{}, CompletionPaths::kFolders};
  if (IsOneOf(kind, std::array{"FILE"sv, "PATH"sv, "SUITE"sv, "LABELS"sv})) return {{}, CompletionPaths::kFiles};
  if (kind == "NAME") return {NamesFor(command.get_name(), option, env), CompletionPaths::kNone};
  return {};
}

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

struct CompletionOptions {
  std::string shell;
};

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

// Prints the script that completes command lines in a shell. It asks the program in PATH (kCompleteCommand), never the
// one that is typed: `./upskill` in a folder of someone else would run before it is entered. Words are passed as they
// are, and nothing of what is printed is evaluated.
ExitCode RunCompletion(const CompletionOptions& options, Env& env) {
  PrintDocument(env, std::string(BuiltInText("completion/upskill." + options.shell)));
  return ExitCode::kSuccess;
}

}  // namespace

Command CompletionCommand() { return CommandOf({}, AddCompletionCommand, RunCompletion, Keys::kNone); }

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

ExitCode RunComplete(const CLI::App& app, const std::vector<std::string>& arguments, Env& env) {
  const std::size_t skipped = arguments.size() > 1 && arguments[1] == "--" ? 2 : 1;
  const std::vector<std::string> words(arguments.begin() + static_cast<std::ptrdiff_t>(skipped), arguments.end());
  PrintDocument(env, CompletionLines(Complete(app, words, env)));
  return ExitCode::kSuccess;
}

}  // namespace upskill
