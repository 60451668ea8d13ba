// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/gap_filler.h"
#include "check/judge_check.h"
#include "check/literal_search.h"
#include "sandbox/sandbox.h"
#include "skill/suite.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// Journaled by name (OutcomeName): never rename.
enum class Outcome { kPass, kFail, kSkip };

const char* OutcomeName(Outcome outcome);
Result<Outcome> OutcomeFromName(std::string_view name);

// What a check that ran something tells about it.
struct CheckRun {
  double seconds = 0.0;
  std::string tools;  // with which versions of programs, if it knows
};

struct CheckResult {
  std::string name;  // the assertion, for display: contains "edition = 5"
  Outcome outcome = Outcome::kFail;
  std::string detail;  // why it failed or was skipped; where a judge decided, also why it passed
  std::optional<CheckRun> run = std::nullopt;  // of a check that ran something
};

// A part of an answer that checks look at: the whole (its output_file's content, if the case has one), or a file in it.
struct CheckedPart {
  std::optional<std::string_view> text;  // valid UTF-8; nothing if the answer doesn't have the file
  std::vector<bool> found;               // for each string of the part's LiteralSearch, whether it occurs in the text
  bool is_unchanged = false;             // the answer doesn't have the file, so this is the case's own
};

// What the judge has said, by the number of the question (CaseParts::AddQuestion).
using Judgments = std::vector<std::optional<Judgment>>;

// Files by their plain relative names.
using CheckedFiles = std::map<std::string, std::string>;

// A call of a tool by a student that works in a workspace.
struct CheckedCall {
  std::string tool;
  std::string arguments;  // JSON, or whatever the student has sent
  bool cut = false;       // they weren't stored whole
};

// All calls of an answer.
struct CheckedCalls {
  std::vector<CheckedCall> listed;
  std::map<std::string, std::size_t> unlisted;  // by tool: more calls, of which nothing else was stored
};

// What a student has left and done in a workspace.
struct CheckedWork {
  CheckedFiles files;
  CheckedCalls calls;
};

// An answer as checks see it.
struct CheckedAnswer {
  const std::vector<CheckedPart>& parts;  // by their number in CaseParts
  // Only if a check has asked for it (CaseParts::NeedFiles): the files of the case's context, replaced and completed by
  // those of the answer, by their relative paths; the output_file among them.
  const std::map<std::string, std::string>& files;
  const StopFlag* stop = nullptr;        // 2 or more ends a check that runs something
  const Judgments* judgments = nullptr;  // null: the judge hasn't been asked
  const CheckedCalls* calls = nullptr;   // null: there are none to look at; the answer is one in words
};

// The parts that the checks of a case look at, and the strings that they look for there.
class CaseParts {
 public:
  // `sandbox`: where checks run commands; it outlives the checks. `has_judge`: there is a model to ask.
  // `acts`: the case is done in a workspace.
  explicit CaseParts(const Sandbox& sandbox = DefaultSandbox(), bool has_judge = false, bool has_reference = false,
                     bool acts = false)
      : sandbox_(&sandbox), has_judge_(has_judge), has_reference_(has_reference), acts_(acts) {}

  // The part's number; 0 for the answer as a whole (an empty name).
  std::size_t Number(const std::string& file);
  LiteralSearch& strings(std::size_t part) { return parts_[part].strings; }

  // Call once, after all checks are made.
  void Finish();
  // `texts`: of each part, valid UTF-8, which outlive the result; nothing where the answer doesn't have the file.
  std::vector<CheckedPart> Search(const std::vector<std::optional<std::string_view>>& texts) const;
  const std::string& file(std::size_t part) const { return parts_[part].file; }
  // The checks of the case look at all files together.
  void NeedFiles() { files_needed_ = true; }
  bool files_needed() const { return files_needed_; }
  const Sandbox& sandbox() const { return *sandbox_; }
  // Counts a pattern's instructions. False if the case's patterns have too many together.
  bool AddPattern(int instructions);
  // The question's number. Equal questions are one.
  std::size_t AddQuestion(const JudgeQuestion& question);
  const std::vector<JudgeQuestion>& questions() const { return questions_; }
  bool has_judge() const { return has_judge_; }
  bool has_reference() const { return has_reference_; }
  bool acts() const { return acts_; }
  std::size_t size() const { return parts_.size(); }

 private:
  struct Part {
    std::string file;
    LiteralSearch strings;
  };
  std::vector<Part> parts_{1};
  std::vector<JudgeQuestion> questions_;
  const Sandbox* sandbox_;
  bool has_judge_ = false;
  bool has_reference_ = false;
  bool acts_ = false;
  int instructions_ = 0;
  bool files_needed_ = false;
};

// One assertion on an answer. Immutable and thread-safe after construction.
class Check {
 public:
  Check() = default;
  virtual ~Check() = default;
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;

  virtual CheckResult Run(const CheckedAnswer& answer) const = 0;
  // Why it can only be skipped here, whatever the answer ("judge can't run: …"); empty if it may pass.
  virtual std::string WhyItCannotPass() const { return ""; }
  // Whether the result depends on CheckedAnswer::judgments.
  virtual bool AsksJudge() const { return false; }
};

// Adds the strings that the check looks for to `parts`, which all checks of a case share. A check that can't run here
// (CheckSpec::unavailable, an unknown type) is skipped. Errors: no values, options that contradict each other, a
// pattern that RE2 rejects (with its reason).
Result<std::unique_ptr<Check>> MakeCheck(const CheckSpec& spec, CaseParts& parts);

