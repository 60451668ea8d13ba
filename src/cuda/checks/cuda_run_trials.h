// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cuda/checks/cuda_run_spec.h"
#include "cuda/device/device_task.h"
#include "util/result.h"

namespace upskill {

// The inputs of one call, for one of the sizes, and what the reference makes of them.
struct RunInputs {
  Sizes sizes;
  std::vector<DeviceArgument> arguments;  // of the function, buffers to be written included
  std::vector<std::string> expected;      // by argument; empty for those that aren't written; of ReferenceType
};

// The inputs of all calls: for each of the sizes and seeds, `repetitions` that follow each other. Only some elements
// differ between these, none if the results are to be equal. The same ones for the same statement, every time.
Result<std::vector<RunInputs>> MakeInputs(const CudaRunSpec& spec);
// How many seeds these have for one of the sizes.
int SeedsOf(const CudaRunSpec& spec, bool first_of_sizes);

// The calls of the function, each with another order of execution, and with buffers at other addresses; every second
// repetition has those of the call before, with other content.
std::vector<DeviceTrial> MakeTrials(const CudaRunSpec& spec, const std::vector<RunInputs>& inputs);

// The type of a buffer in the reference's code: half precision is single there.
ElementType ReferenceType(ElementType type);

// What the program with the reference reads (ReferenceProgram), and what it has printed, taken apart. Error: too short.
std::string ReferenceInput(const CudaRunSpec& spec, const std::vector<RunInputs>& inputs);
Status TakeExpected(const CudaRunSpec& spec, std::string_view printed, std::vector<RunInputs>& inputs);

// The program in C++ that calls the reference on each set of inputs, and prints the buffers that it writes.
std::string ReferenceProgram(const CudaRunSpec& spec);
// The program that calls the function of the answer for each trial.
std::string DriverProgram(const CudaRunSpec& spec);

}  // namespace upskill
