// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "util/json.h"

namespace upskill {

// Where an engine's time goes, for `--log` and bench/run. Not thread-safe.
class EngineTimes {
 public:
  // One batch: prompt tokens and sequences that got a token of their answers.
  void AddBatch(std::size_t prompt_tokens, std::size_t answering, double seconds);
  // Anything else, by name: "sampling", "waiting".
  void Add(const std::string& part, std::size_t tokens, double seconds);

  // Returns the sums, {"answers of 16 to 31": {"batches": 12, "tokens": 300, "seconds": 1.5}, …}, and resets them. An
  // empty object if there was no batch.
  Json Take();

  // Since a moment in llama.cpp's microseconds.
  static double SecondsSince(std::int64_t start_us);

 private:
  struct Part {
    std::size_t batches = 0;
    std::size_t tokens = 0;
    double seconds = 0.0;
  };
  std::map<std::string, Part> parts_;
  bool any_batch_ = false;
};

}  // namespace upskill