// A question to the judge, and the text that it is about.
struct AskedQuestion {
  std::size_t number = 0;  // in Judgments
  JudgeQuestion question;
  std::string text;
  std::string reference;  // what it is compared with, taken from the case's reference as the text is from the answer
};

// All checks of one case, ready to run. Thread-safe. Takes time for the size of the answer and the number of checks,
// not for their product; only patterns, numbers, data and strings in order are searched for one by one.
class CaseChecks {
 public:
  // Errors also: more than 20,000 checks or strings to look for, 1 MiB of such strings, or 500 checks of the types that
  // search one by one, or 100 that parse data; a pattern of more
  // than 10,000 instructions of RE2, or patterns of more than 20,000 together.
  // `sandbox`: where commands run; it outlives the checks. `has_judge`: there is a model to ask; without one, checks
  // that need it are skipped.
  static Result<CaseChecks> Make(const Case& test_case, const Sandbox& sandbox = DefaultSandbox(),
                                 bool has_judge = false);

  // One result per check, in order. With an `output_file`, the checks look at the part of the answer with that file's
  // content (OutputFileContent), else at the whole answer. Checks of a file look at the file of that name in the answer
  // (AnswerFiles), else in the case's context.
  // `stop`, which may be null: 2 or more ends checks that run something; they are skipped.
  // `work`, which may be null: of a model that has worked in a workspace. Its files take the place of the answer's and
  // of the case's, and the output_file is the one there.
  std::vector<CheckResult> Run(std::string_view answer, const StopFlag* stop = nullptr,
                               const CheckedWork* work = nullptr) const;

  // What the judge must be asked to decide about the answer, given the results of Run: nothing if the case fails
  // anyway, or if no check has waited for a judge.
  std::vector<AskedQuestion> QuestionsAbout(std::string_view answer, const std::vector<CheckResult>& results,
                                            const CheckedWork* work = nullptr) const;
  // The results of Run with those of the checks that wait for the judge.
  std::vector<CheckResult> RunJudged(std::string_view answer, std::vector<CheckResult> results,
                                     const Judgments& judgments, const StopFlag* stop = nullptr,
                                     const CheckedWork* work = nullptr) const;
  bool asks_judge() const { return !parts_.questions().empty(); }
  // Results as if every check waited for the judge, for QuestionsAbout.
  std::vector<CheckResult> Waiting() const;

  std::size_t size() const { return checks_.size(); }
  // Whether a check runs something, which takes longer than looking at text.
  bool executes() const { return executes_; }
  // Why no answer can pass here: one of the checks can only be skipped (Check::WhyItCannotPass); empty if one may.
  std::string WhyNoneCanPass() const;

 private:
  // The parts of an answer, and what they refer to.
  struct Prepared {
    std::string replaced;  // the answer in valid UTF-8, if it wasn't
    std::string content;   // of the output_file
    std::map<std::string, std::string> files;
    std::string unfilled;                           // why the gap stays open
    std::vector<std::optional<std::string>> texts;  // of the files of a workspace, by part
    std::vector<CheckedPart> parts;
  };

  void Prepare(std::string_view answer, Prepared& prepared) const;
  void PrepareWorkspace(std::string_view answer, const CheckedFiles& workspace, Prepared& prepared) const;
  void Prepare(std::string_view answer, const CheckedWork* work, Prepared& prepared) const;
  std::vector<std::string> WantedFiles() const;

  std::vector<std::unique_ptr<Check>> checks_;
  CaseParts parts_;
  std::string output_file_;
  std::string reference_;
  std::optional<GapFiller> gap_;
  bool executes_ = false;
  std::vector<std::optional<std::string>> context_files_;  // by part
  std::map<std::string, std::string> all_context_files_;   // if a check needs all files
};

// A case passes if every check passes; a skipped check doesn't pass.
bool AllPass(const std::vector<CheckResult>& results);

// What makes a suite unreliable as a measure: a reference that fails its own checks, a case that an empty answer, an
// echo of the input or a plain refusal passes, an expected string that occurs in the input, two cases with the same
// input. One line each, naming the case. `stop`, which may be null: greater than 0 ends the search, with what was
// found.
Result<std::vector<std::string>> FindSuiteWeaknesses(const Suite& suite, const StopFlag* stop = nullptr,
                                                     const Sandbox& sandbox = DefaultSandbox());

// The same for one case, without its name and without comparing it with others. Cases whose checks run something are
// tried only with `run`, because that takes time; a check that can't run here is a weakness then.
Result<std::vector<std::string>> FindCaseWeaknesses(const Case& test_case, const Sandbox& sandbox = DefaultSandbox(),
                                                    bool run = false);

// "command can't run: there is no bubblewrap".
std::string CannotRun(std::string_view check, std::string_view reason);

// Removes the cases that no answer can pass because one of their checks can't run here. One line for each, naming the
// case and the check. `mode`: how the run has all cases done; unset: as each case says. Errors: none is left, and those
// of CaseChecks::Make.
Result<std::vector<std::string>> LeaveOutCasesThatCannotPass(Suite& suite, const Sandbox& sandbox = DefaultSandbox(),
                                                             bool has_judge = false, CaseMode mode = CaseMode::kUnset);

}  // namespace upskill
