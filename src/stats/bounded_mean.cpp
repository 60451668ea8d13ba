// SPDX-License-Identifier: Apache-2.0
#include "stats/bounded_mean.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace upskill {
namespace {

// P(Σ Eᵢ yᵢ <= 0) for independent standard exponential variables Eᵢ, by inversion of the characteristic function
// Π 1/(1 − i t yᵢ) (J. Gil-Pelaez, Biometrika 38 (1951) 481). With t = exp(v), the integrand is analytic for |Im v| <
// π/2, so that the trapezoidal rule converges geometrically; many weights need smaller steps.
double ProbabilityNotPositive(const std::vector<double>& weights) {
  constexpr double kRange = 36.0;       // exp(−36) is negligible
  constexpr double kNegligible = 1e36;  // the inverse of such a value, squared, too
  const double step = std::min(0.2, 0.75 / std::sqrt(static_cast<double>(weights.size())));
  const int steps = static_cast<int>(std::ceil(kRange / step));
  double sum = 0.0;
  for (int i = -steps; i <= steps; ++i) {
    const double t = std::exp(i * step);
    double real = 1.0;  // of the product of 1 − i t yᵢ
    double imaginary = 0.0;
    for (const double weight : weights) {
      const double slope = t * weight;
      const double next = real + imaginary * slope;
      imaginary -= real * slope;
      real = next;
      if (std::abs(real) + std::abs(imaginary) > kNegligible) break;
    }
    sum -= imaginary / (real * real + imaginary * imaginary);
  }
  return 0.5 - sum * step / std::numbers::pi;
}

}  // namespace

double BoundedMeanTest(const std::vector<double>& values, double mean) {
  if (values.empty()) return 1.0;
  if (mean <= -1.0) return 0.0;
  std::vector<double> weights = {-1.0 - mean};
  for (const double value : values) weights.push_back(value - mean);
  return std::clamp(ProbabilityNotPositive(weights), 0.0, 1.0);
}

}  // namespace upskill
