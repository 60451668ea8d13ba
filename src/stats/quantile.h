// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace upskill {

// Two-sided critical values: the fraction `confidence`, in (0, 1), of the distribution is within ± the value.
double NormalCritical(double confidence);
double StudentCritical(double confidence, double degrees);  // degrees > 0

}  // namespace upskill
