// SPDX-License-Identifier: Apache-2.0
#include "cli/help/completion_values.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/env/catalog_file.h"
#include "cli/env/config.h"
#include "cli/options/option_checks.h"
#include "install/agents.h"
#include "install/install_records.h"
#include "model/hub/gguf_cache.h"
#include "model/hub/gguf_name.h"
#include "prompts/prompts.h"
#include "util/list.h"
#include "util/user_folders.h"

namespace upskill {
namespace {

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

}  // namespace

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

}  // namespace upskill
