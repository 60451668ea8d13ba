// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/batch/batch.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// batches.jsonl of a runs folder: which batch at the provider contains which requests. A batch is recorded twice: its
// intent before it is submitted, and its ID before anything waits for it. Both lines are on the disk by then, so a
// later process finds the batch, or knows that it has to look for it at the provider. Several processes may write to
// one file.
class BatchNotes {
 public:
  enum class Use {
    kIgnored,  // earlier batches are ignored
    kShared,   // only batches that may serve later runs
    kAll,
  };

  // What is recorded of this model's requests; the newest if a request is in several batches.
  struct Content {
    std::unordered_map<std::string, std::string> batches;  // by request: the ID of its batch
    std::unordered_map<std::string, std::string> unknown;  // by request: the token of an intent without a batch
    std::unordered_map<std::string, BatchIntent> intents;  // by token: those of `unknown`
  };

  // `model`: ModelInfo::identity. `shared`: batches recorded from now on may serve later runs.
  BatchNotes(std::filesystem::path file, std::string model, Use use, bool shared)
      : file_(std::move(file)), model_(std::move(model)), use_(use), shared_(shared) {}

  Content Read() const;

  Status AddIntent(const BatchIntent& intent, const std::vector<std::string>& requests) const;
  Status Add(const std::string& batch, const std::vector<std::string>& requests) const;

 private:
  Status Append(Json line, const std::vector<std::string>& requests) const;

  std::filesystem::path file_;
  std::string model_;
  Use use_;
  bool shared_;
};

}  // namespace upskill
