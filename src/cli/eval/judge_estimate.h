// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "model/catalog.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// What a judge adds to each answer of a suite's cases, on average, if every answer is judged.
struct JudgeEstimate {
  double requests = 0.0;
  double tokens = 0.0;
  std::optional<double> usd;  // absent: the price is unknown
  bool local = false;         // in process: free
};

// `answer_tokens`: of a student's answer.
Result<JudgeEstimate> EstimateJudge(const std::string& judge_model, const Suite& suite, const Catalog& catalog,
                                    double answer_tokens);

}  // namespace upskill
