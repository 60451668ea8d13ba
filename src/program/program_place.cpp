// SPDX-License-Identifier: Apache-2.0
#include "program/program_place.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "util/files.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxPackageBytes = std::uint64_t{4} << 20U;

// The file behind a name in PATH; nothing if there is none that can be executed.
std::optional<fs::path> InPath(const std::string& name, const VariableLookup& variable) {
  const std::string path = variable ? variable("PATH").value_or("") : "";
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const fs::path file = fs::path(path.substr(begin, end - begin)) / name;
    begin = end + 1;
    std::error_code code;
    if (!file.is_absolute() || !fs::is_regular_file(file, code) || ::access(file.c_str(), X_OK) != 0) continue;
    fs::path real = fs::canonical(file, code);
    if (!code) return real;
  }
  return std::nullopt;
}

bool IsOfSystem(const fs::path& path) {
  const std::string text = path.string();
  return text.starts_with("/usr/") || text.starts_with("/bin/") || text.starts_with("/lib");
}

// The outermost node_modules that a file is in, else its own folder.
fs::path PackagesAround(const fs::path& file) {
  fs::path reached;
  for (const fs::path& name : file.parent_path()) {
    reached /= name;
    if (name == "node_modules") return reached;
  }
  return file.parent_path();
}

// The package.json of its package, which is in one of the folders around the file; null if there is none.
Json PackageJson(const fs::path& file, const std::string& package) {
  for (fs::path folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    const Result<std::string> text = ReadFile(folder / "package.json", kMaxPackageBytes);
    if (!text) continue;
    const Result<Json> json = ParseJson(*text, "package.json");
    if (json && StringAt(*json, "name") == package) return *json;
  }
  return {};
}

// Whether the file is a script for Node.js.
bool IsNodeScript(const fs::path& file) {
  const Result<Fd> fd = OpenRegularFile(file);
  std::string first(200, '\0');
  const ssize_t got = fd ? ::read(fd->get(), first.data(), first.size()) : 0;
  first.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return first.starts_with("#!") && first.substr(0, first.find('\n')).find("node") != std::string::npos;
}

// As package managers know it.
std::string PackageOf(const std::string& program) {
  return program == "node" ? "Node.js" : program == "rg" ? "ripgrep (apt-get install ripgrep)" : "it";
}

void AddToolchain(std::vector<fs::path>& toolchains, const fs::path& folder) {
  if (!IsOfSystem(folder / "") && std::find(toolchains.begin(), toolchains.end(), folder) == toolchains.end())
    toolchains.push_back(folder);
}

}  // namespace

std::string InstallHintOf(const AgentProgram& program) {
  if (program.package.empty()) return fmt::format("install it, or add its folder to PATH");
  return fmt::format("install it: npm install -g {}", program.package);
}

Result<ProgramPlace> FindProgramPlace(const AgentProgram& program, const VariableLookup& variable) {
  const std::optional<fs::path> executable = InPath(program.executable, variable);
  if (!executable) {
    return Error{ErrorKind::kNotFound, fmt::format("{} isn't installed: there is no '{}' in PATH; {}", program.name,
                                                   program.executable, InstallHintOf(program))};
  }
  ProgramPlace place;
  place.executable = *executable;
  if (!program.package.empty()) {
    const Json package = PackageJson(*executable, program.package);
    place.version = ExcerptLine(StringAt(package, "version"), 40);
    place.node_range = ExcerptLine(StringAt(Member(package, "engines"), "node"), 40);
  }
  AddToolchain(place.toolchains, PackagesAround(*executable));
  std::vector<std::string> needs = program.needs;
  if (IsNodeScript(*executable)) needs.emplace_back("node");
  for (const std::string& name : needs) {
    const std::optional<fs::path> found = InPath(name, variable);
    if (!found) {
      return Error{ErrorKind::kNotFound,
                   fmt::format("{0} needs '{1}', which isn't in PATH; install {2}, or add its folder to PATH",
                               program.name, name, PackageOf(name))};
    }
    if (name == "node") place.node = *found;
    // The folder with bin/node, or the file's own.
    const fs::path folder = found->parent_path();
    AddToolchain(place.toolchains, folder.filename() == "bin" ? folder.parent_path() : folder);
  }
  return place;
}

}  // namespace upskill
