// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

class CaseParts;
class Check;

// What a judge is asked about an answer.
struct JudgeQuestion {
  enum class Kind {
    kRubric,          // whether the answer meets the rubric
    kAnswerFirst,     // which of two texts meets it better, the answer or the reference
    kReferenceFirst,  // the same in the other order, because judges favour a place
  };
  Kind kind = Kind::kRubric;
  std::string rubric;
  std::string file;  // the file of the answer to judge; empty: the answer, or its output_file
  bool operator==(const JudgeQuestion& other) const = default;
};

// Journaled by name (JudgeWordName): never rename.
enum class JudgeWord { kMet, kNotMet, kAnswerBetter, kReferenceBetter, kEqual };

const char* JudgeWordName(JudgeWord word);
Result<JudgeWord> JudgeWordFromName(std::string_view name);

// A judge's answer to one question.
struct Judgment {
  JudgeWord word = JudgeWord::kNotMet;
  std::string reason;
  std::vector<std::string> quotes;  // of the text that was judged
};

// Longer texts fail without being judged.
inline constexpr std::size_t kMaxJudgedBytes = std::size_t{256} << 10U;

// `judge`: a model with a rubric, which sees the case's request and the answer, and neither arm nor skill. Passes if
// the rubric is met; with `"against": "reference"`, if the answer is at least as good as the reference, where both are
// shown twice, in both orders, and contradicting words count as equal. Fails without being judged if there is nothing
// to judge. Skipped while the judge hasn't said its word (CaseChecks::RunJudged). Errors: no rubric, another `against`,
// no reference to compare with.
Result<std::unique_ptr<Check>> MakeJudge(const CheckSpec& spec, CaseParts& parts);

}  // namespace upskill
