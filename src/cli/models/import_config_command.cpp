// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "cli/env/catalog_file.h"
#include "cli/env/own_file.h"
#include "cli/models/agent_config.h"
#include "cli/models/commands.h"
#include "cli/models/models_check.h"
#include "cli/options/help_formatter.h"
#include "util/files.h"
#include "util/known_secrets.h"
#include "util/text.h"
#include "util/user_folders.h"
#include "util/yaml.h"

namespace upskill {
namespace {

struct ImportConfigOptions {
  std::vector<std::string> files;  // none: fastagent.config.yaml and fastagent.secrets.yaml in the current folder
  bool write = false;
};

namespace fs = std::filesystem;

constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20U;

// The files that are there, in their order.
struct ConfigSources {
  std::vector<Json> documents;
  std::vector<std::string> read;
};

Result<ConfigSources> ReadSources(const ImportConfigOptions& options) {
  const bool named = !options.files.empty();
  ConfigSources sources;
  for (const std::string& file :
       named ? options.files : std::vector<std::string>{"fastagent.config.yaml", "fastagent.secrets.yaml"}) {
    const Result<std::optional<std::string>> text = ReadOwnFile(file, kMaxConfigBytes);
    if (!text) return text.error().With(file);
    if (!*text && named) return Error{ErrorKind::kNotFound, fmt::format("{}: there is no such file", file)};
    if (!*text) continue;
    ASSIGN_OR_RETURN(Json document, ParseYaml(**text, file));
    sources.documents.push_back(std::move(document));
    sources.read.push_back(file);
  }
  if (sources.read.empty()) {
    return InputError(
        "neither fastagent.config.yaml nor fastagent.secrets.yaml is in this folder; name the files: upskill "
        "import-config FILE...");
  }
  return sources;
}

bool HasKey(const Provider& provider, const Env& env) {
  const KeyState::Kind kind = KeyStateOf(provider, env).kind;
  return kind == KeyState::Kind::kVariable || kind == KeyState::Kind::kSaved;
}

// Adds lines to the start of a file's data by writing at its end, so that what is there is never rewritten. A table in
// the file would swallow the lines.
Status AppendKeys(const fs::path& file, const std::vector<AgentConfig::ProviderSetting>& keys) {
  RETURN_IF_ERROR(MakeFolders(file.parent_path()));
  const Result<std::optional<std::string>> before = ReadOwnFile(file, kMaxConfigBytes);
  if (!before) return before.error().With(file.string());
  const std::string old = before->value_or("");
  for (const std::string_view line : SplitLines(old)) {
    if (Trim(line).starts_with('['))
      return InputError(fmt::format("{} has tables: add the keys by hand, above them", file.string()));
  }
  std::string lines = old.empty() || old.ends_with('\n') ? "" : "\n";
  for (const AgentConfig::ProviderSetting& key : keys) lines += fmt::format("{} = \"{}\"\n", key.provider, key.value);
  const Fd fd(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!fd.valid()) return ErrnoError("writing", file, errno);
  return WriteAll(fd, lines, file);
}

class ConfigImport {
 public:
  ConfigImport(const AgentConfig& found, const Catalog& catalog, fs::path folder, Env& env)
      : found_(found), catalog_(catalog), folder_(std::move(folder)), env_(env) {
    for (const AgentConfig::ProviderSetting& key : found.keys)
      if (!HasKey(*catalog.FindProvider(key.provider), env)) new_keys_.push_back(key);
  }

  Status Write() {
    if (folder_.empty()) return InputError("no folder for your configuration: HOME isn't set");
    if (!new_keys_.empty()) {
      RETURN_IF_ERROR(AppendKeys(folder_ / "keys.toml", new_keys_));
      env_.out(TerminalText::Format("wrote {} to {}\n", Counted(new_keys_.size(), "key"), folder_ / "keys.toml"));
    }
    std::error_code code;
    if (found_.default_model.empty() || fs::exists(fs::symlink_status(folder_ / "config.yaml", code))) return {};
    RETURN_IF_ERROR(MakeFolders(folder_));
    RETURN_IF_ERROR(WriteFileAtomically(folder_ / "config.yaml",
                                        fmt::format("skill_generation_model: \"{}\"\n", found_.default_model)));
    env_.out(TerminalText::Format("wrote skill_generation_model to {}\n", folder_ / "config.yaml"));
    return {};
  }

  void Show() const {
    ShowModel();
    ShowKeys();
    ShowUrls();
    ShowServers();
    for (const std::string& text : found_.passed_over) env_.out(TerminalText::Format("passed over  {}\n", text));
  }

  bool HasSomethingToWrite() const { return !new_keys_.empty() || !found_.default_model.empty(); }

