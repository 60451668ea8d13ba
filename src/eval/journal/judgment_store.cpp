// SPDX-License-Identifier: Apache-2.0
#include "eval/journal/judgment_store.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "eval/journal/runs_folder.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {

Result<JudgmentStore> JudgmentStore::Open(const std::filesystem::path& runs_dir) {
  RETURN_IF_ERROR(MakeRunsFolder(runs_dir));
  const std::filesystem::path path = runs_dir / kJudgmentsFile;
  JudgmentStore store;
  Result<AppendFile> file = AppendFile::Open(path, true);
  if (file) store.file_ = *std::move(file);
  const Result<std::string> text = ReadFile(path);
  if (!text) return text.error();
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const Result<Json> line = ParseJson(rest.substr(0, end), path.string());
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line) continue;
    Result<StoredJudgment> stored = JudgmentFromJson(*line);
    if (stored) store.by_key_.insert_or_assign(stored->key, *stored);
  }
  return store;
}

const StoredJudgment* JudgmentStore::Find(const std::string& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &found->second;
}

Status JudgmentStore::Add(const StoredJudgment& stored) {
  by_key_.insert_or_assign(stored.key, stored);
  if (!file_) return {};
  return file_->Append(DumpJson(JudgmentToJson(stored)) + "\n");
}

}  // namespace upskill
