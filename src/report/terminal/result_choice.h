// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "eval/verdict/judged_run.h"

namespace upskill {

// ResultSentences (result_sentence.h) of a run of several models, at least one of which answered: the best value where
// one is shown, else which models the skill helps.
std::vector<std::string> ResultOfSeveral(const JudgedRun& run);

}  // namespace upskill
