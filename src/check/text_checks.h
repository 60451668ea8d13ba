// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/check.h"
#include "skill/suite.h"
#include "util/result.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace upskill {

// What a check looks at, and its name for display.
struct CheckSubject {
  std::string name;
  std::string file;  // empty: the answer
  std::size_t part = 0;
};

// Named by the check's type, its file and what it expects.
CheckSubject SubjectOf(const CheckSpec& spec, const std::string& expected, CaseParts& parts);

// A check of one part of the answer. It fails if the answer doesn't have the part.
class PartCheck : public Check {
 public:
  explicit PartCheck(CheckSubject subject) : subject_(std::move(subject)) {}

  CheckResult Run(const CheckedAnswer& answer) const final;

 protected:
  const CheckSubject& subject() const { return subject_; }

 private:
  // Why this part fails; empty if it passes. Its text is present.
  virtual std::string FindProblem(const CheckedPart& part) const = 0;

  CheckSubject subject_;
};

// Untrusted text for a message: in quotes, on one line, cut at 80 columns.
std::string Quoted(std::string_view text);

// What is wrong with an answer, `count` things of which `problems` has the first: as many as 4,000 bytes have room for,
// but at least one, and how many more there are.
std::string JoinProblems(const std::vector<std::string>& problems, std::size_t count);

// RE2 takes time for the size of the text times that of the pattern. Errors: what RE2 says against the pattern; a
// pattern that is too large, alone or with the others of the case.
Result<std::unique_ptr<re2::RE2>> CompilePattern(const std::string& pattern, CaseParts& parts);

// Why the pattern can't be looked for in so long a text; empty if it can.
std::string TooCostly(const re2::RE2& pattern, std::size_t bytes);

// Checks that need only the text. `contains`, `not_contains`, `any_of` and `in_order` ignore case (Unicode simple
// folding).
Result<std::unique_ptr<Check>> MakeContains(const CheckSpec& spec, CaseParts& parts);
Result<std::unique_ptr<Check>> MakeNotContains(const CheckSpec& spec, CaseParts& parts);
Result<std::unique_ptr<Check>> MakeAnyOf(const CheckSpec& spec, CaseParts& parts);
Result<std::unique_ptr<Check>> MakeInOrder(const CheckSpec& spec, CaseParts& parts);

// Compares the whole text exactly, except for white space at its ends.
Result<std::unique_ptr<Check>> MakeEquals(const CheckSpec& spec, CaseParts& parts);

// An RE2 pattern that may match anywhere in the text.
Result<std::unique_ptr<Check>> MakeRegex(const CheckSpec& spec, CaseParts& parts);

// The same, which must match nowhere. A pattern that can't be looked for in so long a text fails, too.
Result<std::unique_ptr<Check>> MakeNotRegex(const CheckSpec& spec, CaseParts& parts);

// Whether the answer has the file.
Result<std::unique_ptr<Check>> MakeFileExists(const CheckSpec& spec, CaseParts& parts);

}  // namespace upskill
