// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "util/result.h"

namespace upskill {

// Packages carry the engine once for each kind of processor, as plug-ins in a folder: lib/upskill beside the folder of
// the program, or $UPSKILL_ENGINE_DIR. The first call loads the one that fits best; where the engine is linked in,
// nothing is loaded. Thread-safe. Error: no plug-in there, or none that this processor can run.
Status LoadEnginePlugins();

// What is wrong with a folder from which no plug-in could be used, on a processor that has what they need or lacks it.
Error NoEngineError(const std::filesystem::path& folder, bool processor_fits);

}  // namespace upskill
