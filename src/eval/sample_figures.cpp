// SPDX-License-Identifier: Apache-2.0
#include "eval/sample_figures.h"

#include <algorithm>
#include <limits>

#include "check/command_check.h"
#include "model/workspace.h"
#include "util/json.h"
#include "util/rng.h"
#include "util/text.h"

namespace upskill {
namespace {

// A prompt's count is the sum of three.
std::uint64_t TokenCount(std::int64_t tokens) {
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(tokens, 0, 3 * kMaxStoredTokens));
}

std::uint64_t CheckCount(std::size_t checks) {
  constexpr std::size_t kMostChecks = (std::size_t{1} << 22U) - 1;  // more than a line of the journal has room for
  return std::min(checks, kMostChecks);
}

std::uint32_t LineBytes(const Sample& sample) {
  constexpr std::size_t kRest = 400;  // key, time, usage and names
  std::size_t bytes = kRest + sample.response.text.size() + sample.response.reasoning.size();
  for (const CheckResult& check : sample.checks) bytes += check.name.size() + check.detail.size();
  return static_cast<std::uint32_t>(std::min<std::size_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

SampleFigures::SampleFigures(const Sample& sample) {
  const ChatResponse& response = sample.response;
  prompt_ = TokenCount(response.usage.prompt()) & ((std::uint64_t{1} << 42U) - 1);
  cache_read_ = TokenCount(response.usage.cache_read) & ((std::uint64_t{1} << 42U) - 1);
  output_ = TokenCount(response.usage.output) & ((std::uint64_t{1} << 42U) - 1);
  checks_ = CheckCount(sample.checks.size()) & ((std::uint64_t{1} << 22U) - 1);
  const auto passed = std::count_if(sample.checks.begin(), sample.checks.end(),
                                    [](const CheckResult& check) { return check.outcome == Outcome::kPass; });
  checks_passed_ = CheckCount(static_cast<std::size_t>(passed)) & ((std::uint64_t{1} << 22U) - 1);
  stop_ = static_cast<std::uint64_t>(response.stop) & 7U;
  time_limit_ = std::any_of(sample.checks.begin(), sample.checks.end(), ReachedTimeLimit) ? 1 : 0;
  for (const CheckResult& check : sample.checks) {
    if (check.outcome != Outcome::kFail) continue;
    failed_by_time_ = (failed_check_ == 0 || failed_by_time_ != 0) && ReachedTimeLimit(check) ? 1 : 0;
    failed_check_ = 1;
  }
  line_bytes_ = LineBytes(sample);
  cut_ = sample.cut_from > 0 ? 1 : 0;
  from_cache_ = sample.cached_from.empty() ? 0 : 1;
  if (!sample.cached_from.empty()) origin_ = (1 + SeedFromText(sample.cached_from) % 255U) & 255U;
  empty_ = sample.ok() && !response.work && response.tool_calls.empty() && Trim(response.text).empty() ? 1 : 0;
  judged_ = sample.judgments.empty() ? 0 : 1;
  calls_tools_ = response.tool_calls.empty() ? 0 : 1;
  has_work_ = response.work ? 1 : 0;
  seconds_ = response.seconds;
  cost_known_ = response.cost_usd ? 1 : 0;
  cost_usd_ = response.cost_usd.value_or(0.0);
  text_ = SeedFromText(response.text);
  for (const ToolCall& call : response.tool_calls)
    text_ = 31 * text_ + SeedFromText(call.name + '\n' + call.raw_arguments);
  if (response.work) text_ = 31 * text_ + SeedFromText(DumpJson(FileChangesToJson(response.work->changes)));
}

}  // namespace upskill
