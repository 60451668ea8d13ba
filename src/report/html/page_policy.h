// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace upskill {

// The content security policy of a page: only this very style and script (none if empty) may be used, and nothing may
// be loaded or sent.
std::string PagePolicy(std::string_view style, std::string_view script);

}  // namespace upskill
