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

// What earlier runs tell of a student, for planning. Means are over its answers to the suite's cases in all arms.
struct KnownStudent {
  std::size_t answers = 0;
  double prompt_tokens = 0.0;
  double output_tokens = 0.0;
  double seconds = 0.0;
  std::optional<double> usd;  // of an answer; absent while one has no known cost
  std::size_t baseline_answers = 0;
  double baseline_rate = 0.0;
  // By case: its pass rate without the skill, drawn towards the mean of all cases (one answer's worth), since few
  // answers say little of one case. Empty without baseline answers.
  std::vector<double> baseline;
};

// Looks through the runs below `runs_dir` for the student with this model string and the suite's cases (told by their
// inputs). Runs that can't be read are left out.
Result<KnownStudent> FindKnownStudent(const std::filesystem::path& runs_dir, const std::string& model,
                                      const Suite& suite);

}  // namespace upskill
