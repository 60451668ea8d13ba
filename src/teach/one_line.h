// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace upskill {

// `text` on one line, for prompts and skills: each run of white space and control characters becomes one space, with
// none at the ends. Invalid UTF-8 is replaced.
std::string OneLine(std::string_view text);

}  // namespace upskill
