// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "stats/interval.h"

namespace upskill {

// An estimate of the lift that allows for stopping early because it was large.
struct StageWiseEstimate {
  double lift = 0.0;       // median-unbiased
  Interval interval;       // the same at both ends of the confidence level
  std::size_t rounds = 0;  // until the end of the sequence; the estimate knows nothing of later ones
};

// `rounds`: the change of each unit in each round of a sign-flip sequence; `critical`: its critical values. It ended
// when it rejected, on either side, or else after the last of these rounds. Of two ends, the one that rejects after
// fewer rounds is more extreme, then the one with the larger sum (D. Siegmund, Biometrika 65 (1978) 341; A. A. Tsiatis,
// G. L. Rosner and C. R. Mehta, Biometrics 40 (1984) 797). Given the absolute values, each unit that differs is taken
// to go up with the same probability; of the sum that was seen, half the probability counts for the estimate. Changes
// that aren't whole are rounded to twelfths.
//
// Nothing without units that differ, or with more than 4,000 of them (333 with changes that aren't whole): then the
// bias is a small part of a point.
std::optional<StageWiseEstimate> StageWiseLift(const std::vector<std::vector<double>>& rounds,
                                               const std::vector<std::int64_t>& critical, std::size_t units_per_round,
                                               double confidence = 0.95);

}  // namespace upskill
