// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace upskill {

// The program starts itself with this argument and the file of a task (device_task.h) to be the process that runs
// kernels: it reads and removes the file, runs the task's program with a socket to itself, answers the program's
// requests until it ends, and prints the report (device_report.h) as JSON. The program can't read this process's
// memory, nor write where the report goes. Threads run the blocks of large launches (DeviceTask::threads).
inline constexpr const char* kDeviceArgument = "--cuda-device";

// The exit code of the process.
int RunDevice(const std::string& task_file);

}  // namespace upskill
