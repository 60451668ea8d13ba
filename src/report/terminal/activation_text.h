// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "eval/plan/plan.h"
#include "eval/verdict/activation.h"
#include "eval/verdict/summary.h"
#include "util/json.h"

namespace upskill {

// How a student has chosen the skill, with labels: recall, precision, what it has left alone, what it has read and
// ignored, and the queries that went wrong most often. Empty for a run that doesn't measure activation.
std::vector<std::pair<std::string, std::string>> ActivationLines(const Plan& plan, const StudentSummary& student);

// "75 % (6 of 8; 95 %: 35 % … 97 %)", or "–" for nothing.
std::string ActivationRateText(const ActivationRate& rate);

// For `--json`: "value", "low", "high" (null for nothing), "hits", "of".
Json ActivationRateToJson(const ActivationRate& rate);

// ActivationLines for `--json`.
Json ActivationToJson(const Plan& plan, const ActivationSummary& activation);

}  // namespace upskill
