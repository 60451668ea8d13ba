// SPDX-License-Identifier: Apache-2.0
#include "teach/case_split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "teach/write_cases.h"

namespace upskill {

void TakeSplits(const std::vector<Case>& earlier, std::vector<Case>& cases) {
  std::map<std::string, Split> known;
  for (const Case& one : earlier) {
    if (one.split == Split::kUnknown) continue;
    Split& split = known.emplace(NormalInput(one.input), one.split).first->second;
    if (one.split == Split::kTrain) split = Split::kTrain;
  }
  for (Case& one : cases) {
    if (one.split != Split::kUnknown) continue;
    const auto found = known.find(NormalInput(one.input));
    if (found != known.end()) one.split = found->second;
  }
}

std::vector<std::size_t> TestCases(const std::vector<Case>& cases, double holdout, std::uint64_t seed) {
  std::vector<std::size_t> test;
  std::vector<std::size_t> open;
  std::vector<Case> unmarked;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].split == Split::kTest) test.push_back(i);
    if (cases[i].split != Split::kUnknown) continue;
    open.push_back(i);
    unmarked.push_back(cases[i]);
  }
  if (open.size() == cases.size()) return HeldOut(cases, holdout, seed);
  const auto wanted =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(holdout * static_cast<double>(cases.size()))));
  const std::size_t missing = std::min(open.size(), wanted - std::min(wanted, test.size()));
  if (missing == open.size()) {
    test.insert(test.end(), open.begin(), open.end());
  } else if (missing > 0) {
    const double share = static_cast<double>(missing) / static_cast<double>(open.size());
    for (const std::size_t i : HeldOut(unmarked, share, seed)) test.push_back(open[i]);
  }
  std::sort(test.begin(), test.end());
  return test;
}

}  // namespace upskill
