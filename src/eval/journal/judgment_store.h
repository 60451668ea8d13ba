// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>

#include "eval/journal/sample.h"
#include "util/append_file.h"
#include "util/result.h"

namespace upskill {

inline constexpr const char* kJudgmentsFile = "judgments.jsonl";

// What judges have said outside of runs, so that nobody pays for the same question twice: one line for each judgment in
// judgments.jsonl in the runs folder. Move-only, not thread-safe.
class JudgmentStore {
 public:
  // Reads what is stored; lines that can't be read are skipped. While another process stores, Add does
  // nothing. Errors: the folder can't be made, the file can't be read.
  static Result<JudgmentStore> Open(const std::filesystem::path& runs_dir);

  // Null: nothing is stored under this JudgmentKey. Valid until the next Add.
  const StoredJudgment* Find(const std::string& key) const;
  // Errors: the file can't be written.
  Status Add(const StoredJudgment& stored);

 private:
  std::unordered_map<std::string, StoredJudgment> by_key_;
  std::optional<AppendFile> file_;
};

}  // namespace upskill
