// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/eval_options.h"
#include "eval/plan.h"
#include "util/result.h"

namespace upskill {

// What is given with --resume must be what the run was started with: its plan decides.
Status CheckAgainstPlan(const EvalOptions& options, const Plan& plan);

// The options that name the servers a model was asked at; empty: the catalogue or a file has it.
std::string ServerOptions(const Student& student);

// A run's folder may come from elsewhere, so its plan isn't enough to send requests to the servers that it names.
Status CheckServerIsNamed(const EvalOptions& options, const std::string& run, const Student& model);

}  // namespace upskill
