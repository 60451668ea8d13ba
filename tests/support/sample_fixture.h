// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "eval/journal/sample.h"

namespace upskill {

// For tests: an answer with every field set, with characters that must be escaped in a line.
inline Sample FullSample() {
  Sample sample;
  sample.key = std::string(64, 'a');
  sample.student = "generic.m";
  sample.arm = Arm::kSkill;
  sample.case_id = "größe";
  sample.round = 3;
  sample.attempt = 1;
  sample.time = "2026-11-21T16:00:00Z";
  sample.cached_from = "2026_11_21-1a2b";
  sample.response.text = "line\n\"quoted\" \\ / \t\b\f\r 日本";
  sample.response.reasoning = "so";
  sample.response.stop = StopReason::kLength;
  sample.response.usage = {1, 20, 39, 4000, 50};
  sample.response.seconds = 0.25;
  sample.response.cost_usd = 1.5e-7;
  sample.response.served_model = "m-1";
  sample.response.request_id = "req";
  sample.checks = {{"contains \"x\"", Outcome::kPass, ""},
                   {"nvcc", Outcome::kSkip, "no tool"},
                   {"regex", Outcome::kFail, "not found"}};
  return sample;
}

}  // namespace upskill
