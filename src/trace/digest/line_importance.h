// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace upskill {

// What a line states by its form, whatever the subject: names and values that a reader can't guess. In rising order of
// importance.
enum class LineClass {
  kOther,
  kConfiguration,  // a key with its value, a section's name
  kSignature,      // of a function, class or macro
  kShape,          // of a tensor or array
  kVersion,        // of a program or package
  kExport,         // what a module offers: __all__, module.exports
  kRegistration,   // of an operator, command, route, test or plug-in, with its schema
};
LineClass ClassOfLine(std::string_view line);

// Equal for lines that differ only in names, numbers and quoted texts.
std::string LineSkeleton(std::string_view line);

}  // namespace upskill
