// SPDX-License-Identifier: Apache-2.0
#include "llama/library_log.h"

#include <llama.h>
#include <log.h>

#include <mutex>
#include <string>
#include <utility>

#include "util/log.h"
#include "util/text.h"

namespace upskill {
namespace {

struct LastError {
  std::mutex mutex;
  std::string first;  // the first one since it was last taken: later ones only repeat that loading failed
};

LastError& TheLastError() {
  static LastError state;
  return state;
}

// "llama_model_load: error loading model: reason" → "reason"
std::string WithoutFunctionName(std::string_view message) {
  for (const std::string_view prefix : {"llama_model_load: ", "error loading model: "}) {
    const std::size_t at = message.find(prefix);
    if (at != std::string_view::npos) message.remove_prefix(at + prefix.size());
  }
  const std::size_t colon = message.find(": ");
  const std::string_view head = message.substr(0, colon);
  if (colon != std::string_view::npos && head.find(' ') == std::string_view::npos) message.remove_prefix(colon + 2);
  return std::string(Trim(message));
}

void OnMessage(ggml_log_level level, const char* text, void* /*user_data*/) {
  const std::string_view message = Trim(text);
  if (message.empty() || message == ".") return;
  if (level == GGML_LOG_LEVEL_ERROR) {
    LastError& last = TheLastError();
    const std::lock_guard lock(last.mutex);
    if (last.first.empty()) last.first = WithoutFunctionName(message);
  }
  Log("llama.cpp", message);
}

}  // namespace

void CaptureLibraryLog() {
  static std::once_flag once;
  std::call_once(once, [] {
    llama_log_set(&OnMessage, nullptr);
    common_log_set_verbosity_thold(-1);  // llama-common has its own log, which writes to stderr
  });
}

std::string TakeLibraryError() {
  LastError& last = TheLastError();
  const std::lock_guard lock(last.mutex);
  return std::exchange(last.first, {});
}

}  // namespace upskill
