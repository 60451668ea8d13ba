// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// What the fuzzers do with what a CUDA program hands to the process that runs its kernels.

void FuzzFatBinary(std::string_view input);

// Requests over the program's socket, each: an operation, eleven numbers in a byte each (kNumberOf), the length of what
// follows in a byte, and that.
void FuzzDeviceRequests(std::string_view input);
std::vector<std::string> DeviceRequestSeeds();

// What the process reports.
void FuzzDeviceReport(std::string_view input);
std::vector<std::string> DeviceReportSeeds();

}  // namespace upskill
