// SPDX-License-Identifier: Apache-2.0
#include "verdict_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "util/rng.h"

namespace upskill {
namespace {

constexpr std::size_t kKinds = 4;
constexpr std::size_t kParents = 8;
constexpr double kSmallestStep = 0.01;

// Kinds of cases, each with its share of the suite.
struct Mixture {
  struct Kind {
    double weight = 1.0;
    double without = 0.5;
    double with = 0.5;
  };
  std::vector<Kind> kinds;
};

struct Candidate {
  Mixture mixture;
  double value = 0.0;
};

// A normal variable, near enough.
double Normal(Rng& rng) {
  double sum = -6.0;
  for (int i = 0; i < 12; ++i) sum += rng.Uniform();
  return sum;
}

// Moves the rates with the skill so that the mean lift is as given: gains and losses are each scaled down as needed; if
// one of them is missing, every case moves the same share of the way to 1 or 0.
void ScaleTo(double lift, std::vector<CaseRates>& cases) {
  const auto n = static_cast<double>(cases.size());
  double gains = 0.0;
  double losses = 0.0;
  double room = 0.0;
  for (const CaseRates& one : cases) {
    (one.with > one.without ? gains : losses) += std::abs(one.with - one.without);
    room += lift >= 0.0 ? 1.0 - one.without : one.without;
  }
  const double wanted = lift * n;
  double keep_gains = 1.0;
  double keep_losses = 1.0;
  if (gains - losses > wanted) keep_gains = gains > 0.0 ? std::max(0.0, (wanted + losses) / gains) : 1.0;
  if (gains - losses < wanted) keep_losses = losses > 0.0 ? std::max(0.0, (gains - wanted) / losses) : 1.0;
  double now = 0.0;
  for (CaseRates& one : cases) {
    one.with = one.without + (one.with - one.without) * (one.with > one.without ? keep_gains : keep_losses);
    now += one.with - one.without;
  }
  const double missing = wanted - now;
  if (std::abs(missing) < 1e-12 || room <= 0.0) return;
  room = 0.0;
  for (const CaseRates& one : cases) room += missing > 0.0 ? 1.0 - one.with : one.with;
  if (room <= 0.0) return;
  const double share = std::min(1.0, std::abs(missing) / room);
  for (CaseRates& one : cases) one.with += missing > 0.0 ? share * (1.0 - one.with) : -share * one.with;
}

std::vector<CaseRates> CasesOf(const Mixture& mixture, const SearchSettings& settings) {
  double total = 0.0;
  for (const Mixture::Kind& kind : mixture.kinds) total += kind.weight;
  std::vector<CaseRates> cases;
  double upto = 0.0;
  for (const Mixture::Kind& kind : mixture.kinds) {
    upto += kind.weight / total * settings.cases;
    while (static_cast<double>(cases.size()) + 0.5 < upto) cases.push_back({kind.without, kind.with});
  }
  while (static_cast<int>(cases.size()) < settings.cases)
    cases.push_back({mixture.kinds.back().without, mixture.kinds.back().with});
  if (settings.lift) ScaleTo(*settings.lift, cases);
  return cases;
}

// Rates near 1 leave no room for a lift.
bool HasLift(const std::vector<CaseRates>& cases, const std::optional<double>& lift) {
  double sum = 0.0;
  for (const CaseRates& one : cases) sum += one.with - one.without;
  return !lift || std::abs(sum / static_cast<double>(cases.size()) - *lift) < 1e-9;
}

std::vector<Mixture> Beginnings(Rng& rng) {
  std::vector<Mixture> all;
  for (const double p : {0.02, 0.1, 0.3, 0.5, 0.9}) all.push_back({{{1, p, p}}});
  all.push_back({{{1, 0.02, 0.02}, {1, 0.98, 0.98}}});
  all.push_back({{{1, 0.3, 0.7}, {1, 0.7, 0.3}}});
  all.push_back({{{1, 0.0, 1.0}, {1, 1.0, 0.0}}});
  all.push_back({{{1, 0.9, 0.0}, {9, 0.0, 0.1}}});
  all.push_back({{{1, 0.0, 0.9}, {9, 0.1, 0.0}}});
  all.push_back({{{1, 1.0, 0.0}, {11, 0.4, 0.5}}});
  all.push_back({{{1, 0.4, 0.65}}});
  all.push_back({{{1, 0.02, 0.98}}});
  all.push_back({{{1, 0.0, 1.0}, {19, 0.02, 0.02}}});
  for (const double rare : {0.005, 0.03, 0.1}) all.push_back({{{1, 0.0, rare}}});
  for (int i = 0; i < 10; ++i) {
    Mixture mixture;
    const auto kinds = 1 + static_cast<std::size_t>(rng.Next() % kKinds);
    const auto rate = [&] { return i % 2 == 0 || rng.Uniform() < 0.4 ? rng.Uniform() : std::round(rng.Uniform()); };
    for (std::size_t k = 0; k < kinds; ++k) mixture.kinds.push_back({rng.Uniform(), rate(), rate()});
    all.push_back(mixture);
  }
  return all;
}

Mixture Changed(const Mixture& parent, double step, Rng& rng) {
  Mixture child = parent;
  const auto change = [&](double& value) {
    if (rng.Uniform() < 0.5) value = std::clamp(value + step * Normal(rng), 0.0, 1.0);
    if (rng.Uniform() < 0.04) value = std::round(value);
  };
  for (Mixture::Kind& kind : child.kinds) {
    change(kind.without);
    change(kind.with);
    kind.weight = std::max(0.01, kind.weight * std::exp(step * Normal(rng)));
  }
  if (child.kinds.size() < kKinds && rng.Uniform() < 0.15) child.kinds.push_back({0.2, rng.Uniform(), rng.Uniform()});
  if (child.kinds.size() > 1 && rng.Uniform() < 0.05) child.kinds.pop_back();
  return child;
}

}  // namespace

WorstSuite SearchWorst(const SearchSettings& settings, const Quantity& quantity) {
  Rng rng(settings.seed);
  std::vector<Candidate> pool;
  int left = settings.evaluations;
  const auto add = [&](const Mixture& mixture) {
    const std::vector<CaseRates> cases = CasesOf(mixture, settings);
    pool.push_back({mixture, HasLift(cases, settings.lift) ? quantity(cases) : -1.0});
    --left;
  };
  for (const Mixture& mixture : Beginnings(rng)) add(mixture);
  const auto better = [](const Candidate& a, const Candidate& b) { return a.value > b.value; };
  double step = 0.25;
  while (left > 0) {
    std::stable_sort(pool.begin(), pool.end(), better);
    if (pool.size() > kParents) pool.resize(kParents);
    for (std::size_t i = 0; i < kParents && left > 0; ++i) add(Changed(pool[i % pool.size()].mixture, step, rng));
    step = std::max(kSmallestStep, 0.85 * step);
  }
  const Candidate& worst = *std::min_element(pool.begin(), pool.end(), better);
  return {CasesOf(worst.mixture, settings), worst.value};
}

std::string SuiteText(const std::vector<CaseRates>& cases) {
  std::string text;
  for (std::size_t i = 0; i < cases.size();) {
    std::size_t end = i;
    while (end < cases.size() && cases[end].without == cases[i].without && cases[end].with == cases[i].with) ++end;
    text += fmt::format("{}{} × {:.2f}>{:.2f}", text.empty() ? "" : ", ", end - i, cases[i].without, cases[i].with);
    i = end;
  }
  return text;
}

}  // namespace upskill
