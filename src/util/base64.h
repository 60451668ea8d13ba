// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace upskill {

// RFC 4648, standard alphabet, with padding.
std::string EncodeBase64(std::string_view bytes);

// Decodes the whole bytes of a piece of base64 (RFC 4648, standard or URL-safe alphabet). The piece may be cut
// anywhere; line ends, padding and all other characters outside the alphabet are skipped.
std::string DecodeBase64(std::string_view text);

}  // namespace upskill
