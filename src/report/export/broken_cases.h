// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "eval/verdict/judged_run.h"

namespace upskill {

// A case that has lost at least half of its answers, compared with the previous version of the skill.
struct BrokenCase {
  std::string id;
  std::string before;  // "5/5"
  std::string after;
  std::string check;   // that failed first, and why
  std::string answer;  // which it failed; in full
};

// The largest loss first; at most `most`, and how many there are. None without a previous version.
struct BrokenCases {
  std::vector<BrokenCase> cases;
  std::size_t all = 0;
};
BrokenCases FindBrokenCases(const JudgedRun& run, std::size_t student, std::size_t most = 12);

}  // namespace upskill
