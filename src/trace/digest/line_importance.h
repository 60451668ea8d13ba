// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// What a line states by its form, whatever the subject: names and values that a reader can't guess. In rising order of
// importance.
enum class LineClass {
  kOther,
  kStatement,      // anything else with the punctuation of code or data
  kImport,         // what a file takes from others
  kConfiguration,  // a key with its value, a section's name, a directive of a build
  kConstant,       // a name for a fixed value
  kSignature,      // of a function, type or macro
  kCommand,        // of a shell, with an option
  kSchema,         // a column, field or rule of data, an annotation
  kEnvironment,    // a variable of the environment, set or read
  kShape,          // of a tensor or array
  kVersion,        // of a program or package
  kExport,         // what a module offers: __all__, module.exports
  kRegistration,   // of an operator, command, route, test or plug-in, with its schema
};
LineClass ClassOfLine(std::string_view line);

// "  17→text" and "17: text" of a read and "src/a.c:17:text" of a search are `text`, with its indentation.
std::string_view WithoutLineNumber(std::string_view line);

// The words of a line in lower case, at least two characters each: `kMaxRows2` and `max_rows2` have `max` and `rows`.
// At most 40.
std::vector<std::string> WordsOfLine(std::string_view line);

// Equal for lines that differ only in names, numbers and quoted texts.
std::string LineSkeleton(std::string_view line);

}  // namespace upskill
