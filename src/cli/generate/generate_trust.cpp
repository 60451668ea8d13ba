// SPDX-License-Identifier: Apache-2.0
#include "cli/generate/generate_trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "model/model_spec.h"
#include "net/url.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

Status CheckServers(const char* key, const char* flag, const std::vector<std::string>& urls,
                    const GenerateCommandOptions& now, const std::string& source) {
  if (now.given.contains(flag)) return {};
  for (const std::string& url : urls) {
    if (IsOnThisMachine(url)) continue;
    return InputError(
        fmt::format("{}: {}: {} is not on this machine; to confirm that requests may be sent there, "
                    "repeat {} {}",
                    source, key, url, flag, ShellWord(url)));
  }
  return {};
}

// A command, or a folder elsewhere that requests are written to, is used only if this command line names it.
Status CheckModelVouchedFor(const char* key, const char* flag, const std::string& model,
                            const GenerateCommandOptions& now, const Config& config, const std::string& source) {
  if (!NeedsVouching(model, config)) return {};
  std::vector<std::string> named = now.eval_models;
  named.insert(named.end(), {now.model, now.test_gen_model});
  if (std::find(named.begin(), named.end(), model) != named.end()) return {};
  return InputError(fmt::format(
      "{}: {}: to confirm that {}, repeat {} {}", source, key,
      model.starts_with(kCommandPrefix) ? "this command may be run" : "requests may be written to this folder", flag,
      ShellWord(model)));
}

}  // namespace

bool NeedsVouching(const std::string& model, const Config& config) {
  if (model.starts_with(kCommandPrefix)) return true;
  return model.starts_with(kDeskPrefix) && !IsBelowOwnFolders(model.substr(kDeskPrefix.size()), config);
}

bool IsBelowOwnFolders(const fs::path& path, const Config& config) {
  std::error_code code;
  const fs::path real = fs::weakly_canonical(path, code);
  if (code) return false;
  for (const fs::path& folder : {fs::path("."), config.skills_dir}) {
    const fs::path own = fs::weakly_canonical(fs::absolute(folder, code), code);
    if (code || own.empty()) continue;
    const auto [own_end, path_end] = std::mismatch(own.begin(), own.end(), real.begin(), real.end());
    if (own_end == own.end()) return true;
  }
  return false;
}

bool IsOnThisMachine(const std::string& url) {
  const Result<HttpUrl> parsed = ParseHttpUrl(url);
  return parsed && parsed->loopback;
}

Status CheckVouchedFor(const GenerateCommandOptions& now, const GenerateCommandOptions& stored,
                       const fs::path& existing_folder, const Config& config, const std::string& source) {
  const auto outside = [&](const char* key, const fs::path& folder, const std::string& advice) {
    return InputError(fmt::format("{}: {}: {} is outside the current folder and the skills folder: {}", source, key,
                                  folder.string(), advice));
  };
  const auto give = [](const char* flag, const fs::path& folder) {
    return fmt::format("give {} {} to confirm it", flag, ShellWord(folder.string()));
  };
  const bool output_given = now.given.contains("--output");
  if (!existing_folder.empty() && !IsBelowOwnFolders(existing_folder, config)) {
    const bool named =
        now.given.contains("--from") && std::any_of(now.from.begin(), now.from.end(), [&](const std::string& from) {
          std::error_code code;
          return fs::equivalent(from, existing_folder, code) ||
                 fs::equivalent(fs::path(from).parent_path(), existing_folder, code);
        });
    if (!named) return outside("existing_folder", existing_folder, give("--from", existing_folder));
  }
  if (!output_given && !stored.output.empty() && !IsBelowOwnFolders(stored.output, config))
    return outside("options.output", stored.output, give("-o", stored.output));
  const bool goes_to_skills = !output_given && stored.output.empty() && existing_folder.empty();
  if (goes_to_skills && !IsBelowOwnFolders(stored.skills_dir, config))
    return outside("options.skills_dir", stored.skills_dir, "give -o with the folder of the skill");
  RETURN_IF_ERROR(CheckModelVouchedFor("options.model", "-m", stored.model, now, config, source));
  RETURN_IF_ERROR(
      CheckModelVouchedFor("options.test_gen_model", "--test-gen-model", stored.test_gen_model, now, config, source));
  for (const std::string& model : stored.eval_models)
    RETURN_IF_ERROR(CheckModelVouchedFor("options.eval_models", "--eval-model", model, now, config, source));
  RETURN_IF_ERROR(CheckServers("options.base_urls", "--base-url", stored.base_urls, now, source));
  return CheckServers("options.eval_base_urls", "--eval-base-url", stored.eval_base_urls, now, source);
}

}  // namespace upskill
