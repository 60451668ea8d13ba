// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/text.h"

namespace upskill {

// What is wrong in one place of a kernel-builder project: what, and what to do about it.
struct KernelProblem {
  std::string file;                            // its path in the project
  TextPosition at = {.line = 0, .column = 0};  // line 0: the file as a whole
  std::string message;                         // quotes at most a line of the project
};

// "build.toml, line 7, column 12: …"
std::string ProblemText(const KernelProblem& problem);

// Collects problems, of which a project may have any number: those after the first hundred are only counted.
// Messages become valid UTF-8 on one line.
class ProblemList {
 public:
  void Add(std::string file, TextPosition at, const std::string& message);
  void Add(std::string file, const std::string& message) { Add(std::move(file), {.line = 0, .column = 0}, message); }
  bool keeps_more() const { return count_ < kMostKept; }
  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }  // with those that aren't kept
  const std::vector<KernelProblem>& kept() const { return kept_; }
  // The problems of build.toml first, then by file and place.
  std::vector<KernelProblem> Sorted() &&;

 private:
  static constexpr std::size_t kMostKept = 100;

  std::vector<KernelProblem> kept_;
  std::size_t count_ = 0;
};

// Untrusted text for a message: in backquotes, on one line, cut at 60 columns.
std::string CodeQuoted(std::string_view text);

}  // namespace upskill
