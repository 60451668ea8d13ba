// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "model/catalog.h"
#include "net/url.h"
#include "util/result.h"
#include "util/secret.h"

namespace upskill {

// The value of an environment variable, or nothing.
using VariableLookup = std::function<std::optional<std::string>(const std::string&)>;

// The key for a provider: from the variables that the catalogue names, for `hf` also from the saved login of the
// Hugging Face Hub, else from the user's keys file ($XDG_CONFIG_HOME or ~/.config)/upskill/keys.toml, with lines such
// as `anthropic = "…"`, else the provider's default. `model` is for the message. A key found is remembered
// (util/known_secrets.h). Errors: kPermanent if there is none, kInput if the keys file isn't this user's alone or is
// malformed.
Result<Secret> FindApiKey(const Provider& provider, const std::string& model, const VariableLookup& variable);

// An error (kInput) if secrets sent to this URL can be read on the way: http:// to another machine, unless the user has
// set UPSKILL_ALLOW_INSECURE_HTTP=1. `whose`: "key for 'openai'", for the message.
Status CheckUrlKeepsSecrets(const HttpUrl& url, const std::string& whose, const VariableLookup& variable);

}  // namespace upskill
