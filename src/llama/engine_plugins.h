// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "util/result.h"

namespace upskill {

// Packages contain one build of the engine for each kind of processor, as plug-ins in a folder: lib/upskill next to the
// program's folder, or $UPSKILL_ENGINE_DIR. The first call loads the best one for this processor, unless the engine is
// linked in, and then the one for GPUs, if it is there. Thread-safe. Error: no plug-in there, or none that this
// processor can run; that a GPU can't be used is no error.
Status LoadEnginePlugins();

// Where LoadEnginePlugins has found that models run, if there is a plug-in for GPUs: "on NVIDIA H100", or "on the
// processor, because …". Empty without one. Thread-safe.
std::string EngineDevice();

// Whether models run on a GPU, once plug-ins are loaded. Thread-safe.
bool EngineUsesGpu();

// Loads libggml-cuda.so of a folder (scripts/cuda-plugin), if it is there; returns what EngineDevice says.
std::string LoadGpuPlugin(const std::filesystem::path& folder);

// Why no plug-in of a folder could be used, on a processor that has the required instructions or lacks them.
Error NoEngineError(const std::filesystem::path& folder, bool processor_fits);

}  // namespace upskill
