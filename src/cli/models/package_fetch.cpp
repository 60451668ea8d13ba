// SPDX-License-Identifier: Apache-2.0
#include "cli/models/package_fetch.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "util/child_environment.h"
#include "util/child_process.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr int kCommandNotFound = 127;  // of /bin/sh

// The Python of the environment that the program is installed in, whose pip has that environment's settings, else the
// system's.
std::string Python(const fs::path& data_dir) {
  const fs::path beside = data_dir.parent_path().parent_path() / "bin" / "python3";
  return ::access(beside.c_str(), X_OK) == 0 ? beside.string() : "python3";
}

// Passes on what the process says; its exit code, or an error when the person stopped it.
Result<int> Follow(ChildProcess& process, const std::string& command, const Env& env) {
  constexpr int kLook = 100;  // how often env.stop is looked at, ms
  std::array<int, 2> streams = {process.output(), process.error()};
  while (streams[0] >= 0 || streams[1] >= 0) {
    if (env.stop != nullptr && *env.stop > 0) {
      process.End(std::chrono::milliseconds(0));
      return Error{ErrorKind::kCancelled,
                   fmt::format("stopped; what has been downloaded is kept. To continue: {}", command)};
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

}  // namespace

Status FetchPackageFile(const PackageFile& file, const fs::path& folder, const std::string& what,
                        const std::string& command, const Env& env) {
  const fs::path script = env.data_dir / "fetch";
  std::error_code code;
  if (!fs::exists(script, code)) {
    return Error{
        ErrorKind::kNotFound,
        fmt::format("the download script {} is missing: install upskill again, or run scripts/setup in its source tree",
                    script.string())};
  }
  const std::string line = fmt::format("exec {} {} {} {} {} {} {}", ShellWord(Python(env.data_dir)),
                                       ShellWord(script.string()), ShellWord(file.requirement), ShellWord(file.file),
                                       file.bytes, file.sha256, ShellWord(folder.string()));
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
  ASSIGN_OR_RETURN(ChildProcess process, ChildProcess::Start(line, std::move(environment)));
  ASSIGN_OR_RETURN(const int exit_code, Follow(process, command, env));
  if (exit_code == 0) return {};
  if (exit_code == kCommandNotFound) {
    return Error{ErrorKind::kNotFound,
                 fmt::format("python3 isn't installed, and downloading {} needs it, with pip (Debian: apt install "
                             "python3-pip)",
                             what)};
  }
  return Error{ErrorKind::kUnavailable, fmt::format("{} was not downloaded; the lines above say why", what)};
}

}  // namespace upskill
