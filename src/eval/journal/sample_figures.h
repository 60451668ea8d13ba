// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "eval/journal/sample.h"

namespace upskill {

// What is said of a sample in figures: all that summaries, verdicts and contrasts need. It takes the same memory
// whatever the length of the sample's texts, so that a run of a million samples fits into memory.
struct SampleFigures {
  SampleFigures() = default;
  explicit SampleFigures(const Sample& sample);

  bool reports_tokens() const { return prompt_tokens > 0 || output_tokens > 0; }  // ReportsTokens(sample)
  bool is_from_cache() const { return origin != 0; }

  std::uint64_t place = 0;         // where the whole sample is, for its keeper (RunData)
  std::int64_t prompt_tokens = 0;  // Usage::prompt()
  std::int64_t cache_read_tokens = 0;
  std::int64_t output_tokens = 0;
  double seconds = 0.0;
  std::optional<double> cost_usd;
  std::uint64_t text = 0;        // equal for equal answers, calls of tools and changes of files included
  std::uint32_t line_bytes = 0;  // of its line in the journal; of a sample that isn't in one, about that
  std::uint32_t checks = 0;
  std::uint32_t checks_passed = 0;
  StopReason stop = StopReason::kEnd;
  // Different, but for chance (1 in 255), for answers that were given in different runs. 0: in this one.
  std::uint8_t origin = 0;
  bool reached_time_limit = false;    // one of its checks
  bool has_failed_check = false;      // one that ran
  bool failed_by_time_alone = false;  // each of those reached its time limit
  bool is_cut = false;
  bool is_empty = false;   // it has neither text nor calls, and nothing was done
  bool is_judged = false;  // it has judgments
  bool calls_tools = false;
  bool has_work = false;  // it was done in a workspace
};

}  // namespace upskill
