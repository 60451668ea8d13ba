// SPDX-License-Identifier: Apache-2.0
#include "stats/exact_rate.h"

#include <boost/math/distributions/binomial.hpp>

namespace upskill {

Interval ExactRateInterval(std::int64_t passed, std::int64_t total, double confidence) {
  return EffectiveRateInterval(static_cast<double>(passed), static_cast<double>(total), confidence);
}

Interval EffectiveRateInterval(double passed, double total, double confidence) {
  if (total <= 0.0) return {0.0, 1.0};
  using Binomial = boost::math::binomial;
  const double alpha = 0.5 * (1.0 - confidence);
  return {passed <= 0.0 ? 0.0 : Binomial::find_lower_bound_on_p(total, passed, alpha),
          passed >= total ? 1.0 : Binomial::find_upper_bound_on_p(total, passed, alpha)};
}

}  // namespace upskill
