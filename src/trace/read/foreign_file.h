// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace upskill {

// What a file that isn't a trace seems to be, from its front, and what to do with it: "a web page (HTML); save the
// session itself". Nothing for a front that may belong to a trace.
std::optional<std::string> ForeignFileKind(std::string_view front);

}  // namespace upskill
