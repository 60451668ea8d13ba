// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>

#include "cli/machine/commands.h"
#include "cli/models/toolchains.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "report/terminal/table.h"
#include "util/json.h"
#include "util/nearest_name.h"

namespace upskill {
namespace {

struct ToolchainOptions {
  std::string name;  // add, remove
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

namespace fs = std::filesystem;

std::string Megabytes(std::uint64_t bytes) { return fmt::format("{} MB", (bytes + 500'000) / 1'000'000); }

std::uint64_t BytesToDownload(const Toolchain& toolchain) {
  std::uint64_t bytes = 0;
  for (const PackageFile& package : toolchain.packages) bytes += package.bytes;
  return bytes;
}

Result<const Toolchain*> NamedToolchain(const std::string& name) {
  if (const Toolchain* const toolchain = FindKnownToolchain(name)) return toolchain;
  std::vector<std::string> names;
  for (const Toolchain& one : KnownToolchains()) names.push_back(one.name);
  return InputError(
      fmt::format("unknown toolchain '{}'{}; there are: {}", name, DidYouMean(name, names), fmt::join(names, ", ")));
}

ExitCode RunList(const ToolchainOptions& options, Env& env) {
  Json list = Json::array();
  Table table(
      {{"toolchain"}, {"version"}, {"download", Table::Align::kRight}, {"on disk", Table::Align::kRight}, {"folder"}});
  for (const Toolchain& toolchain : KnownToolchains()) {
    const std::optional<fs::path> folder = InstalledToolchain(toolchain, env);
    list.push_back({{"name", toolchain.name},
                    {"version", toolchain.version},
                    {"about", toolchain.about},
                    {"download_bytes", BytesToDownload(toolchain)},
                    {"bytes", toolchain.unpacked_bytes},
                    {"folder", folder ? Json(folder->string()) : Json(nullptr)}});
    table.AddRow({toolchain.name, toolchain.version, Megabytes(BytesToDownload(toolchain)),
                  Megabytes(toolchain.unpacked_bytes),
                  folder ? folder->string() : "not installed: upskill toolchain add " + toolchain.name});
  }
  if (options.json) {
    PrintDocument(env, DumpJsonIndented({{"toolchains", list}}) + "\n");
  } else {
    env.out(table.Render(StyleFor(env, env.out_is_terminal, options.color)));
  }
  return ExitCode::kSuccess;
}

ExitCode RunAdd(const ToolchainOptions& options, Env& env) {
  const Result<const Toolchain*> named = NamedToolchain(options.name);
  if (!named) return PrintError(env, named.error());
  const Toolchain& toolchain = **named;
  if (!InstalledToolchain(toolchain, env)) {
    env.error(TerminalText::Format("{} {}: {} to download, {} on disk. {}\n", toolchain.name, toolchain.version,
                                   Megabytes(BytesToDownload(toolchain)), Megabytes(toolchain.unpacked_bytes),
                                   toolchain.licence));
  }
  const Result<fs::path> folder = InstallToolchain(toolchain, env);
  if (!folder) return PrintError(env, folder.error());
  env.out(TerminalText::Format("{}\n", folder->string()));
  return ExitCode::kSuccess;
}

ExitCode RunRemove(const ToolchainOptions& options, Env& env) {
  const Result<const Toolchain*> named = NamedToolchain(options.name);
  if (!named) return PrintError(env, named.error());
  if (const Status removed = RemoveToolchain(**named, env); !removed) return PrintError(env, removed.error());
  return ExitCode::kSuccess;
}

// `toolchain`, `toolchain add` and `toolchain remove`.
void AddToolchainCommand(CLI::App& app, ToolchainOptions& options) {
  CLI::App* command =
      app.add_subcommand("toolchain", "List, download and remove compilers that checks need")->group("Other");
  command->require_subcommand(0, 1);
  command->add_flag("--json", options.json, "Print a JSON object");
  AddColorOption(*command, options.color);
  AddExamples(*command, {{"See what there is", "upskill toolchain"}, {"Download nvcc", "upskill toolchain add cuda"}});
  CLI::App* add = command->add_subcommand("add", "Download a toolchain: check, eval and recheck then use it");
  add->add_option("NAME", options.name,
                  "cuda: nvcc, which needs the system's g++, but no GPU; torch: PyTorch's headers")
      ->required();
  AddExamples(*add, {{"Download nvcc", "upskill toolchain add cuda"},
                     {"Download the headers", "upskill toolchain add torch"},
                     {"Use them", "upskill check examples/suites/h100-kernels"}});
  CLI::App* remove = command->add_subcommand("remove", "Remove a toolchain that was added");
  remove->add_option("NAME", options.name, "cuda or torch")->required();
  AddExamples(*remove, {{"Remove nvcc", "upskill toolchain remove cuda"}, {"See what is left", "upskill toolchain"}});
}

ExitCode RunToolchain(const CLI::App& app, const ToolchainOptions& options, Env& env) {
  const CLI::App* const command = app.get_subcommand("toolchain");
  if (command->got_subcommand("add")) return RunAdd(options, env);
  if (command->got_subcommand("remove")) return RunRemove(options, env);
  return RunList(options, env);
}

}  // namespace

Command ToolchainCommand() { return CommandOf({"toolchain"}, AddToolchainCommand, RunToolchain); }

}  // namespace upskill
