// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "util/result.h"

namespace upskill {

// batches.jsonl of a runs folder: which batch at the provider contains which requests. A line is on the disk before
// anything waits for the batch, so that a later process finds it. Several processes may write to one file.
class BatchNotes {
 public:
  enum class Use {
    kIgnored,  // earlier batches are ignored
    kShared,   // only batches that may serve later runs
    kAll,
  };

  // `model`: ModelInfo::identity. `shared`: batches recorded from now on may serve later runs.
  BatchNotes(std::filesystem::path file, std::string model, Use use, bool shared)
      : file_(std::move(file)), model_(std::move(model)), use_(use), shared_(shared) {}

  // The batches of this model by request ID; the newest if there are several.
  std::unordered_map<std::string, std::string> Read() const;

  Status Add(const std::string& batch, const std::vector<std::string>& requests) const;

 private:
  std::filesystem::path file_;
  std::string model_;
  Use use_;
  bool shared_;
};

}  // namespace upskill
