// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "check/literal_search.h"
#include "skill/suite.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// Journaled by name (OutcomeName): never rename.
enum class Outcome { kPass, kFail, kSkip };

const char* OutcomeName(Outcome outcome);
Result<Outcome> OutcomeFromName(std::string_view name);

struct CheckResult {
  std::string name;  // the assertion, for display: contains "edition = 5"
  Outcome outcome = Outcome::kFail;
  std::string detail;  // why it failed or was skipped; empty if it passed
};

// An answer as checks see it.
struct CheckedAnswer {
  std::string_view text;           // valid UTF-8
  const std::vector<bool>& found;  // for each string of the case's LiteralSearch, whether it occurs in the text
};

// One assertion on an answer. Immutable and thread-safe after construction.
class Check {
 public:
  Check() = default;
  virtual ~Check() = default;
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;

  virtual CheckResult Run(const CheckedAnswer& answer) const = 0;
};

// Adds the strings that the check looks for to `strings`, which all checks of a case share. Errors: an unknown type, no
// values, a pattern that RE2 rejects (with its reason).
Result<std::unique_ptr<Check>> MakeCheck(const CheckSpec& spec, LiteralSearch& strings);

// All checks of one case, ready to run. Thread-safe. Takes time for the size of the answer and the number of checks,
// not for their product; only patterns are searched for one by one.
class CaseChecks {
 public:
  // Errors also: more than 20,000 checks or strings to look for, 1 MiB of such strings, or 500 patterns.
  static Result<CaseChecks> Make(const Case& test_case);

  // One result per check, in order. With an `output_file`, the checks look at the part of the answer with that file's
  // content (OutputFileContent), else at the whole answer.
  std::vector<CheckResult> Run(std::string_view answer) const;
  std::size_t size() const { return checks_.size(); }

 private:
  std::vector<std::unique_ptr<Check>> checks_;
  LiteralSearch strings_;
  std::string output_file_;
};

// A case passes if every check passes; a skipped check doesn't pass.
bool AllPass(const std::vector<CheckResult>& results);

// The content of `file` in an answer written without tools: the last fenced code block whose info string or preceding
// line names the file, else the only fenced block, else the whole answer.
std::string OutputFileContent(std::string_view answer, const std::string& file);

// What makes a suite unreliable as a measure: a reference that fails its own checks, a case that an empty answer, an
// echo of the input or a plain refusal passes, an expected string that occurs in the input, two cases with the same
// input. One line each, naming the case. `stop`, which may be null: greater than 0 ends the search, with what was
// found.
Result<std::vector<std::string>> FindSuiteWeaknesses(const Suite& suite, const StopFlag* stop = nullptr);

// The same for one case, without its name and without comparing it with others.
Result<std::vector<std::string>> FindCaseWeaknesses(const Case& test_case);

}  // namespace upskill
