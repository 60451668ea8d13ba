// SPDX-License-Identifier: Apache-2.0
#include "model/batch/batch_notes.h"

#include <chrono>
#include <cstdint>
#include <string_view>
#include <thread>

#include "util/append_file.h"
#include "util/clock.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

constexpr int kSchema = 1;
constexpr int kMaxTries = 100;  // to write while another process is writing
constexpr std::chrono::milliseconds kPause{50};

}  // namespace

BatchNotes::Content BatchNotes::Read() const {
  Content content;
  if (use_ == Use::kIgnored) return content;
  const Result<std::string> text = ReadFile(file_, 4ULL << 30U);
  if (!text) return content;  // none yet, or unreadable: requests are submitted again
  std::string_view rest = *text;
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const Result<Json> line = ParseJson(rest.substr(0, end), "batches.jsonl");
    rest.remove_prefix(end + 1);
    if (!line || JsonGet(*line, "schema", 0) != kSchema || JsonGet<std::string>(*line, "model", "") != model_) continue;
    if (use_ == Use::kShared && !JsonGet(*line, "shared", false)) continue;
    const std::string batch = JsonGet<std::string>(*line, "batch", "");
    const std::string token = JsonGet<std::string>(*line, "intent", "");
    const auto requests = line->find("requests");
    if ((batch.empty() && token.empty()) || requests == line->end() || !requests->is_array()) continue;
    for (const Json& request : *requests) {
      if (!request.is_string()) continue;
      const auto id = request.get<std::string>();
      content.batches.erase(id);
      content.unknown.erase(id);
      (batch.empty() ? content.unknown : content.batches)[id] = batch.empty() ? token : batch;
    }
    if (!batch.empty()) continue;
    const std::chrono::seconds since{JsonGet<std::int64_t>(*line, "time", 0)};
    content.intents[token] = {token, Clock::Wall(since), requests->size()};
  }
  return content;
}

Status BatchNotes::AddIntent(const BatchIntent& intent, const std::vector<std::string>& requests) const {
  const auto time = std::chrono::duration_cast<std::chrono::seconds>(intent.time.time_since_epoch());
  return Append({{"schema", kSchema}, {"intent", intent.token}, {"time", time.count()}}, requests);
}

Status BatchNotes::Add(const std::string& batch, const std::vector<std::string>& requests) const {
  return Append({{"schema", kSchema}, {"batch", batch}}, requests);
}

Status BatchNotes::Append(Json line, const std::vector<std::string>& requests) const {
  RETURN_IF_ERROR(MakeFolders(file_.parent_path()));
  line["model"] = model_;
  line["shared"] = shared_;
  line["requests"] = requests;
  const std::string text = DumpJson(line) + "\n";
  for (int i = 0;; ++i) {
    Result<AppendFile> file = AppendFile::Open(file_, true);
    if (!file && i < kMaxTries) {
      std::this_thread::sleep_for(kPause);
      continue;
    }
    if (!file) return file.error();
    RETURN_IF_ERROR(file->Append(text));
    return file->Sync();
  }
}

}  // namespace upskill
