// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "check/check.h"
#include "eval/journal/sample.h"
#include "skill/suite.h"

namespace upskill {

// The checks of a case on samples: on the answer, and on the files where the model has worked in a workspace.
// Thread-safe.
class CellChecks {
 public:
  // The case outlives it; the arguments and errors are those of CaseChecks::Make.
  static Result<CellChecks> Make(const Case& test_case, const Sandbox& sandbox, bool has_judge);

  std::vector<CheckResult> Run(const Sample& sample, const StopFlag* stop = nullptr) const;
  // Given the sample's results.
  std::vector<AskedQuestion> QuestionsAbout(const Sample& sample) const;
  std::vector<CheckResult> RunJudged(const Sample& sample, const Judgments& judgments, const StopFlag* stop) const;

  // Why the sample's results don't decide: a check that runs something was skipped, and none failed; empty if they do.
  std::string WhyUndecided(const Sample& sample) const;

  bool executes() const { return checks_.executes(); }
  bool asks_judge() const { return checks_.asks_judge(); }

 private:
  CellChecks(const Case& test_case, CaseChecks checks) : case_(&test_case), checks_(std::move(checks)) {}

  const Case* case_;
  CaseChecks checks_;
};

}  // namespace upskill
