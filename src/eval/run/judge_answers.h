// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "check/check.h"
#include "check/suite_check.h"
#include "eval/journal/judgment_store.h"
#include "eval/journal/sample.h"
#include "eval/run/budget.h"
#include "model/model.h"
#include "util/clock.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// What a judge said of one answer, or why it said nothing.
struct JudgedAnswer {
  Judgments judgments;                 // by the question's number
  std::vector<StoredJudgment> stored;  // the same with their cost, in the order in which they came
  std::optional<Error> error;
};

struct JudgedAnswers {
  std::vector<JudgedAnswer> answers;  // in the order of the questions
  std::string exhausted;              // the limit or failure that ended it; empty: none
  std::optional<double> cost_usd;     // absent if that of an answer is unknown
  std::size_t known = 0;              // questions that `store` has answered
  std::string unsaved;                // why judgments were not stored; empty: all were
  bool interrupted = false;
};

// Asks the judge about answers outside of a run, several at a time. The cases outlive the call. `stop`, which may be
// null: 1 sends nothing more, 2 also cancels what is in flight. `store`, which may be null: what is in it isn't asked
// again, what the judge says is added. `progress`, which may be null, is called after each.
JudgedAnswers JudgeAnswers(Model& judge, const std::vector<AnswerToJudge>& answers, const RunLimits& limits,
                           const Clock& clock, const StopFlag* stop, JudgmentStore* store,
                           const std::function<void(std::size_t done)>& progress);

}  // namespace upskill
