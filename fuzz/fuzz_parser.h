// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// A parser of input that isn't a trace. `run` gives it one input and aborts if an invariant is broken: an error without
// a message, output that isn't UTF-8, a value that doesn't survive being written and read again.
struct FuzzedParser {
  std::string_view name;  // letters and hyphens
  void (*run)(std::string_view input);
  std::vector<std::string> seeds;  // valid inputs, from which mutations start
};

const std::vector<FuzzedParser>& FuzzedParsers();

}  // namespace upskill
