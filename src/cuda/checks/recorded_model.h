// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cuda/checks/cuda_run_spec.h"
#include "cuda/device/kernel_runner.h"
#include "sandbox/sandbox.h"
#include "util/json.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// What an answer in KernelBench's format is compiled from: Python with a class ModelNew, which gives CUDA code to
// PyTorch's load_inline.
struct RecordedModel {
  KernelSources sources;  // that define spec.function
  std::string problem;    // of the answer, if there are none
  std::string unclear;    // why there are none although the answer may be right
};

// What a Python program of ours is told about a class Model or ModelNew in `file`, and the calls of it.
Result<Json> ModelTask(const CudaRunSpec& spec, const std::string& file);

// Runs the answer's `file` in the sandbox with a stand-in for PyTorch (assets/cuda_runtime/torch_recorder.py), once for
// each of the check's sizes, and adds what it compiles and calls to its files. Error: those of the sandbox.
Result<RecordedModel> RecordModel(const CudaRunSpec& spec, const std::map<std::string, std::string>& files,
                                  const std::string& file, const Sandbox& sandbox, const StopFlag* stop);

// "the stand-in for PyTorch lacks NAME" if that is what this message of the compiler or the program comes from, else
// empty.
std::string WhatStandInLacks(std::string_view message);

}  // namespace upskill
