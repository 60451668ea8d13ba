// SPDX-License-Identifier: Apache-2.0
#include "llama/engine_times.h"

#include <fmt/format.h>
#include <llama.h>

#include <bit>

namespace upskill {

void EngineTimes::AddBatch(std::size_t prompt_tokens, std::size_t answering, double seconds) {
  any_batch_ = true;
  if (prompt_tokens > 0) return Add("prompts", prompt_tokens, seconds);
  const std::size_t least = std::bit_floor(answering);
  Add(least < 2 ? "answers of 1" : fmt::format("answers of {} to {}", least, 2 * least - 1), answering, seconds);
}

void EngineTimes::Add(const std::string& part, std::size_t tokens, double seconds) {
  Part& sum = parts_[part];
  ++sum.batches;
  sum.tokens += tokens;
  sum.seconds += seconds;
}

Json EngineTimes::Take() {
  Json table = Json::object();
  if (!any_batch_) return table;
  for (const auto& [name, part] : parts_)
    table[name] = {{"batches", part.batches}, {"tokens", part.tokens}, {"seconds", part.seconds}};
  *this = EngineTimes();
  return table;
}

double EngineTimes::SecondsSince(std::int64_t start_us) {
  return static_cast<double>(llama_time_us() - start_us) / 1e6;
}

}  // namespace upskill