 private:
  void ShowModel() const {
    if (found_.default_model.empty()) return;
    env_.out(TerminalText::Format("model        {}\n             skill_generation_model: \"{}\" in {}\n",
                                  found_.default_model, found_.default_model, folder_ / "config.yaml"));
  }

  void ShowKeys() const {
    std::set<std::string> is_new;
    for (const AgentConfig::ProviderSetting& key : new_keys_) is_new.insert(key.provider);
    for (const AgentConfig::ProviderSetting& key : found_.keys) {
      const Provider& provider = *catalog_.FindProvider(key.provider);
      env_.out(
          TerminalText::Format("key          {}\n             {}\n", key.provider,
                               !is_new.contains(key.provider) ? std::string("you have another one, which is used")
                               : provider.key_variables.empty()
                                   ? fmt::format("{} = \"…\" in {}", key.provider, (folder_ / "keys.toml").string())
                                   : fmt::format("{} = \"…\" in {}, or ${}", key.provider,
                                                 (folder_ / "keys.toml").string(), provider.key_variables.front())));
    }
  }

  void ShowUrls() const {
    for (const AgentConfig::ProviderSetting& url : found_.base_urls) {
      const Provider& provider = *catalog_.FindProvider(url.provider);
      const std::string how =
          provider.base_url_variables.empty()
              ? std::string("no variable sets it; use --base-url")
              : fmt::format("export {}={}", provider.base_url_variables.front(), ShellWord(url.value));
      env_.out(TerminalText::Format("base URL     {}: {}\n             {}\n", url.provider, url.value, how));
    }
  }

  void ShowServers() const {
    for (const AgentConfig::McpServer& server : found_.servers) {
      env_.out(TerminalText::Format("MCP server   {}\n", server.name));
      if (server.command.empty()) {
        env_.out("             it isn't started by a command, so --tool can't ask it\n");
        continue;
      }
      std::string command;
      for (const std::string& word : server.command) command += (command.empty() ? "" : " ") + ShellWord(word);
      std::string line = "upskill generate … --tool " + ShellWord("mcp:" + command + "#TOOL");
      for (const std::string& variable : server.variables) line += " --mcp-env " + ShellWord(variable);
      env_.out(TerminalText::Format("             {}\n", line));
    }
  }

  const AgentConfig& found_;
  const Catalog& catalog_;
  fs::path folder_;
  Env& env_;
  std::vector<AgentConfig::ProviderSetting> new_keys_;
};

void AddImportConfigCommand(CLI::App& app, ImportConfigOptions& options) {
  CLI::App* command =
      app.add_subcommand("import-config",
                         "Show what fast-agent's configuration means here: keys, base URLs, MCP servers")
          ->group("Other");
  command->add_option(
      "FILE", options.files,
      "Files to read, the last one counts most [default: fastagent.config.yaml and fastagent.secrets.yaml here]");
  command->add_flag(
      "--write", options.write,
      "Add keys that you don't have yet to keys.toml, and the default model to config.yaml if you have none");
  AddExamples(*command, {{"Of the files in this folder", "upskill import-config"},
                         {"Take over keys and the model", "upskill import-config --write"}});
}

// Shows what fast-agent's configuration means here. With --write, keys of providers that the user has none for are
// added to keys.toml, and the default model to a configuration of the user's own that doesn't exist yet. Base URLs and
// commands of MCP servers are only shown: the files may have come with a project.
ExitCode RunImportConfig(const ImportConfigOptions& options, Env& env) {
  const Result<ConfigSources> sources = ReadSources(options);
  if (!sources) return PrintError(env, sources.error());
  const Result<Catalog> catalog = LoadCatalogOf(env);
  if (!catalog) return PrintError(env, catalog.error());
  const AgentConfig found = ReadAgentConfig(sources->documents, *catalog);
  ConfigImport import(found, *catalog, UserConfigFolder(env.variable), env);
  // What is written is masked like what is printed, so the keys become known secrets only afterwards.
  if (options.write) {
    if (const Status written = import.Write(); !written) return PrintError(env, written.error());
  }
  for (const AgentConfig::ProviderSetting& key : found.keys) RememberSecret(Secret(key.value));
  env.out(TerminalText::Format("in {}\n", fmt::format("{}", fmt::join(sources->read, " and "))));
  import.Show();
  if (!options.write && import.HasSomethingToWrite())
    env.out("\nThese files may have come with a project. If they are yours: upskill import-config --write\n");
  return ExitCode::kSuccess;
}

}  // namespace

Command ImportConfigCommand() { return CommandOf({"import-config"}, AddImportConfigCommand, RunImportConfig); }

}  // namespace upskill
