// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "check/check.h"
#include "check/judge_check.h"
#include "model/chat.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// Maximum tokens of a judge's answer, its reasoning included.
inline constexpr int kMaxJudgeTokens = 4096;

// What a judge is asked about one answer: the case's request, its reference, the rubric and the text to be judged.
// Nothing in it depends on the student, the arm or the skill.
ChatRequest JudgeRequest(const Case& test_case, const AskedQuestion& asked);

// SHA-256 of what determines the judge's answer to this request.
std::string JudgmentKey(const std::string& judge_identity, const ChatRequest& request);

// SHA-256 of the prompts that judges get: a judge that was checked with others wasn't checked.
std::string JudgePromptsHash();

// Reads an answer that is one JSON object of the schema, at most after reasoning in <think> and in one fence: an object
// among other text may be one that the judged answer contains. Errors (kInput) describe what is wrong to the judge,
// also a verdict stated twice, a quote that isn't in the texts, and no quote of a rubric that is met.
Result<Judgment> ReadJudgment(const AskedQuestion& asked, std::string_view answer);

}  // namespace upskill
