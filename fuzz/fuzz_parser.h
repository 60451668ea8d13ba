// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// A parser of untrusted input. `run` gives it one input and aborts if an invariant is broken: an error without a
// message, output that isn't UTF-8, a value that doesn't survive being written and read again.
struct FuzzedParser {
  std::string name;  // letters, digits and hyphens; also its folder in fuzz/corpus
  std::function<void(std::string_view input)> run;
  std::vector<std::string> seeds;  // valid inputs that the code makes itself; more are in the corpus
  std::string sources;             // its own source files below src/, for fuzz/coverage
  bool reads_traces = false;       // it also starts from tests/fixtures/traces
};

const std::vector<FuzzedParser>& FuzzedParsers();

}  // namespace upskill
