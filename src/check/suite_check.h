// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "check/check.h"
#include "check/suite_answers.h"
#include "sandbox/sandbox.h"
#include "skill/suite.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// What the checks of a case say of one answer of its author.
struct AnswerReport {
  enum class Word { kAsExpected, kNotAsExpected, kNotChecked };
  std::string name;
  bool right = true;  // it should pass
  Word word = Word::kNotChecked;
  std::string problem;               // of kNotAsExpected
  std::vector<CheckResult> results;  // in the case's order
  double seconds = 0.0;
};

struct CaseReport {
  std::string id;
  std::vector<AnswerReport> answers;
  std::vector<std::string> skipped;     // "NAME: why", each once
  std::vector<std::string> weaknesses;  // with SuiteCheckOptions::lint
  double seconds = 0.0;
  bool HasProblem() const;
};

struct SuiteReport {
  std::vector<CaseReport> cases;
  bool interrupted = false;
};

// An answer that only a judge can decide about. The case outlives it.
struct AnswerToJudge {
  const Case* test_case = nullptr;
  std::vector<AskedQuestion> questions;
};

// Asks a judge. One result for each answer, in order: its judgments, or why there are none.
using AskJudge = std::function<std::vector<Result<Judgments>>(const std::vector<AnswerToJudge>&)>;

struct SuiteCheckOptions {
  bool lint = false;
  std::size_t workers = 1;
  const Sandbox* sandbox = &DefaultSandbox();
  const StopFlag* stop = nullptr;  // greater than 0 ends the commands that are running, too
  // After each answer, on the thread that called.
  std::function<void(std::size_t done, std::size_t total)> progress;
  AskJudge judge;  // null: checks that ask a judge are skipped
};

// Runs the checks of a suite on answers that its author has written: right ones must pass, wrong ones must fail, in the
// way that they state. An answer is not checked if its outcome depends on a check that was skipped. Answers whose other
// checks pass are judged at the end.
// Errors: those of CaseChecks::Make.
Result<SuiteReport> CheckSuite(const Suite& suite, const std::vector<AnswersOfCase>& answers,
                               const SuiteCheckOptions& options);

}  // namespace upskill
