// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace upskill {

// In UTF-8. Some editors write it at the start of a file.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace upskill
