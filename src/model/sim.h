// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "model/model.h"
#include "util/result.h"

namespace upskill {

// Settings of a simulated student:
// `base=0.4,skill=0.85|body[,placebo=0.4][,previous=0.4][,seed=7][,latency-ms=200][,error=0.05]
// [,cost=0.001]`.
struct SimSettings {
  double base = 0.5;   // probability that a baseline answer passes its case
  double skill = 0.5;  // the same with the skill
  // `skill=body`: the probability is in the skill itself: the largest P of its marks `[sim P]`, and of `[sim P: WORDS]`
  // if the request contains WORDS; `base` without any mark. A skill of known quality, for testing programs that write
  // skills.
  bool skill_in_body = false;
  double placebo = -1;   // below 0: same as base
  double previous = -1;  // below 0: same as base
  double error = 0.0;    // probability that an attempt ends in an error
  std::uint64_t seed = 0;
  int latency_ms = 0;     // time to each answer
  double cost_usd = 0.0;  // of each answer
};

Result<SimSettings> ParseSimSettings(const std::string& text);

// A student without a model: its answer to a cell passes with the probability set for the cell's arm. All draws depend
// only on the settings and the request (messages, seed, arm, attempt), so a run repeats exactly. One thread serves any
// number of concurrent requests.
Result<std::unique_ptr<Model>> MakeSimModel(const std::string& settings, int window);

}  // namespace upskill
