// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/env/config.h"
#include "cli/env/env.h"
#include "cli/eval/eval_options.h"
#include "skill/skill.h"
#include "util/result.h"

namespace upskill {

// With --test-gen-model, for a skill without test cases: the model writes some from the skill's text into tests.json in
// its folder, within the run's limit of cost, which is lowered by what that took. Without the option, or if there are
// cases, nothing happens. The model's answers are kept below tests/ in the runs folder (unless --no-log-runs) until the
// tests are written: after an error, the next call asks for nothing twice. Errors: of the model, or kInput if it wrote
// no sound test.
Status WriteMissingTests(const Skill& skill, EvalOptions& options, const Config& config, Env& env);

// The command that has the tests of a skill without any written: by the configured model if there is one.
std::string TestsCommand(const EvalOptions& options, const Config& config);

}  // namespace upskill
