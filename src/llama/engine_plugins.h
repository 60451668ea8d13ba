// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "util/result.h"

namespace upskill {

// Packages contain one build of the engine for each kind of processor, as plug-ins in a folder: lib/upskill next to the
// program's folder, or $UPSKILL_ENGINE_DIR. The first call loads the best one for this processor; if the engine is
// linked in, nothing is loaded. Thread-safe. Error: no plug-in there, or none that this processor can run.
Status LoadEnginePlugins();

// Why no plug-in of a folder could be used, on a processor that has the required instructions or lacks them.
Error NoEngineError(const std::filesystem::path& folder, bool processor_fits);

}  // namespace upskill
