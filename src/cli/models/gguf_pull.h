// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "cli/env/env.h"
#include "model/hub/gguf_name.h"
#include "util/result.h"

namespace upskill {

// The file of a GGUF that is named as on the Hugging Face Hub: from the cache, without asking anybody, else downloaded,
// with a live line on stderr (plain lines if that is not a terminal). With `update` the Hub is asked in any case. A
// download that was interrupted is kCancelled and says how to resume it.
Result<std::filesystem::path> FindOrPullGguf(const GgufName& name, bool update, const Env& env);

}  // namespace upskill
