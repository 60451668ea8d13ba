// SPDX-License-Identifier: Apache-2.0
#include "llama/worker.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "llama/engine_plugins.h"
#include "llama/llama_model.h"
#include "llama/worker_process.h"
#include "llama/worker_protocol.h"
#include "llama/worker_sandbox.h"
#include "util/log.h"

namespace upskill {
namespace {

// The worker's end of the socket. Send is thread-safe; Receive is for one thread. When the program is gone, so is this
// process: there is nothing left to do, and the engine's thread may hang.
class ProgramLink {
 public:
  void Send(const Json& message) {
    const std::string bytes = EncodeMessage(message);
    const std::lock_guard lock(mutex_);
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const ssize_t sent = ::send(kWorkerSocket, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) std::_Exit(0);
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  Json Receive() {
    std::array<char, 65536> block{};
    while (true) {
      Result<std::optional<Json>> message = reader_.Next();
      if (!message) std::_Exit(1);
      if (*message) return **std::move(message);
      const ssize_t got = ::recv(kWorkerSocket, block.data(), block.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) std::_Exit(0);
      reader_.Add({block.data(), static_cast<std::size_t>(got)});
    }
  }

 private:
  std::mutex mutex_;
  MessageReader reader_{std::numeric_limits<std::uint32_t>::max()};
};

// Tells the program that the engine is alive, as long as it is.
void ReportLife(const std::stop_token& stop, ProgramLink& link, const LifeSigns& life, std::chrono::milliseconds beat) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  std::uint64_t last = 0;
  while (!wake.wait_for(lock, stop, beat, [&] { return stop.stop_requested(); })) {
    const std::uint64_t now = life.beats.load();
    if (now != last || life.waiting.load())
      link.Send({{"type", "alive"}, {"tokens", life.written.tokens.load()}, {"most", life.written.most.load()}});
    last = now;
  }
}

void StartRequest(Model& model, ProgramLink& link, const Json& message) {
  model.Start(RequestFromJson(Member(message, "request")),
              [&link, id = JsonGet<std::uint64_t>(message, "id", 0)](const Result<ChatResponse>& response) {
                Json answer = {{"type", "answer"}, {"id", id}};
                if (response) {
                  answer["response"] = ResponseToJson(*response);
                } else {
                  answer["error"] = ErrorToJson(response.error());
                }
                link.Send(answer);
              });
}

void Serve(Model& model, ProgramLink& link) {
  while (true) {
    const Json message = link.Receive();
    const std::string type = StringAt(message, "type");
    if (type == "start") {
      StartRequest(model, link, message);
    } else if (type == "cancel") {
      model.Cancel(StringAt(message, "scope") == "running" ? Model::CancelScope::kRunning
                                                           : Model::CancelScope::kWaiting);
    } else if (type == "share") {
      model.ShareProcessors(JsonGet<int>(message, "models", 1));
    } else if (type == "count") {
      link.Send({{"type", "count"},
                 {"id", JsonGet<std::uint64_t>(message, "id", 0)},
                 {"tokens", JsonOrNull(model.CountTokens(StringAt(message, "text")))}});
    }
  }
}

bool IsSocket(int fd) {
  struct stat info{};
  return ::fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode);
}

}  // namespace

int RunEngineWorker(const std::filesystem::path& model_file) {
  if (!IsSocket(kWorkerSocket)) {
    std::fputs("upskill starts this part of itself; see `upskill help`\n", stderr);
    return 2;
  }
  DetachWorker();
  if (LoadEnginePlugins()) ConfineWorker();  // else the model can't be loaded either
  ProgramLink link;
  LoadOrder order = LoadOrderFrom(link.Receive());
  if (order.logs) {
    SetLogSink([&link](std::string_view source, std::string_view text) {
      link.Send({{"type", "log"}, {"source", source}, {"text", text}});
    });
  }
  LifeSigns life;
  order.options.path = model_file;
  order.options.life = &life;
  const std::jthread beats([&](const std::stop_token& stop) { ReportLife(stop, link, life, order.beat); });
  const Result<std::unique_ptr<Model>> model = LoadLlamaModel(order.options);
  if (!model) {
    link.Send({{"type", "failed"}, {"error", ErrorToJson(model.error())}});
    return 0;
  }
  link.Send({{"type", "ready"},
             {"info", InfoToJson((*model)->info())},
             {"window", (*model)->Window()},
             {"parallel", (*model)->Parallel()}});
  Serve(**model, link);
  return 0;
}

}  // namespace upskill
