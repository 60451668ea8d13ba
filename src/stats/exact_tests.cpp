// SPDX-License-Identifier: Apache-2.0
#include "stats/exact_tests.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstdlib>

namespace upskill {
namespace {

constexpr std::int64_t kMaxSteps = 10'000'000;

}  // namespace

double SignTest(std::int64_t wins, std::int64_t losses) {
  if (wins <= 0) return 1.0;
  const boost::math::binomial coins(static_cast<double>(wins + losses), 0.5);
  return boost::math::cdf(boost::math::complement(coins, static_cast<double>(wins - 1)));
}

std::optional<double> SignFlipTest(const std::vector<std::int64_t>& sums) {
  std::int64_t reach = 0;
  std::int64_t observed = 0;
  for (const std::int64_t sum : sums) {
    if (std::abs(sum) > kMaxSteps) return std::nullopt;
    reach += std::abs(sum);
    observed += sum;
    if (reach > kMaxSteps) return std::nullopt;
  }
  if (reach * static_cast<std::int64_t>(sums.size()) > kMaxSteps) return std::nullopt;
  // chance[s]: probability that the cases with a positive sign add up to s, so that the signed sum is 2s − reach.
  std::vector<double> chance(static_cast<std::size_t>(reach) + 1, 0.0);
  chance[0] = 1.0;
  std::size_t top = 0;
  for (const std::int64_t sum : sums) {
    const auto step = static_cast<std::size_t>(std::abs(sum));
    if (step == 0) continue;
    for (std::size_t s = top + step + 1; s-- > 0;) {
      const double kept = s <= top ? chance[s] : 0.0;
      const double moved = s >= step ? chance[s - step] : 0.0;
      chance[s] = 0.5 * (kept + moved);
    }
    top += step;
  }
  double p = 0.0;
  for (std::size_t s = 0; s <= top; ++s) {
    if (2 * static_cast<std::int64_t>(s) - reach >= observed) p += chance[s];
  }
  return std::min(1.0, p);
}

}  // namespace upskill
