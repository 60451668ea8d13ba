// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/check.h"
#include "eval/journal/judgment_store.h"
#include "eval/journal/run_data.h"
#include "eval/journal/sample.h"
#include "eval/run/budget.h"
#include "model/model.h"
#include "skill/suite.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// An answer that people have labelled as meeting a rubric or not.
struct LabelledAnswer {
  Case test_case;       // its request and reference
  AskedQuestion asked;  // the rubric and the answer
  // By rater, in the order of LabelSet::raters; nothing where a rater gave no label.
  std::vector<std::optional<bool>> labels;
  std::string run;  // that it is from; empty: not known
  // How often it occurred there, once counted (CountOccurrences).
  int with_skill = 0;
  int without_skill = 0;  // in any other arm

  // What it weighs: 1 where that wasn't counted.
  double times() const { return std::max(1, with_skill + without_skill); }
  // What most raters say; nothing if they are divided, or gave no label.
  std::optional<bool> people() const;
};

struct LabelSet {
  std::vector<std::string> raters;
  std::vector<LabelledAnswer> answers;
  std::size_t unlabelled = 0;         // answers without any label, which are left out
  std::vector<std::string> warnings;  // repeated answers, misspelt keys
};

inline constexpr std::size_t kMaxLabelledAnswers = 20'000;

// One object per line: "input", "answer", "rubric", "reference" (optional) and "label" (true, false, "pass", "fail" or
// null), or "labels", an object with the label of each rater. Lines about the same answer are one answer, so that no
// label counts twice. Blank lines are skipped, other keys ignored. Errors name file and line, also two labels of one
// rater for the same answer that differ.
Result<LabelSet> ParseLabels(std::string_view text, const std::string& source);

// Lines to be labelled, from the judged answers of a run: each once, without the student's name or its arm, in an order
// that tells nothing of them.
std::vector<Json> LabelSheet(const RunData& data);

// Counts how often the answers of this run occurred in it: a judge's errors on a frequent answer make more of a lift.
void CountOccurrences(const RunData& data, LabelSet& set);

struct JudgedLabels {
  std::vector<StoredJudgment> judgments;     // in the set's order; with an empty key where there is an error
  std::vector<std::optional<Error>> errors;  // the same
  std::string exhausted;                     // the limit or failure that ended it; empty: none
  std::optional<double> cost_usd;            // absent if that of an answer is unknown
  std::size_t known = 0;                     // answers whose judgment was stored before
  std::string unsaved;                       // why judgments were not stored; empty: all were
  bool interrupted = false;
};

// Asks the judge about every answer (JudgeAnswers).
JudgedLabels JudgeLabels(Model& judge, const LabelSet& set, const RunLimits& limits, const Clock& clock,
                         const StopFlag* stop, JudgmentStore* store,
                         const std::function<void(std::size_t done)>& progress);

}  // namespace upskill
