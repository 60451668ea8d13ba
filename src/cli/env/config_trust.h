// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/env/config.h"
#include "cli/env/env.h"
#include "util/result.h"

namespace upskill {

// A configuration file in the current folder may come from someone else, with the checkout. Without the user's consent
// it may set preferences and folders below its own, but not name model files, servers or folders elsewhere; a file that
// belongs to another user sets nothing. Consent: Env::trust_config, or its path in `trusted_configs` of the user's own
// configuration. The error lists the settings concerned and how to consent.
Status CheckProjectConfig(const Config& config, const Env& env);

}  // namespace upskill
