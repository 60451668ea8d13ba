// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eval/verdict/judged_run.h"

namespace upskill {

// Parts of the sentences of result_sentence.h.

// "7 of 16"
std::string PassedOf(const ArmSummary& arm);

// "free", "$0.0014 an answer"; "" where the cost isn't known.
std::string AnswerCostText(const JudgedRun& run, std::size_t student, const ArmSummary& arm);

// "6 rounds (48 answers, $0.07)": of one student, or of all if none is named.
std::string RoundsToAsk(const JudgedRun& run, int rounds, std::optional<std::size_t> student);

// "haiku, kimi and opus"; of many the first ones and how many more.
std::string NamesText(const std::vector<std::string>& names);

// A message as a part of a sentence: one line, not too long, without a full stop.
std::string CauseText(std::string_view message);

// Why the verdict on a student is undecided, as the end of a sentence; "" if more rounds would tell (MoreRoundsText),
// or nothing is known of how many would.
std::string ObstacleText(const JudgedRun& run, std::size_t student);

}  // namespace upskill
