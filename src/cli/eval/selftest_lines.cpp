// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/selftest_lines.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace upskill {
namespace {

using Cases = std::vector<CaseTruth>;

Cases EqualCases(int count, double without, double with) {
  Cases cases;
  cases.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) cases.push_back({without, with, i});
  return cases;
}

// Half of the cases go from `low` to `high`, the others back; the one left over stays between them.
Cases Cancelling(int count, double low, double high) {
  Cases cases;
  cases.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) cases.push_back(i % 2 == 0 ? CaseTruth{low, high, i} : CaseTruth{high, low, i});
  if (count % 2 != 0) cases.back() = {0.5 * (low + high), 0.5 * (low + high), count - 1};
  return cases;
}

// One case breaks; together the others gain as much.
Cases OneBreaks(int count) {
  if (count < 2) return EqualCases(count, 0.5, 0.5);
  constexpr double kLoss = 0.9;
  Cases cases = EqualCases(count, 0.1, 0.1 + kLoss / (count - 1));
  cases.front() = {kLoss, 0.0, 0};
  return cases;
}

// Cases of easy and hard inputs that the skill doesn't change.
Cases EasyAndHard(int count) {
  Cases cases;
  cases.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) cases.push_back(i % 2 == 0 ? CaseTruth{0.1, 0.1, i} : CaseTruth{0.9, 0.9, i});
  return cases;
}

// Each input stands three times in the suite.
Cases Thrice(int count) {
  Cases cases = EqualCases(count, 0.5, 0.5);
  for (int i = 0; i < count; ++i) cases[static_cast<std::size_t>(i)].input = i / 3;
  return cases;
}

// One input with ten cases, which break together; the others gain as much. Each input counts once.
Cases OneOfManyCopiesBreaks(int count) {
  constexpr int kCopies = 10;
  Cases cases = OneBreaks(count);
  if (count > 1) cases.insert(cases.begin(), kCopies - 1, cases.front());
  return cases;
}

// Cases drawn from many, of which half gain 40 points and half lose them.
Cases DrawnCases(int count, Rng& rng) {
  Cases cases;
  cases.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    cases.push_back(rng.Uniform() < 0.5 ? CaseTruth{0.3, 0.7, i} : CaseTruth{0.7, 0.3, i});
  }
  return cases;
}

SelftestLine Line(std::string name, std::function<Cases(Rng&)> draw) {
  SelftestLine line;
  line.name = std::move(name);
  line.draw = std::move(draw);
  return line;
}

SelftestLine Fixed(std::string name, Cases cases) {
  return Line(std::move(name), [cases = std::move(cases)](Rng&) { return cases; });
}

}  // namespace

double LiftOf(const std::vector<CaseTruth>& cases) {
  std::map<int, double> by_input;
  for (const CaseTruth& one : cases) by_input[one.input] = one.with - one.without;
  double sum = 0.0;
  for (const auto& [input, lift] : by_input) sum += lift;
  return sum / static_cast<double>(std::max<std::size_t>(by_input.size(), 1));
}

std::vector<SelftestLine> SelftestLines(int cases) {
  std::vector<SelftestLine> lines;
  lines.push_back(Fixed("10 → 10 %", EqualCases(cases, 0.1, 0.1)));
  lines.push_back(Fixed("50 → 50 %", EqualCases(cases, 0.5, 0.5)));
  lines.push_back(Fixed("easy and hard cases, no change", EasyAndHard(cases)));
  lines.push_back(Fixed("half 30 → 70 %, half 70 → 30 %", Cancelling(cases, 0.3, 0.7)));
  lines.push_back(Fixed("one case breaks, the others gain", OneBreaks(cases)));
  lines.push_back(Fixed("each input three times, 50 → 50 %", Thrice(cases)));
  lines.push_back(Fixed("one input of ten cases breaks, the others gain", OneOfManyCopiesBreaks(cases)));
  lines.push_back(Fixed("steady answers, half turn either way", Cancelling(cases, 0.03, 0.97)));
  lines.push_back(Fixed("fixed answers, half turn either way", Cancelling(cases, 0.0, 1.0)));
  lines.push_back(Fixed("30 → 30 %, 4 points more each round", EqualCases(cases, 0.3, 0.3)));
  lines.back().settings = ",drift=0.04";
  lines.push_back(Fixed("50 → 50 %, errors with the skill", EqualCases(cases, 0.5, 0.5)));
  lines.back().settings = ",skill-error=0.03";
  lines.push_back(Fixed("50 → 50 %, failures with it time out", EqualCases(cases, 0.5, 0.5)));
  lines.back().settings = ",lost=0.2";
  lines.push_back(Line("cases drawn from ±40 points", [cases](Rng& rng) { return DrawnCases(cases, rng); }));
  lines.back().new_cases = true;
  for (const int few : {1, 2, 3}) {
    lines.push_back(
        Fixed(few == 1 ? "1 case, 50 → 50 %" : std::to_string(few) + " cases, 50 → 50 %", EqualCases(few, 0.5, 0.5)));
  }
  lines.push_back(Fixed("100 cases, 50 → 50 %", EqualCases(100, 0.5, 0.5)));
  lines.back().runs_divisor = 5;
  lines.push_back(Fixed("10 students, 50 → 50 %", EqualCases(cases, 0.5, 0.5)));
  lines.back().students = 10;
  lines.back().runs_divisor = 5;
  lines.push_back(Fixed("50 → 30 %, margin 20", EqualCases(cases, 0.5, 0.3)));
  lines.back().margin = 0.2;
  lines.push_back(Fixed("90 → 90 %, margin 20", EqualCases(cases, 0.9, 0.9)));
  lines.back().margin = 0.2;
  lines.push_back(Fixed("40 → 65 %", EqualCases(cases, 0.4, 0.65)));
  lines.push_back(Fixed("40 → 85 %", EqualCases(cases, 0.4, 0.85)));
  lines.push_back(Fixed("80 → 50 %", EqualCases(cases, 0.8, 0.5)));
  return lines;
}

}  // namespace upskill
