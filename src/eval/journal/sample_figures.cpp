// SPDX-License-Identifier: Apache-2.0
#include "eval/journal/sample_figures.h"

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
std::int64_t TokenCount(std::int64_t tokens) { return std::clamp<std::int64_t>(tokens, 0, 3 * kMaxStoredTokens); }

std::uint32_t LineBytes(const Sample& sample) {
  constexpr std::size_t kRest = 400;  // key, time, usage and names
  std::size_t bytes = kRest + sample.response.text.size() + sample.response.reasoning.size();
  for (const CheckResult& check : sample.checks) bytes += check.name.size() + check.detail.size();
  return static_cast<std::uint32_t>(std::min<std::size_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
}

std::uint64_t HashOfAnswer(const ChatResponse& response) {
  std::uint64_t hash = SeedFromText(response.text);
  for (const ToolCall& call : response.tool_calls)
    hash = 31 * hash + SeedFromText(call.name + '\n' + call.raw_arguments);
  if (response.work) hash = 31 * hash + SeedFromText(DumpJson(FileChangesToJson(response.work->changes)));
  return hash;
}

}  // namespace

SampleFigures::SampleFigures(const Sample& sample) {
  const ChatResponse& response = sample.response;
  prompt_tokens = TokenCount(response.usage.prompt());
  cache_read_tokens = TokenCount(response.usage.cache_read);
  output_tokens = TokenCount(response.usage.output);
  seconds = response.seconds;
  cost_usd = response.cost_usd;
  text = HashOfAnswer(response);
  line_bytes = LineBytes(sample);
  stop = response.stop;
  if (!sample.cached_from.empty()) origin = static_cast<std::uint8_t>(1 + SeedFromText(sample.cached_from) % 255U);
  checks = static_cast<std::uint32_t>(sample.checks.size());
  for (const CheckResult& check : sample.checks) {
    const bool by_time = ReachedTimeLimit(check);
    reached_time_limit = reached_time_limit || by_time;
    if (check.outcome == Outcome::kPass) ++checks_passed;
    if (check.outcome != Outcome::kFail) continue;
    failed_by_time_alone = (!has_failed_check || failed_by_time_alone) && by_time;
    has_failed_check = true;
  }
  is_cut = sample.cut_from > 0;
  is_empty = sample.ok() && !response.work && response.tool_calls.empty() && Trim(response.text).empty();
  is_judged = !sample.judgments.empty();
  calls_tools = !response.tool_calls.empty();
  has_work = response.work.has_value();
}

}  // namespace upskill
