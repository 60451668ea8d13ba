// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/check.h"
#include "check/judge_check.h"
#include "eval/plan/plan.h"
#include "model/chat.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// A judge's word on a question about an answer, with what it cost.
struct StoredJudgment {
  std::string key;  // JudgmentKey
  Judgment judgment;
  Usage usage;
  std::optional<double> cost_usd;  // absent: unknown, or a local model
  double seconds = 0.0;
};

Json JudgmentToJson(const StoredJudgment& stored);
// Errors: a missing or wrong field.
Result<StoredJudgment> JudgmentFromJson(const Json& json);

// The stored result of one attempt at a cell: an answer with its checks, or an error. One line of samples.jsonl.
struct Sample {
  std::string key;      // of the cell
  std::string student;  // Student::spec
  Arm arm = Arm::kBaseline;
  std::string case_id;
  int round = 0;
  int attempt = 0;          // 0: the first
  std::string time;         // UTC
  std::string cached_from;  // the run that the answer comes from; empty: the model gave it in this run
  // Of an answer from another run: the causes of the attempts at it that had failed there.
  std::vector<ErrorCause> failed_before;

  // Either an error …
  std::optional<Error> error;
  bool keeps_answer = false;  // of an error: `response` is an answer that couldn't be checked; it needn't be paid again
  bool will_retry = false;    // another attempt at the cell was scheduled, so this error is not its result
  // … or an answer. Refusals and truncated answers count as answers.
  ChatResponse response;
  std::size_t cut_from = 0;  // bytes of the answer before CutAnswer cut it; 0: it is whole
  std::vector<CheckResult> checks;
  std::vector<StoredJudgment> judgments;  // of the judge, for checks that ask it

  bool ok() const { return !error.has_value(); }
  bool passed() const { return ok() && AllPass(checks); }
};

// Whether the answer says how many tokens it took. Commands and people mostly don't: all counts are 0 then.
inline bool ReportsTokens(const Sample& sample) {
  return sample.response.usage.prompt() > 0 || sample.response.usage.output > 0;
}

// The cell of a plan that a sample belongs to: student, arm, case and round in one text. (Keys don't identify cells:
// two cases with the same input have the same key.)
std::string CellName(const Sample& sample);

// The longest answer and reasoning that are stored. A line of the journal has up to six bytes for each of theirs.
inline constexpr std::size_t kMaxAnswerBytes = std::size_t{8} << 20U;
inline constexpr std::size_t kMaxReasoningBytes = std::size_t{2} << 20U;

// The sample with its answer and reasoning in valid UTF-8 and cut to these sizes. Before its checks run: they must see
// what is stored, because they run on it again.
Sample CutAnswer(Sample sample);

// An answer of which the checks run again: the sample without their results, and without the error that kept it from
// being checked.
Sample ToCheckAgain(Sample sample);

inline constexpr int kSampleSchema = 1;

Json SampleToJson(const Sample& sample);
// Unknown fields are skipped; a newer schema or a missing required field is an error.
Result<Sample> SampleFromJson(const Json& json);

}  // namespace upskill
