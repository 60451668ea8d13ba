// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace upskill {

// The place of a key that has a hundred dotted parts or more ("a.a.a…"), if there is one. Call it before toml::parse
// with text from elsewhere, and refuse the text: toml++ limits the nesting of values only, and the tables of such a key
// exhaust the stack. Text that looks like such a key, without any bracket, comma, "=", "#" or "/" between the dots,
// counts too.
std::optional<std::size_t> FindDeepTomlKey(std::string_view text);

}  // namespace upskill
