// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "check/check.h"
#include "cuda/checks/cuda_run_spec.h"
#include "cuda/checks/cuda_run_trials.h"
#include "cuda/device/device_report.h"

namespace upskill {

// Whether a report fulfils what the check states: pass, fail with the first problem, or skip if something can't be run
// here. `inputs` with what is expected.
CheckResult JudgeRun(const CudaRunSpec& spec, const std::vector<RunInputs>& inputs, const DeviceReport& report);

// Why a buffer isn't what was expected ("out[3] is 0.5 instead of 0.25, 4 of 90 elements are wrong"); empty if it is.
// An element may differ by the tolerance times the larger of its expected size and the root mean square of all
// expected elements of the buffer. NaN is expected only where the reference has NaN, infinities must be equal.
std::string CompareBuffer(const RunArgument& argument, double tolerance, std::string_view expected,
                          std::string_view got);

}  // namespace upskill
