// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace upskill {

// The rounds in which a case passed, in order.
using CaseSeries = std::vector<bool>;

// Test whether pass rates change over the rounds, in either direction: the two-sided p-value of the linear trend over
// rounds, stratified by case (the Cochran–Armitage trend, N. Mantel, JASA 58 (1963) 690). If the rounds of a case are
// exchangeable, the numbers of the rounds that it passed are a random subset, so that their sum has the distribution of
// Wilcoxon's rank sum (Biometrics Bulletin 1 (1945) 80) and the sum over cases its convolution. It is exact up to 10^7
// steps; beyond, the normal approximation with continuity correction is used.
//
// 1 if nothing can be said: fewer than two rounds, or no case whose outcomes differ.
double DriftTest(const std::vector<CaseSeries>& cases);

}  // namespace upskill
