// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "check/check.h"
#include "eval/verdict/judged_run.h"
#include "report/html/html_data.h"

namespace upskill {

// All sets of check results, equal ones once, as a JSON array.
class CheckSets {
 public:
  explicit CheckSets(TextTable& texts) : texts_(&texts) {}

  int Add(const std::vector<CheckResult>& checks);  // −1 for none

  std::string json() const { return json_ + "]"; }
  std::size_t bytes() const { return json_.size(); }

 private:
  TextTable* texts_;
  std::unordered_map<std::string, int> numbers_;
  std::string json_ = "[";
};

// The samples of a run for a page: a JSON array for each of their properties.
struct PageSamples {
  std::string json;
  std::size_t shown = 0;
  std::size_t bytes = 0;  // with what they added to texts and checks
};

// All of them if they take at most about `room` bytes; else as many as fit, round by round, so that each case has some.
PageSamples SamplesOfPage(const JudgedRun& run, TextTable& texts, CheckSets& checks, std::size_t room);

}  // namespace upskill
