// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "skill/suite.h"
#include "util/result.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace upskill {

class CaseParts;

// Puts answers into the gap of a case's file (Case::fill). Immutable and thread-safe.
class GapFiller {
 public:
  // Nothing for a case without `fill`. Errors: a file that the case doesn't have, a gap that isn't there exactly once,
  // those of CompilePattern.
  static Result<std::optional<GapFiller>> Make(const Case& test_case, CaseParts& parts);
  ~GapFiller();
  GapFiller(GapFiller&& other) noexcept;
  GapFiller& operator=(GapFiller&& other) noexcept;
  GapFiller(const GapFiller&) = delete;
  GapFiller& operator=(const GapFiller&) = delete;

  // The file's name, as PlainFileName.
  const std::string& file() const { return file_; }
  // The file with the answer in the place of the gap. With a pattern, what its first match (its first group, if it has
  // one) finds in the answer; else the block that is named as the file, else the first block, else the first line that
  // isn't blank, or the only code in backticks on it. If that repeats the lines around the gap, such as the whole file
  // or the function's first line, or the rest of the gap's line, only what it has in between is used. `answer` is valid
  // UTF-8. Error: there is nothing to put there.
  Result<std::string> FileWith(std::string_view answer) const;

 private:
  GapFiller(std::string file, std::string_view content, std::string_view gap, std::unique_ptr<re2::RE2> pattern);

  Result<std::string> Taken(std::string_view answer) const;
  std::string_view WithoutLinesAround(std::string_view text) const;
  std::string_view WithoutRestOfLine(std::string_view text) const;
  std::string_view LineAhead() const;  // of the gap's line, what is before it

  std::string file_;
  std::string gap_;
  std::string before_;  // the gap
  std::string after_;
  std::unique_ptr<re2::RE2> pattern_;  // may be null
};

}  // namespace upskill
