// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "trace/redact/redact.h"
#include "trace/redact/token_formats.h"

namespace upskill {

// The token of this format whose anchor is at [anchor, after) in `text`; after a line break within the anchor, that is
// longer than the format's. A token may be wrapped over lines.
std::optional<SecretSpan> MatchToken(std::string_view text, std::size_t anchor, std::size_t after,
                                     const TokenFormat& format);

}  // namespace upskill
