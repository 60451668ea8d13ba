// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/env/env.h"
#include "cli/eval/workspace_option.h"
#include "cli/models/sandbox_option.h"
#include "eval/plan/plan.h"
#include "model/chat.h"

namespace CLI {
class App;
}

namespace upskill {

// Whether, and among which skills, it is measured how students choose: options of `eval`.
struct ActivationChoice {
  bool on = false;
  std::vector<std::string> among;  // folders of other skills, or of several; empty: those next to the skill
};

struct EvalOptions {
  std::string skill;
  std::vector<std::string> skills;  // of `eval`, whose `skill` is set to each of them
  std::string changed_since;        // only the skills that differ from this state in git; empty: all
  std::string ci;                   // stands for several other options (docs/ci.md); empty: it doesn't
  std::vector<std::string> models;
  std::vector<std::string> base_urls;
  std::string judge_model;  // of checks of the type `judge`; empty: none
  std::string tests;
  std::string test_gen_model;  // writes the tests of a skill that has none
  std::optional<int> rounds;   // absent: the command's default
  bool no_baseline = false;
  bool placebo = false;
  std::string against;  // another version of the skill: a folder, or git:REF
  bool stop_when_decided = false;
  double min_lift_points = 100.0 * VerdictOptions().min_lift;
  double alpha = VerdictOptions().alpha;
  double margin_points = 100.0 * VerdictOptions().margin;
  std::string gate;
  bool verbose = false;
  bool quiet = false;
  bool json = false;
  bool log_runs = true;
  bool ledger = true;
  bool use_cache = true;
  bool refresh = false;
  int parallel = 0;
  bool batch = false;
  std::string shard;  // "K/N"
  std::string on;     // has shards measured elsewhere: "slurm:gpu"; empty: here
  std::optional<int> shards;
  std::vector<std::string> job_options;
  std::vector<std::string> cache_from;  // further folders of runs to take answers from
  SandboxChoice sandbox;
  WorkspaceChoice workspace;
  ActivationChoice activation;
  std::string runs_dir;  // empty: from the configuration
  std::string resume;    // run to resume; empty: a new one
  std::string output;    // of `eval`: file for the table of skills and models; empty: none
  std::optional<double> max_cost_usd;
  std::optional<std::int64_t> max_tokens_total;
  std::optional<double> timeout_seconds;
  int max_tokens = Sampling().max_tokens;
  std::optional<double> temperature;  // absent: the model's own default
  std::uint64_t seed = 0;
  ColorMode color = ColorMode::kAuto;
  bool table_first = false;                // the command `benchmark`
  std::vector<std::string> given_of_plan;  // options that a run's plan has, by their long names

  int default_rounds() const;
  int rounds_or_default() const { return rounds.value_or(default_rounds()); }
};

// Declares the flags of `eval` and `benchmark`.
void AddEvalCommand(CLI::App& app, EvalOptions& options);
void AddBenchmarkCommand(CLI::App& app, EvalOptions& options);

}  // namespace upskill
