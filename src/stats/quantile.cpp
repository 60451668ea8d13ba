// SPDX-License-Identifier: Apache-2.0
#include "stats/quantile.h"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace upskill {

double NormalCritical(double confidence) {
  return boost::math::quantile(boost::math::complement(boost::math::normal(), 0.5 * (1.0 - confidence)));
}

double StudentCritical(double confidence, double degrees) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(degrees), 0.5 * (1.0 - confidence)));
}

}  // namespace upskill
