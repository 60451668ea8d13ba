// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "eval/journal/run_data.h"
#include "eval/plan/plan.h"
#include "stats/interval.h"
#include "stats/pass_at_k.h"

namespace upskill {

// The lift over some of the cases, with 95 % intervals, each by itself.
struct GroupLift {
  std::size_t cases = 0;  // that count
  std::optional<double> lift;
  std::optional<Interval> interval;   // for these cases
  bool interval_is_sequence = false;  // valid at every look (RoundsMayDependOnAnswers)
  std::optional<Interval> new_cases;  // for new cases like these; cases from one source count as one
};

struct TagLift {
  std::string tag;
  GroupLift group;
};

// The chance that at least one of k answers to a case passes, and that all do; means over cases.
struct PassOfK {
  std::int64_t k = 1;
  CaseMean any;
  CaseMean all;
};

// Whether pass rates changed while the run went on: p-values of DriftTest.
struct Drift {
  std::map<Arm, double> by_arm;
  double p = 1.0;  // the smallest one times the number of arms
  bool is_significant() const;
};

// What a run shows about single cases and groups of them, for one student. Computed from the rounds and cases that its
// verdict rests on, apart from `pass_of_k`, which takes all answers.
struct CaseFindings {
  std::vector<std::string> fixed;   // cases that fail mostly without the skill and pass mostly with it
  std::vector<std::string> broken;  // the reverse
  std::vector<TagLift> tags;        // in the order in which the suite names them
  std::vector<TagLift> grounds;     // cases of each of kCaseCheckKinds that there are, if they are of several
  std::map<Arm, std::vector<PassOfK>> pass_of_k;
  std::optional<Drift> drift;   // absent with fewer than two rounds
  std::size_t train_cases = 0;  // of the run's cases: used to write the skill (Split::kTrain)
  GroupLift others;             // than those; set if train_cases > 0
};

// `against`: as for JudgeRun.
std::vector<CaseFindings> FindCaseFindings(const RunData& data, Arm against);

// The values of k for which pass@k is computed from n answers: 1, 2, 3, 5, 10, …, and n itself.
std::vector<std::int64_t> KsUpTo(std::int64_t n);

}  // namespace upskill
