// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "eval/journal/sample.h"
#include "util/files.h"
#include "util/result.h"

namespace upskill {

// Reads single samples of a run's samples.jsonl, by the place of their lines. Several threads may read at once.
class SampleFile {
 public:
  SampleFile(Fd fd, std::filesystem::path path) : fd_(std::move(fd)), path_(std::move(path)) {}

  // Errors: reading fails, or the line isn't there any more.
  Result<Sample> Read(std::uint64_t offset, std::uint32_t bytes) const;

 private:
  Fd fd_;
  std::filesystem::path path_;
};

}  // namespace upskill
