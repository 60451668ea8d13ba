// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace upskill {

// `name = value` in the notations of shells, programming languages, configuration files, JSON, XML and command lines.
struct Assignment {
  std::string_view name;  // the identifier around the word that was found
  std::string_view rest;  // of the identifier behind that word: "_PROD" of TOKEN_PROD
  std::size_t begin = 0;  // of the value, without quotes
  std::size_t end = 0;
  bool quoted = false;
  bool compared = false;  // with == or !=
  bool listed = false;    // separated from its name by a comma
  bool argument = false;  // of a call in the place of the value: Secret("…")
  bool strong = false;    // quoted or behind '=', hence no word of a sentence
  bool sentence = false;  // a quoted value with blanks
  bool spaced = false;    // a blank or colon is before the value, as in programs
};

// The assignment to an identifier that contains the word at [begin, end) of `text`. Linear in the length of the result.
std::optional<Assignment> AssignmentAt(std::string_view text, std::size_t begin, std::size_t end);

// The end of a value that a terminal or editor wrapped at the end of a long line: it continues on the next line if that
// looks as random as a key and isn't the name of the next field.
std::size_t EndOfWrapped(std::string_view text, std::size_t end);

}  // namespace upskill
