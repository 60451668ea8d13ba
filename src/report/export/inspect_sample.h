// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "eval/journal/sample.h"
#include "eval/plan/plan.h"
#include "util/json.h"

namespace upskill {

// The samples of a log of Inspect AI (report/export/inspect_log.h).

// The most checks of a case that are scores of their own.
inline constexpr std::size_t kMostInspectScores = 20;

// The cases' ids as parts of a file's name: without what leads to other folders or can't be seen, each different, in
// the order of the suite.
std::vector<std::string> InspectIds(const Suite& suite);

// "edition-line (skill)"; `case_id`: one of InspectIds.
std::string InspectSampleId(const std::string& case_id, Arm arm);

// ModelUsage; empty if the answer doesn't say how many tokens it took.
Json InspectUsage(const Sample& sample);
// By the model's name, of the student and, if it was asked, the judge.
Json InspectModelUsage(const Plan& plan, const Sample& sample);
// Adds the numbers of `more`, an object of ModelUsage by name, to `sum`.
void AddInspectUsage(const Json& more, Json& sum);

// EvalSample: messages, output, scores or the error.
Json InspectSample(const Plan& plan, const Sample& sample, std::size_t case_index, const std::string& case_id);
// The EvalSampleSummary of an EvalSample: texts are cut to 1 KiB, as Inspect does.
Json InspectSummary(const Json& sample);

// A time as Inspect reads it; `fallback` if it isn't one.
std::string InspectTime(const std::string& time, const std::string& fallback);

}  // namespace upskill
