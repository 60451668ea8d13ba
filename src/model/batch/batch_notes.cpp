// SPDX-License-Identifier: Apache-2.0
#include "model/batch/batch_notes.h"

#include <chrono>
#include <string_view>
#include <thread>

#include "util/append_file.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

constexpr int kSchema = 1;
constexpr int kMaxTries = 100;  // to write while another process is writing
constexpr std::chrono::milliseconds kPause{50};

}  // namespace

std::unordered_map<std::string, std::string> BatchNotes::Read() const {
  std::unordered_map<std::string, std::string> batches;
  if (use_ == Use::kIgnored) return batches;
  const Result<std::string> text = ReadFile(file_, 4ULL << 30U);
  if (!text) return batches;  // none yet, or unreadable: requests are submitted again
  std::string_view rest = *text;
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const Result<Json> line = ParseJson(rest.substr(0, end), "batches.jsonl");
    rest.remove_prefix(end + 1);
    if (!line || JsonGet(*line, "schema", 0) != kSchema || JsonGet<std::string>(*line, "model", "") != model_) continue;
    if (use_ == Use::kShared && !JsonGet(*line, "shared", false)) continue;
    const std::string batch = JsonGet<std::string>(*line, "batch", "");
    const auto requests = line->find("requests");
    if (batch.empty() || requests == line->end() || !requests->is_array()) continue;
    for (const Json& request : *requests) {
      if (request.is_string()) batches[request.get<std::string>()] = batch;
    }
  }
  return batches;
}

Status BatchNotes::Add(const std::string& batch, const std::vector<std::string>& requests) const {
  RETURN_IF_ERROR(MakeFolders(file_.parent_path()));
  const std::string line =
      DumpJson(
          {{"schema", kSchema}, {"batch", batch}, {"model", model_}, {"shared", shared_}, {"requests", requests}}) +
      "\n";
  for (int i = 0;; ++i) {
    Result<AppendFile> file = AppendFile::Open(file_, true);
    if (!file && i < kMaxTries) {
      std::this_thread::sleep_for(kPause);
      continue;
    }
    if (!file) return file.error();
    RETURN_IF_ERROR(file->Append(line));
    return file->Sync();
  }
}

}  // namespace upskill
