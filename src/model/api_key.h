// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/catalog.h"
#include "net/url.h"
#include "util/result.h"
#include "util/secret.h"
#include "util/user_folders.h"

namespace upskill {

// The key for a provider: from the variables that the catalogue names, for `hf` also from the saved login of the
// Hugging Face Hub, else from the user's keys file ($XDG_CONFIG_HOME or ~/.config)/upskill/keys.toml, with lines such
// as `anthropic = "…"`, else the provider's default. `model` is for the message. A key found is remembered
// (util/known_secrets.h). Errors: kPermanent if there is none, kInput if the keys file isn't this user's alone or is
// malformed.
Result<Secret> FindApiKey(const Provider& provider, const std::string& model, const VariableLookup& variable);

// Where FindApiKey has found the provider's key: "ANTHROPIC_API_KEY", "~/.config/upskill/keys.toml"; empty for the
// default key.
std::string ApiKeySource(const Provider& provider, const VariableLookup& variable);

// The key of a provider in the text of a keys file, or nothing. Errors (kInput) name `file`, line and column, and
// repeat nothing of the text.
Result<std::optional<std::string>> KeyInFile(std::string_view text, const std::string& provider,
                                             const std::string& file);
// Remembers the keys of all providers that this user has, wherever FindApiKey looks for them: what is shown may come
// from a time or a program that used another one. What can't be read is passed over.
void RememberKeys(const Catalog& catalog, const VariableLookup& variable);

// An error (kInput) if secrets sent to this URL can be read on the way: http:// to another machine, unless the user has
// set UPSKILL_ALLOW_INSECURE_HTTP=1. `whose`: "key for 'openai'", for the message.
Status CheckUrlKeepsSecrets(const HttpUrl& url, const std::string& whose, const VariableLookup& variable);

}  // namespace upskill
