// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/env/env.h"
#include "eval/plan/plan.h"
#include "model/chat.h"

namespace CLI {
class App;
}

namespace upskill {

struct PlanOptions {
  std::string skill;
  std::vector<std::string> models;
  std::vector<std::string> base_urls;
  std::string judge_model;  // empty: none
  std::string tests;
  std::string runs_dir;            // empty: from the configuration
  std::optional<double> baseline;  // stated pass rate without the skill; absent: from earlier runs
  std::optional<int> rounds;       // also show what this number of rounds can detect
  double alpha = VerdictOptions().alpha;
  double margin_points = 100.0 * VerdictOptions().margin;
  int max_tokens = Sampling().max_tokens;
  int parallel = 0;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

void AddPlanCommand(CLI::App& app, PlanOptions& options);

// Tells before anything is spent what a run can show: the rounds, requests, tokens, money and time that it takes to see
// lifts of several sizes. Nothing is asked of a model.
ExitCode RunPlanCommand(const PlanOptions& options, Env& env);

}  // namespace upskill
