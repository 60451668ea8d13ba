// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/judge_estimate.h"

#include <vector>

#include "check/check.h"
#include "cli/env/model_costs.h"
#include "eval/run/judge_prompt.h"
#include "model/model_spec.h"
#include "util/tokens.h"

namespace upskill {
namespace {

constexpr double kVerdictTokens = 200.0;  // of a judge's answer, without reasoning

}  // namespace

Result<JudgeEstimate> EstimateJudge(const std::string& judge_model, const Suite& suite, const Catalog& catalog,
                                    double answer_tokens) {
  ASSIGN_OR_RETURN(const ModelSpec spec, ParseModelSpec(judge_model, {&catalog, false}));
  JudgeEstimate estimate;
  estimate.local = RunsInProcess(spec);
  double prompt = 0.0;
  for (const Case& test_case : suite.cases) {
    ASSIGN_OR_RETURN(const CaseChecks checks, CaseChecks::Make(test_case, DefaultSandbox(), true));
    for (const AskedQuestion& asked : checks.QuestionsAbout("an answer", checks.Waiting())) {
      const ChatRequest request = JudgeRequest(test_case, asked);
      prompt += static_cast<double>(EstimateTokens(request.system) + EstimateTokens(request.messages.front().text)) +
                answer_tokens;
      estimate.requests += 1.0;
    }
  }
  const auto cases = static_cast<double>(suite.cases.size());
  prompt /= cases;
  estimate.requests /= cases;
  const double output = estimate.requests * kVerdictTokens;
  estimate.tokens = prompt + output;
  if (const std::optional<Price> price = catalog.PriceOf(spec.provider, PricedName(spec));
      !RunsInProcess(spec) && price)
    estimate.usd = (prompt * price->input + output * price->output) / 1e6;
  return estimate;
}

}  // namespace upskill
