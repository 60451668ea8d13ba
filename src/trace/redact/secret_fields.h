// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/redact/redact.h"

namespace upskill {

// Secrets that are the values of fields with telling names: a password, a key, a token, an issuer's key.

// The words to look for in names.
std::vector<std::string_view> FieldWords();

// Whether the word is the name of an issuer.
bool IsIssuerWord(std::size_t word);

// The secret in the field whose name contains word `word` of FieldWords() at [begin, end).
std::optional<SecretSpan> MatchField(std::string_view text, std::size_t word, std::size_t begin, std::size_t end);

}  // namespace upskill
