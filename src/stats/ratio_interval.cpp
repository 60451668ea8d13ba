// SPDX-License-Identifier: Apache-2.0
#include "stats/ratio_interval.h"

#include <algorithm>
#include <cmath>

#include "stats/quantile.h"

namespace upskill {

std::optional<Interval> RatioInterval(const std::vector<double>& a, const std::vector<double>& b, double confidence) {
  if (a.size() < 2 || a.size() != b.size()) return std::nullopt;
  const auto n = static_cast<double>(a.size());
  double mean_a = 0.0;
  double mean_b = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    mean_a += a[i] / n;
    mean_b += b[i] / n;
  }
  if (mean_b <= 0.0) return std::nullopt;
  double aa = 0.0;  // of the means: variances and covariance
  double bb = 0.0;
  double ab = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
    ab += (a[i] - mean_a) * (b[i] - mean_b);
  }
  const double critical = StudentCritical(confidence, n - 1.0);
  const double scale = critical * critical / (n * (n - 1.0));
  // The roots of q2·r² − 2·q1·r + q0.
  const double q2 = mean_b * mean_b - scale * bb;
  const double q1 = mean_a * mean_b - scale * ab;
  const double q0 = mean_a * mean_a - scale * aa;
  if (q2 <= 0.0) return std::nullopt;
  const double root = std::sqrt(std::max(0.0, q1 * q1 - q0 * q2));
  return Interval{(q1 - root) / q2, (q1 + root) / q2};
}

}  // namespace upskill
