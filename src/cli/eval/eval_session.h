// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/env/config.h"
#include "cli/env/env.h"
#include "cli/eval/eval_options.h"
#include "measure/measurement.h"
#include "measure/spec.h"
#include "sandbox/sandbox.h"
#include "skill/skill.h"
#include "skill/suite.h"
#include "util/result.h"
#include "util/written_tokens.h"

namespace upskill {

// What `eval` is to measure of the skill: its cases are read. With --resume, only what ResumeMeasurement needs. Errors
// of what is read; two versions of a skill with the same text. `sandbox`: where task files are run,
// until `*stop` isn't 0 (LoadCases).
Result<MeasureSpec> SpecOf(const Skill& skill, const EvalOptions& options, const Config& config, const Sandbox& sandbox,
                           const StopFlag* stop);

// The same without a skill: how the models do the cases of -t by themselves.
Result<MeasureSpec> SpecWithoutSkill(const EvalOptions& options, const Config& config);

// A measurement, new or resumed, and where its commands run.
struct EvalSession {
  std::unique_ptr<Sandbox> sandbox;
  Measurement measurement;
  std::shared_ptr<const WrittenTokens> written;  // by its models in process
};

// The run that --resume names; nothing without it.
Result<std::optional<StoredRun>> RunToResume(const EvalOptions& options, const Config& config);

// Takes the gate and the limits that a resumed run was started with, unless the command gives others, and says so.
// Before SpecOf.
void RecallTerms(const Plan& plan, EvalOptions& options, Env& env);

// Starts a run or goes on with `resumed`, and prints what is remarkable. All input is validated before a model is
// loaded or a request sent. `options` and `env` outlive the session.
Result<EvalSession> OpenEvalSession(const MeasureSpec& spec, std::optional<StoredRun> resumed,
                                    const EvalOptions& options, const Config& config, Env& env);

// The cases of -t, else the skill's own. The error says how to give some.
Result<Suite> LoadCases(const std::string& tests, const std::filesystem::path& skill_folder,
                        const Sandbox& sandbox = DefaultSandbox(), const StopFlag* stop = nullptr);

// The models of -m, else of the configuration, else the default one.
std::vector<std::string> ChooseModels(const std::vector<std::string>& given, const Config& config);

}  // namespace upskill
