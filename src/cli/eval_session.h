// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/config.h"
#include "cli/env.h"
#include "cli/eval_options.h"
#include "eval/gate.h"
#include "eval/journal.h"
#include "eval/plan.h"
#include "eval/sample.h"
#include "model/model.h"
#include "util/result.h"

namespace upskill {

// What a run needs, whether it is new or goes on.
struct EvalSession {
  Plan plan;
  std::vector<std::unique_ptr<Model>> models;  // as plan.students
  std::optional<Journal> journal;              // absent with --no-log-runs
  std::vector<Sample> resumed;
  std::vector<Sample> cached;
  std::optional<Gate> gate;
  std::filesystem::path runs_dir;
};

// Reads the skill and its cases, opens the models and begins a run, or goes on with one (--resume). Everything that can
// be wrong is looked at before a model is loaded or asked.
Result<EvalSession> OpenEvalSession(const EvalOptions& options, const Config& config, Env& env);

// The models of -m, else of the configuration, else the embedded one.
std::vector<std::string> ChooseModels(const std::vector<std::string>& given, const Config& config);

// The command that goes on with the session's run.
std::string ResumeLine(const EvalOptions& options, const EvalSession& session);

}  // namespace upskill
