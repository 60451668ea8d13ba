// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/env/env.h"
#include "model/catalog.h"

namespace upskill {

// Gives `env` the API keys of the file `.env` in the current folder, which may have come with a project: variables that
// the catalogue's providers read keys from and nothing else, and none of a provider that the user has a key of their
// own for. Warns of what is passed over, and remembers the keys that are taken (util/known_secrets.h). Does nothing
// with `opted_out` (--no-env-file), $UPSKILL_NO_ENV_FILE=1, or `env_file: false` in the configuration in use or in the
// user's own. A file that isn't a regular one of at most kMaxEnvFileBytes, that belongs to another user, or that others
// may write to gives nothing but a warning.
void UseEnvFile(bool opted_out, const Catalog& catalog, Env& env);

// Whether the value of this variable comes from `.env`.
bool IsFromEnvFile(const Env& env, std::string_view variable);

}  // namespace upskill
