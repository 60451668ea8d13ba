// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace upskill {

// Two-sided critical values: the fraction `confidence`, in (0, 1), of the distribution is within ± the value.
double NormalCritical(double confidence);
double StudentCritical(double confidence, double degrees);  // degrees > 0

// A sum of changes varies by this and z²/2 more than was seen, z being the critical value, because changes may be too
// rare to have been seen. Chosen by simulation (docs/contrasts.md, docs/verdicts.md).
inline constexpr double kUnseenVariance = 1.5;

}  // namespace upskill
