// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skill/formats/suite_files.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

struct CheckType;  // skill/check_types.h

// One assertion as stated in the suite; check/check.h turns it into something that can be run.
struct CheckSpec {
  CheckSpec() = default;
  CheckSpec(std::string type_name, std::vector<std::string> strings, std::string regex = "")
      : type(std::move(type_name)), values(std::move(strings)), pattern(std::move(regex)) {}
  bool operator==(const CheckSpec& other) const = default;

  std::string type;                 // CheckType::name, or the name of an unknown type
  std::vector<std::string> values;  // of types that look for strings
  std::string pattern;              // regex only (RE2)
  std::string file;                 // the file of the answer to look at; empty: the answer, or its output_file
  Json options = Json::object();    // the other keys of the type (CheckType::options), as stated
  std::vector<CheckSpec> members;   // of a group
  double weight = 1.0;              // in a group of the type at_least
  std::string unavailable;          // why checks of this type can't run; such a check is skipped. Else empty
};

// A gap in a file that the answer is put into; checks see the completed file.
struct Fill {
  bool operator==(const Fill& other) const = default;

  std::string file;     // one of Case::files or of `files`, as named there
  std::string gap;      // the text to replace; occurs in the file once
  std::string pattern;  // what to take from the answer (RE2): its first match, or that of its first group. May be empty
  std::vector<std::pair<std::string, std::string>> files;  // that the model isn't shown, beside Case::files
};

// Whether a case was used to write the skill ("train") or held out to measure it ("test").
enum class Split { kUnknown, kTrain, kTest };

// What a student is asked for: an answer in words, or work in a workspace of its own, with tools.
enum class CaseMode { kUnset, kAnswer, kWorkspace };

// "answer", "workspace"; empty for kUnset.
const char* CaseModeName(CaseMode mode);
std::optional<CaseMode> CaseModeFromName(std::string_view name);

// One test of a skill.
struct Case {
  std::string id;                                          // as stated, else "case-1", "case-2", … by position
  std::string input;                                       // the user's request
  std::vector<std::pair<std::string, std::string>> files;  // context.files, in file order
  std::string output_file;        // the file that the answer should contain; checks look at its content. May be empty
  std::optional<Fill> fill;       // what the answer completes; not together with output_file
  std::string reference;          // an answer that passes, for validating the case. May be empty
  std::vector<CheckSpec> checks;  // at least one
  std::vector<std::string> tags;  // what it is about, for results by group; without repetitions
  std::string source;             // what it was made from, such as a trace's item or a document. May be empty
  Split split = Split::kUnknown;
  CaseMode mode = CaseMode::kUnset;  // unset: as the run says, else an answer
  Json raw;                          // the case as read, including unknown fields
  std::string place;  // where it was read, for messages: `FILE:LINE: case 3 ("edition-line")`. Else empty
};

// The cases of a skill_meta.json, tests.json or evals file.
struct Suite {
  std::filesystem::path source;
  Json document;  // the whole file as read
  std::vector<Case> cases;
  std::vector<std::string> warnings;
  SuiteFiles files;
};

// The file that has the gap; null if the case has none of this name.
const std::string* FileWithGap(const Case& test_case);

// Errors: the case has no such file, or the gap doesn't occur there exactly once; the case has an `output_file` too.
Status CheckFill(const Case& test_case);

// Whether one of the checks, or of those in groups, is of a type that fulfils the condition.
bool AnyCheck(const std::vector<CheckSpec>& checks, bool (CheckType::*condition)() const);

// What decides about the case's answers: "judged" if a check asks a judge, else "executed" if one runs, compiles or
// validates what the answer delivers (CheckType::is_executed), else "text".
std::string_view CheckKindOf(const Case& test_case);

inline constexpr std::array<std::string_view, 3> kCaseCheckKinds = {"executed", "judged", "text"};

// Accepts {"tests": […]} (skill_meta.json), {"cases": […]}, {"evals": […]} and a bare list.
// A check of an unknown type is a warning; it is skipped. Errors: unreadable, malformed JSON (file, line, column), no
// cases, a case without `input` or without any check, a value of the wrong type, a file name that points outside its
// folder, duplicate ids. Every error names the file and the case.
Result<Suite> ParseSuite(const std::string& text, const std::string& source);

// The same from a file, or a folder, which may also be one of another tool (skill/suite_file.h): its cases are
// converted. `skill`: the folder of the skill to measure, for files that have the cases of several; may be empty.
Result<Suite> LoadSuite(const std::filesystem::path& path, const std::filesystem::path& skill = {});

// The suite of a skill folder: the first of skill_meta.json, tests.json, evals/evals.json, promptfooconfig.yaml, the
// CI manifest that names the skill (.upskill/evals.json there or above, up to the root of the repository), the cases of
// `claude plugin eval` (PluginCasesOf) and evals/eval_queries.json that has cases.
Result<Suite> LoadSuiteOfSkill(const std::filesystem::path& folder);

// The document updated with the current values of the cases. Reading and writing back changes nothing, whatever the
// form and its unknown fields.
Json SuiteToJson(const Suite& suite);
Status SaveSuite(const Suite& suite, const std::filesystem::path& path);

}  // namespace upskill
