// SPDX-License-Identifier: Apache-2.0
#include "util/log.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <mutex>
#include <utility>

#include "util/clock.h"
#include "util/files.h"
#include "util/known_secrets.h"
#include "util/text.h"

namespace upskill {
namespace {

struct LogState {
  std::mutex mutex;
  std::ofstream file;
  LogSink sink;
};

LogState& State() {
  static LogState state;
  return state;
}

}  // namespace

Status SetLogFile(const std::filesystem::path& path) {
  LogState& state = State();
  const std::lock_guard lock(state.mutex);
  state.file = std::ofstream(path, std::ios::app);
  return state.file.is_open() ? Status() : Status(ErrnoError("opening the log file", path, errno));
}

void SetLogSink(LogSink sink) {
  LogState& state = State();
  const std::lock_guard lock(state.mutex);
  state.sink = std::move(sink);
}

bool IsLogging() {
  LogState& state = State();
  const std::lock_guard lock(state.mutex);
  return state.sink || state.file.is_open();
}

void Log(std::string_view source, std::string_view message) {
  LogState& state = State();
  const std::lock_guard lock(state.mutex);
  if (state.sink) return state.sink(source, message);
  if (!state.file.is_open()) return;
  state.file << fmt::format("{} {}: {}\n", UtcTimestamp(SystemClock().WallNow()), source,
                            SafeForTerminalLine(MaskSecrets(std::string(Trim(message)))));
  state.file.flush();
}

}  // namespace upskill
