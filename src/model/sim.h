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
  double base = 0.5;   // chance that a baseline answer passes its case
  double skill = 0.5;  // the same with the skill
  // `skill=body`: the chance stands in the skill itself: the largest P of its texts `[sim P]` and of `[sim P: WORDS]`
  // where the request holds WORDS; base without any. A skill of known quality, for trying out what makes skills.
  bool skill_in_body = false;
  double placebo = -1;   // below 0: as base
  double previous = -1;  // below 0: as base
  double error = 0.0;    // chance that an attempt ends in an error instead of an answer
  std::uint64_t seed = 0;
  int latency_ms = 0;     // time to each answer
  double cost_usd = 0.0;  // of each answer
};

Result<SimSettings> ParseSimSettings(const std::string& text);

// A student without a model: its answer to a cell passes with the chance of the cell's arm. What it draws depends only
// on the settings and the request (messages, seed, arm, attempt), so a run repeats exactly. One thread serves any
// number of requests at once.
Result<std::unique_ptr<Model>> MakeSimModel(const std::string& settings, int window);

}  // namespace upskill
