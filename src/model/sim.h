// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "model/model.h"
#include "util/result.h"

namespace upskill {

// Settings of a simulated student:
// `base=0.4,skill=0.85|body[,placebo=0.4][,previous=0.4][,reference=1][,drift=0.01][,error=0.05][,skill-error=0.05][,lost=0.3]
// [,seed=7][,latency-ms=200][,cost=0.001]`; all of them are in kSimSettings.
//
// A case can have settings of its own: `[sim base=0.1,skill=0.9]` in its message. They replace those of the student.
struct SimSettings {
  double base = 0.5;   // probability that a baseline answer passes its case
  double skill = 0.5;  // the same with the skill
  // `skill=body`: the probability is in the skill itself: the largest P of its marks `[sim P]`, and of `[sim P: WORDS]`
  // if the request contains WORDS; `base` without any mark. A skill of known quality, for testing programs that write
  // skills.
  bool skill_in_body = false;
  double placebo = -1;      // below 0: same as base
  double previous = -1;     // below 0: same as base
  double reference = 1.0;   // with kReferenceSkill in place of the skill
  double drift = 0.0;       // added to the probabilities of passing, in every arm, with each round
  double error = 0.0;       // probability that an attempt ends in an error, whatever it would have answered
  double skill_error = -1;  // the same in the skill's arm; below 0: same as error
  // Probability that an attempt with the skill whose answer would fail ends in a timeout instead. Each attempt then
  // draws its own answer, as from a model behind an API.
  double lost = 0.0;
  double reach = 1.0;  // probability that a skill that is loaded on demand is read; without it, `base` counts
  std::uint64_t seed = 0;
  int latency_ms = 0;     // time to each answer
  double cost_usd = 0.0;  // of each answer
};

struct SimSetting {
  std::string_view name;
  std::string_view values;
  std::string_view meaning;
};

// What `upskill help sim` lists.
inline constexpr std::array kSimSettings = {
    SimSetting{"base", "0 to 1", "pass rate without the skill [0.5]"},
    SimSetting{"skill", "0 to 1, body", "the same with it [0.5]; body: as the skill says"},
    SimSetting{"placebo", "0 to 1", "pass rate with the placebo [base]"},
    SimSetting{"previous", "0 to 1", "pass rate with the previous version [base]"},
    SimSetting{"reference", "0 to 1", "the same with the reference answers [1]"},
    SimSetting{"drift", "-1 to 1", "added to all pass rates with each round"},
    SimSetting{"error", "0 to 1", "share of requests that fail, whatever the answer"},
    SimSetting{"skill-error", "0 to 1", "the same with the skill [error]"},
    SimSetting{"lost", "0 to 1", "share of failing skill answers that time out"},
    SimSetting{"reach", "0 to 1", "share of fitting skills that it reads [1]"},
    SimSetting{"seed", "whole number", "draws other answers"},
    SimSetting{"latency-ms", "milliseconds", "time to each answer"},
    SimSetting{"cost", "USD", "price of each answer"},
};

// Settings that the text doesn't name are those of `from`.
Result<SimSettings> ParseSimSettings(std::string_view text, const SimSettings& from = {});

// In a workspace (ChatRequest::tools), it reads a skill that is to be loaded on demand, and then, where its answer
// passes, writes the files that the passing answer contains as fenced blocks with their names (`write_file`); where it
// fails, it lists the files.
//
// A student without a model: its answer to a cell passes with the probability set for the cell's arm. All draws depend
// only on the settings and the request (messages, seed, arm, attempt, round), so a run repeats exactly. One thread
// serves any number of concurrent requests.
Result<std::unique_ptr<Model>> MakeSimModel(const std::string& settings, int window);

}  // namespace upskill
