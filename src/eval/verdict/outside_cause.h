// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "eval/journal/run_data.h"

namespace upskill {

// Why most failed answers of some cases failed, where that may not be the model's fault.
struct OutsideCause {
  std::string cause;               // "the checks found no file ready.py"
  std::string cure;                // what to change
  std::vector<std::string> cases;  // their ids, in the order of the suite
};

// Of the answers with the skill, or else of all: a check found no file though the answer has code, what runs the answer
// can't import or open the file that it should have (where an answer was cut off, that is the cause), or a time limit
// ended a check. A cause counts if at least two
// answers, and more than half of those that failed, have it. Looks at a few failed answers of each case.
std::vector<OutsideCause> FindOutsideCauses(const RunData& data);

}  // namespace upskill
