// SPDX-License-Identifier: Apache-2.0
#include "cli/models/sandbox_option.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/models/toolchains.h"

namespace upskill {

Result<SandboxOptions> SandboxOptionsOf(const SandboxChoice& choice, const Env& env) {
  SandboxOptions options;
  options.confined = !choice.none;
  for (const std::string& name : choice.toolchains) {
    std::error_code code;
    const std::filesystem::path folder = std::filesystem::canonical(name, code);
    if (code || !std::filesystem::is_directory(folder, code))
      return InputError(fmt::format("--toolchain {}: no such folder", name));
    for (const char* whole : {"/", "/proc", "/sys", "/dev", "/run", "/etc", "/tmp", "/home", "/root", "/var"}) {
      if (folder == whole)
        return InputError(
            fmt::format("--toolchain {}: commands would see what isn't theirs; name the toolchain's own folder", name));
    }
    if (folder.string().find(':') != std::string::npos)
      return InputError(fmt::format("--toolchain {}: a folder in PATH can't have a colon in its name", name));
    options.toolchains.push_back(folder);
  }
  std::vector<std::filesystem::path> installed = choice.none ? InstalledToolchains(env) : ReadableToolchains(env);
  for (std::filesystem::path& folder : installed) options.toolchains.push_back(std::move(folder));
  return options;
}

}  // namespace upskill
