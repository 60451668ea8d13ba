// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "eval/sample.h"

namespace upskill {

// What is said of a sample in figures: all that summaries, verdicts and contrasts need. 64 bytes, whatever the length
// of its texts, so that a run of millions of samples fits into memory.
class SampleFigures {
 public:
  SampleFigures() = default;
  explicit SampleFigures(const Sample& sample);

  // Where the whole sample is, for its keeper (RunData).
  std::uint64_t place() const { return place_; }
  void set_place(std::uint64_t place) { place_ = place; }
  // The length of its line in the journal; of a sample that isn't in one, about that.
  std::uint32_t line_bytes() const { return line_bytes_; }
  void set_line_bytes(std::uint32_t bytes) { line_bytes_ = bytes; }

  StopReason stop() const { return static_cast<StopReason>(stop_); }
  std::int64_t prompt_tokens() const { return static_cast<std::int64_t>(prompt_); }  // Usage::prompt()
  std::int64_t cache_read_tokens() const { return static_cast<std::int64_t>(cache_read_); }
  std::int64_t output_tokens() const { return static_cast<std::int64_t>(output_); }
  bool reports_tokens() const { return prompt_ > 0 || output_ > 0; }  // ReportsTokens(sample)
  std::size_t checks() const { return checks_; }
  std::size_t checks_passed() const { return checks_passed_; }
  bool reached_time_limit() const { return time_limit_ != 0; }        // one of its checks
  bool has_failed_check() const { return failed_check_ != 0; }        // one that ran
  bool failed_by_time_alone() const { return failed_by_time_ != 0; }  // each of those reached its time limit
  bool is_cut() const { return cut_ != 0; }
  bool is_from_cache() const { return from_cache_ != 0; }
  bool is_empty() const { return empty_ != 0; }  // it has neither text nor calls, and nothing was done
  // Different, but for chance (1 in 255), for answers that were given in different runs. 0: in this one.
  std::uint64_t origin() const { return origin_; }
  bool is_judged() const { return judged_ != 0; }  // it has judgments
  bool calls_tools() const { return calls_tools_ != 0; }
  bool has_work() const { return has_work_ != 0; }  // it was done in a workspace
  double seconds() const { return seconds_; }
  std::optional<double> cost_usd() const { return cost_known_ != 0 ? std::optional(cost_usd_) : std::nullopt; }
  // Equal for equal answers, calls of tools and changes of files included.
  std::uint64_t text() const { return text_; }

 private:
  std::uint64_t place_ = 0;
  std::uint64_t prompt_ : 42 = 0;
  std::uint64_t checks_ : 22 = 0;
  std::uint64_t cache_read_ : 42 = 0;
  std::uint64_t checks_passed_ : 22 = 0;
  std::uint64_t output_ : 42 = 0;
  std::uint64_t stop_ : 3 = 0;
  std::uint64_t time_limit_ : 1 = 0;
  std::uint64_t cut_ : 1 = 0;
  std::uint64_t from_cache_ : 1 = 0;
  std::uint64_t cost_known_ : 1 = 0;
  std::uint64_t judged_ : 1 = 0;
  std::uint64_t calls_tools_ : 1 = 0;
  std::uint64_t failed_check_ : 1 = 0;
  std::uint64_t failed_by_time_ : 1 = 0;
  std::uint64_t has_work_ : 1 = 0;
  std::uint64_t empty_ : 1 = 0;
  std::uint64_t origin_ : 8 = 0;
  double seconds_ = 0.0;
  double cost_usd_ = 0.0;
  std::uint64_t text_ = 0;
  std::uint32_t line_bytes_ = 0;
};

static_assert(sizeof(SampleFigures) == 64);

}  // namespace upskill
