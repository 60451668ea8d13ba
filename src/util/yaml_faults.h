// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace upskill {

// What yaml-cpp's message about a syntax error means, in plain words. Repeats nothing of the file but punctuation.
std::string PlainYamlReason(std::string_view message);

// A mistake that yaml-cpp accepts.
struct YamlFault {
  std::size_t line = 0;    // from 1
  std::size_t column = 0;  // from 1, in bytes
  std::string reason;
};

// The first quoted scalar of the first document that is never closed, or that takes in lines which are keys or list
// items of the collection around it. Nothing for a text with syntax errors, which yaml-cpp reports.
std::optional<YamlFault> FindOpenQuote(const std::string& text);

}  // namespace upskill
