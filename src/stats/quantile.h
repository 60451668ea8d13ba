// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace upskill {

// Two-sided critical values: `confidence` of the distribution lies within ± the value. Confidence in (0, 1).
double NormalCritical(double confidence);
double StudentCritical(double confidence, double degrees);  // degrees > 0

}  // namespace upskill
