// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cuda/device/device_report.h"
#include "report/terminal/style.h"
#include "util/json.h"
#include "util/terminal_text.h"

namespace upskill {

using KernelRegisters = std::map<std::string, std::uint32_t>;  // of a thread, by kernel

inline constexpr const char* kOutputCut = "the program printed more than 1 MiB; the rest isn't shown";

// What was found, with places.
TerminalText FindingsText(const DeviceReport& report);
// The last line of `kernel check`: how much was found. Nothing is said about a program that wasn't looked at to its
// end.
TerminalText FindingsCount(const DeviceReport& report, int schedules);
// A table of what the kernels cost; times are estimates for an H100.
TerminalText CostsText(const DeviceReport& report, const KernelRegisters& registers, const Style& style);
Json KernelReportJson(const DeviceReport& report, const KernelRegisters& registers);

// Adds the findings of another run of the same program that aren't in `report` yet.
void AddOtherFindings(const DeviceReport& other, DeviceReport& report);

}  // namespace upskill
