// SPDX-License-Identifier: Apache-2.0
#include "stats/e_process.h"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cfloat>
#include <cmath>

namespace upskill {
namespace {

constexpr double kNegligible = 45.0;  // e^-45 of the largest value adds nothing to a double
constexpr double kEdge = 1e-9;        // margins this close to ±1 count as ±1

// Logarithm of the wealth as a function of u in [0, 1], which is concave, and its derivatives.
class LogWealth {
 public:
  LogWealth(const UnitCounts& counts, double margin) {
    const double scale = 1.0 / (1.0 + margin);
    for (const UnitCounts::Entry& entry : counts.entries()) {
      const bool ruin = entry.sum == -entry.size;
      const double gain = ruin ? -1.0 : (entry.change() - margin) * scale;
      if (gain != 0.0) factors_.push_back({gain, entry.count});
      can_ruin_ = can_ruin_ || ruin;
    }
  }

  double operator()(double u) const {
    double sum = 0.0;
    for (const Factor& factor : factors_) sum += factor.count * std::log1p(u * factor.gain);
    return sum;
  }

  double Slope(double u) const {
    double slope = 0.0;
    for (const Factor& factor : factors_) slope += factor.count * factor.gain / (1.0 + u * factor.gain);
    return slope;
  }

  // Distance from u over which it falls by about 1.
  double Scale(double u) const {
    double bend = 0.0;
    for (const Factor& factor : factors_) {
      const double part = factor.gain / (1.0 + u * factor.gain);
      bend += factor.count * part * part;
    }
    return 1.0 / std::max({std::sqrt(bend), std::abs(Slope(u)), 1.0});
  }

  double Peak() const {
    if (Slope(0.0) <= 0.0) return 0.0;
    if (!can_ruin_ && Slope(1.0) >= 0.0) return 1.0;
    double low = 0.0;
    double high = 1.0;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      (Slope(middle) > 0.0 ? low : high) = middle;
    }
    return low;
  }

 private:
  struct Factor {
    double gain = 0.0;  // a unit multiplies the wealth by 1 + u·gain
    double count = 0.0;
  };
  std::vector<Factor> factors_;
  bool can_ruin_ = false;  // a factor is 0 at u = 1
};

// ∫ of exp(f − f(peak)) from the peak to `end`, over panels that double in width: f falls by about 1 in the first.
double Side(const LogWealth& f, double peak, double end) {
  const double top = f(peak);
  const double direction = end < peak ? -1.0 : 1.0;
  const auto value = [&](double u) { return std::exp(f(u) - top); };
  double sum = 0.0;
  double from = peak;
  double width = f.Scale(peak);
  while (from != end) {
    const double to = std::abs(end - from) <= width ? end : from + direction * width;
    sum += boost::math::quadrature::gauss<double, 15>::integrate(value, std::min(from, to), std::max(from, to));
    if (f(to) - top < -kNegligible) break;
    from = to;
    width *= 2.0;
  }
  return sum;
}

// The largest margin in [low, 1) that the evidence rules out; `low` if there is none.
double LargestRuledOut(const UnitCounts& totals, double low, double threshold) {
  const double start = std::max(low, kEdge - 1.0);
  if (LogEvidence(totals, start) < threshold) return low;
  double out = start;
  double kept = std::max(start, totals.lift());  // no evidence builds up against margins at or above the estimate
  if (LogEvidence(totals, kept) >= threshold) kept = 1.0 - kEdge;
  while (kept - out > 1e-5) {
    const double middle = 0.5 * (out + kept);
    (LogEvidence(totals, middle) >= threshold ? out : kept) = middle;
  }
  return out;
}

}  // namespace

double LogEvidence(const PairCounts& counts, double margin) { return LogEvidence(UnitCounts(counts), margin); }

double LogEvidence(const UnitCounts& counts, double margin) {
  const LogWealth f(counts, std::clamp(margin, kEdge - 1.0, 1.0 - kEdge));
  const double peak = f.Peak();
  return f(peak) + std::log(Side(f, peak, 0.0) + Side(f, peak, 1.0));
}

double EValue(double logarithm) { return std::min(DBL_MAX, std::exp(logarithm)); }

double Evidence(const PairCounts& counts, double margin) { return EValue(LogEvidence(counts, margin)); }

LiftSequence::LiftSequence(double alpha) : threshold_(std::log(2.0 / alpha)) {}

void LiftSequence::Add(const UnitCounts& totals) {
  if (totals.units() <= 0.0) return;
  low_ = LargestRuledOut(totals, low_, threshold_);
  high_ = -LargestRuledOut(totals.Mirrored(), -high_, threshold_);
}

Interval LiftSequence::RangeWith(const UnitCounts& totals) const {
  if (totals.units() <= 0.0 || (totals.lift() >= low_ && totals.lift() <= high_)) return range();
  LiftSequence together = *this;
  together.low_ = -1.0;
  together.high_ = 1.0;
  together.Add(totals);
  return together.range();
}

}  // namespace upskill
