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
#include "cli/mcp_access.h"
#include "eval/gate.h"
#include "eval/journal.h"
#include "eval/plan.h"
#include "eval/sample.h"
#include "model/model.h"
#include "sandbox/sandbox.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// What a run needs, whether new or resumed.
struct EvalSession {
  Plan plan;
  std::vector<std::unique_ptr<Model>> models;  // as plan.students
  std::unique_ptr<Model> judge;                // null: no check asks one
  std::optional<Journal> journal;              // absent with --no-log-runs
  std::vector<Sample> resumed;
  bool resumes_same_run = false;  // with a run that was there
  std::vector<Sample> cached;
  std::optional<Gate> gate;
  std::filesystem::path runs_dir;
  std::unique_ptr<Sandbox> sandbox;  // of the suite's commands
  McpAccess mcp;                     // to servers of the cases
};

// Reads the skill and its cases, opens the models, and starts or resumes a run (--resume). All input is validated
// before a model is loaded or a request sent.
Result<EvalSession> OpenEvalSession(const EvalOptions& options, const Config& config, Env& env);

// With --resume: takes the gate and the limits that the run was started with, unless the command gives others, and says
// so. Before OpenEvalSession.
Status RecallTerms(EvalOptions& options, const Config& config, Env& env);

// The cases of -t, else the skill's own. The error says how to give some.
Result<Suite> LoadCases(const std::string& tests, const std::filesystem::path& skill_folder);

// The models of -m, else of the configuration, else the default one.
std::vector<std::string> ChooseModels(const std::vector<std::string>& given, const Config& config);

}  // namespace upskill
