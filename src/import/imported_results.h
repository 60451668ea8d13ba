// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "check/check.h"
#include "eval/plan/plan.h"
#include "model/chat.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// What the user says about the files to import.
struct ImportOptions {
  std::string with;      // label of the answers with the skill; empty: the names that the formats use
  std::string without;   // the same for those without it
  std::string skill;     // the skill's name; empty: as the file has it
  double pass_at = 1.0;  // an answer passes if its score reaches this (a fraction)
};

// The most tokens of one answer that are believed.
inline constexpr std::int64_t kMaxImportedTokens = 1'000'000'000'000;

// One generation: an answer that a model gave once. How often it was judged doesn't matter.
struct ImportedAnswer {
  std::string model;  // empty: the file doesn't say
  std::string case_id;
  Arm arm = Arm::kBaseline;
  std::optional<std::int64_t> number;  // of the case's answers in this arm, as the file counts them
  std::string text;                    // empty: not in the file
  std::string time;                    // UTC; empty: unknown
  std::string error;                   // not empty: there is no answer, and this is why
  std::vector<CheckResult> checks;
  Usage usage;
  std::optional<double> cost_usd;
  double seconds = 0.0;  // 0: unknown
};

struct ImportedCase {
  std::string id;
  std::string input;  // empty: not in the file
};

// ParseJson, and what other programs write that isn't JSON: NaN and Infinity, which become null.
Result<Json> ParseForeignJson(std::string_view text, const std::string& source);

// The results of one evaluation by another program, as its files hold them.
struct ImportedResults {
  // Adds the case unless there is one of this id already.
  void AddCase(const std::string& id, const std::string& input);
  void AddNote(std::string note);  // once

  std::string format;  // of the files: "skill-creator"
  std::string source;  // as named by the user
  std::string sha256;  // of what was read
  std::string skill;
  std::string time;  // when the evaluation was made, as the file has it; may be empty
  std::vector<ImportedCase> cases;
  std::vector<ImportedAnswer> answers;
  bool is_part = false;            // the other arm of the evaluation may be in another file
  std::vector<std::string> notes;  // sentences about what the files lack or what was left out

 private:
  std::unordered_map<std::string, std::size_t> places_;  // of cases, by id
};

// The arm that a label means: by the options if they name one, else by the names in use: with_skill, without_skill,
// baseline, old_skill, … Nothing for another label.
std::optional<Arm> ArmOfLabel(std::string_view label, const ImportOptions& options);

// "--with and --without name the labels: a, b, c". At most ten labels are listed.
std::string LabelsHint(const std::vector<std::string>& labels);

// Lenient access to numbers of other programs' files: a finite number of at least 0, else nothing.
std::optional<double> NonNegativeAt(const Json& object, const char* key);

// A number of tokens between 0 and kMaxImportedTokens; 0 for anything else.
std::int64_t TokensAt(const Json& object, const char* key);

// Adds the answers, cases and notes of another part of the same evaluation.
void AddPart(ImportedResults& results, ImportedResults part);

// The id of a case as text: a string, or a whole number. Empty for anything else.
std::string IdText(const Json& id);

// The check "score at least 80 %" of a score between 0 and 1.
CheckResult ScoreCheck(double score, double pass_at);

// What stands in the place of an answer's prompt that a file doesn't hold. Different for each case, so that cases count
// as different inputs.
std::string UnknownInput(const std::string& case_id);

}  // namespace upskill
