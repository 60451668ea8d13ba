// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/env/env.h"
#include "model/catalog.h"
#include "util/result.h"

namespace upskill {

// The built-in catalogue of providers, aliases and prices, with the person's own file laid over it: $UPSKILL_MODELS (an
// error if it doesn't exist), else ~/.config/upskill/models.toml where there is one.
Result<Catalog> LoadCatalogOf(const Env& env);

}  // namespace upskill
