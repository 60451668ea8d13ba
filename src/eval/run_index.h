// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "eval/plan.h"
#include "eval/run_data.h"
#include "util/clock.h"
#include "util/files.h"
#include "util/result.h"

namespace upskill {

// The file beside a long journal that keeps what RunData knows of it, so that the journal needn't be read again. It can
// be removed at any time. It counts only for plan.json and samples.jsonl as they were when it was made (FileIdentity,
// and the journal's first and last bytes), and whatever is damaged in it makes it worthless: the journal is read then.
inline constexpr const char* kIndexFile = "samples.index";

class RunIndex {
 public:
  // Of a run's folder, whose journal is open as `journal`.
  RunIndex(std::filesystem::path run_folder, const Fd& journal, Clock::Wall now);

  // Nothing: there is no index of the journal as it is.
  std::optional<RunData> Load(Plan plan) const;
  // Errors: the file can't be written.
  Status Store(const RunData& data) const;

 private:
  std::filesystem::path folder_;
  std::uint64_t journal_bytes_ = 0;
  std::optional<std::string> identity_;  // of plan and journal; nothing: one of them is just being written
};

}  // namespace upskill
