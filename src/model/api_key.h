// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "model/catalog.h"
#include "util/result.h"
#include "util/secret.h"

namespace upskill {

// The value of an environment variable, or nothing.
using VariableLookup = std::function<std::optional<std::string>(const std::string&)>;

// The key for a provider: from the variables that the catalogue names, for `hf` also from the saved login of the
// Hugging Face Hub, else from the user's keys file ($XDG_CONFIG_HOME or ~/.config)/upskill/keys.toml, with lines such
// as `anthropic = "…"`, else the provider's default. `model` is for the message. Errors: kPermanent if there is none,
// kInput if the keys file is readable by others or malformed.
Result<Secret> FindApiKey(const Provider& provider, const std::string& model, const VariableLookup& variable);

}  // namespace upskill
