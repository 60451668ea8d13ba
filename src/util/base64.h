// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace upskill {

// The whole bytes that a piece of base64 (RFC 4648, standard or URL-safe) holds. It may be cut anywhere; line ends,
// padding and whatever else is no digit are skipped.
std::string DecodeBase64(std::string_view text);

}  // namespace upskill
