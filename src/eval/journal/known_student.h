// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// What earlier runs show about a student, for planning. Means are over its answers to the suite's cases in all arms.
struct KnownStudent {
  std::size_t answers = 0;
  std::optional<double> prompt_tokens;  // both absent if those of any answer are unknown
  std::optional<double> output_tokens;  // as expected under the limit that was asked about
  double seconds = 0.0;                 // the same
  // Without answers to these cases: what a token of its answers to other cases took, with as many in parallel.
  std::optional<double> seconds_per_token;
  std::optional<double> usd;  // per answer as it was; absent if the cost of any is unknown, or its length would change
  std::size_t baseline_answers = 0;
  double baseline_rate = 0.0;
  // By case: its pass rate without the skill, shrunk towards the mean of all cases by the weight of one answer, since a
  // few answers say little about one case. The first case with an input has the answers to all that share it; the
  // others have the mean of all cases. Empty without baseline answers.
  std::vector<double> baseline;
};

// Searches the runs below `runs_dir` for answers of the student with this model string to the suite's cases (identified
// by their inputs). Unreadable runs are skipped. `max_tokens`: of the answers that are planned. One that was shorter is
// expected to stay as it was; one that was truncated, to end halfway between its length and the new limit.
Result<KnownStudent> FindKnownStudent(const std::filesystem::path& runs_dir, const std::string& model,
                                      const Suite& suite, int max_tokens);

}  // namespace upskill
