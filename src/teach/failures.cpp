// SPDX-License-Identifier: Apache-2.0
#include "teach/failures.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "skill/check_types.h"
#include "teach/evidence.h"
#include "teach/one_line.h"
#include "teach/placeholder.h"
#include "teach/write_cases.h"
#include "trace/digest/excerpt.h"
#include "util/fences.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxPassing = 3;
constexpr std::size_t kShownOfBaseline = 400;  // bytes of an answer without the skill
constexpr std::size_t kShownOfMissing = 120;   // columns
constexpr std::size_t kFewestInCommon = 6;     // bytes
constexpr std::size_t kShownOfGapFile = 2000;  // bytes
constexpr std::size_t kShortestWord = 4;       // of a right answer
constexpr std::size_t kMostWords = 6;

// The answers to one case.
struct FailingCase {
  SamplePtr failed;                 // the first
  SamplePtr failed_without;         // the first without a skill by the same student
  std::size_t answers_without = 0;  // by that student
  std::size_t passed_without = 0;
  std::map<std::string, std::pair<std::size_t, std::size_t>> by_student;  // failed, all

  std::size_t Failed() const {
    std::size_t sum = 0;
    for (const auto& [student, counts] : by_student) sum += counts.first;
    return sum;
  }
  std::size_t All() const {
    std::size_t sum = 0;
    for (const auto& [student, counts] : by_student) sum += counts.second;
    return sum;
  }
};

std::map<std::string, FailingCase> AnswersByCase(const Trial& trial, const Trial& with_baseline) {
  std::map<std::string, FailingCase> cases;
  for (const SamplePtr& sample : trial.judged.data.samples()) {
    if (!sample->ok() || sample->arm != Arm::kSkill) continue;
    FailingCase& answers = cases[sample->case_id];
    auto& [failed, all] = answers.by_student[sample->student];
    ++all;
    if (sample->passed()) continue;
    ++failed;
    if (answers.failed == nullptr) answers.failed = sample;
  }
  for (const SamplePtr& sample : with_baseline.judged.data.samples()) {
    if (!sample->ok() || sample->arm != Arm::kBaseline) continue;
    const auto found = cases.find(sample->case_id);
    if (found == cases.end() || found->second.failed == nullptr || found->second.failed->student != sample->student)
      continue;
    FailingCase& answers = found->second;
    ++answers.answers_without;
    if (sample->passed()) {
      ++answers.passed_without;
    } else if (answers.failed_without == nullptr) {
      answers.failed_without = sample;
    }
  }
  return cases;
}

std::string WithoutSkillText(const FailingCase& answers) {
  if (answers.answers_without == 0) return "";
  const std::string text =
      fmt::format("Without the skill, {} of {} to this request by the same model {}", answers.passed_without,
                  Counted(answers.answers_without, "answer"), answers.passed_without == 1 ? "passes" : "pass");
  if (answers.failed_without == nullptr) return text + ".\n";
  return text + fmt::format("; one that fails: {}\n",
                            OneLine(HeadAndTail(answers.failed_without->response.text, kShownOfBaseline)));
}

// The number of the line in `body` that has `text`, in any case.
std::optional<std::size_t> LineOf(const std::string& text, const std::string& body) {
  const std::size_t at = ToLowerAscii(body).find(ToLowerAscii(text));
  if (text.empty() || at == std::string::npos) return std::nullopt;
  return 1 + static_cast<std::size_t>(std::count(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

// The last key of a path in data: "edition" of "general.edition", "src" of "kernel.*.src[0]".
std::string LastKey(const std::string& path) {
  const std::size_t end = path.find_last_not_of("[]*0123456789.\"'/");
  if (end == std::string::npos) return "";
  const std::size_t begin = path.find_last_of(".[]\"'/", end);
  return path.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

std::string CaseText(const Case& test_case, const FailingCase& answers, std::map<std::string, std::string>& names,
                     const SkillText& skill, std::size_t max_answer_bytes) {
  const Sample& failed = *answers.failed;
  std::string students;
  for (const auto& [student, counts] : answers.by_student)
    students += fmt::format("{}{} {} of {}", students.empty() ? "" : ", ", names[student], counts.first, counts.second);
  std::string gap;
  if (const std::string* const file = FileWithGap(test_case))
    gap = fmt::format("<file name=\"{}\">\n{}\n</file>\n", PlainFileName(test_case.fill->file),
                      HeadAndTail(Trim(*file), std::min(max_answer_bytes, kShownOfGapFile)));
  std::string text = fmt::format(
      "Request ({} of {} fail: {}):\n{}\n{}\nA failing answer, by {}{}:\n<answer>\n{}\n</answer>\n", answers.Failed(),
      Counted(answers.All(), "answer"), students, Trim(test_case.input), gap, names[failed.student],
      failed.response.stop == StopReason::kLength ? " (cut off at the token limit)" : "",
      HeadAndTail(failed.response.text, max_answer_bytes));
  for (std::size_t i = 0; i < failed.checks.size(); ++i) {
    const CheckResult& check = failed.checks[i];
    if (check.outcome != Outcome::kPass)
      text += fmt::format("Failed check: {}{}{}\n", check.name, check.detail.empty() ? "" : ": " + check.detail,
                          i < test_case.checks.size() ? PlaceOfCheck(test_case.checks[i], skill) : "");
  }
  text += MissingTexts(test_case, failed.response.text, skill);
  text += WithoutSkillText(answers);
  if (!Trim(test_case.reference).empty())
    text += fmt::format("A right answer:\n{}\n", HeadAndTail(Trim(test_case.reference), max_answer_bytes));
  return text + "\n";
}

// Where the skill has `text`; empty: nowhere.
std::string PlaceOfText(const std::string& text, const SkillText& skill, bool transfer) {
  if (const std::optional<std::size_t> line = LineOf(text, skill.body))
    return fmt::format("in the skill, line {}", *line);
  for (const auto& [name, content] : skill.references) {
    if (LineOf(text, content)) return "in references/" + name;
  }
  if (!transfer) return "";
  const std::optional<std::size_t> line = LineWithPlaceholderFor(text, skill.body);
  return line ? fmt::format("follows from the skill, line {}", *line) : "";
}

// The line of the skill that has the most of `text` in one piece, if that is half of it: a name may be another one.
std::string NearestPlace(const std::string& text, const SkillText& skill) {
  std::string most;
  std::size_t found = 0;
  std::size_t number = 0;
  for (const std::string_view line : SplitLines(skill.body)) {
    ++number;
    for (std::size_t at = 0; at < std::min(text.size(), kShownOfMissing); ++at) {
      while (at + most.size() < text.size() && line.find(text.substr(at, most.size() + 1)) != std::string_view::npos) {
        most = text.substr(at, most.size() + 1);
        found = number;
      }
    }
  }
  if (2 * most.size() < text.size() || Trim(most).size() < kFewestInCommon) return "absent from the skill";
  return fmt::format("absent from the skill, whose line {} has `{}`", found, Trim(most));
}

std::string MissingAlternatives(const std::vector<std::string>& values, const SkillText& skill, bool transfer) {
  std::vector<std::string> quoted;
  std::string places;
  for (const std::string& value : values) {
    quoted.push_back(fmt::format("`{}`", CutToColumns(OneLine(value), kShownOfMissing)));
    const std::string place = PlaceOfText(value, skill, transfer);
    if (!place.empty()) places += fmt::format("{}{} is {}", places.empty() ? "" : "; ", quoted.back(), place);
  }
  return fmt::format("Missing text, one of {}: {}\n", fmt::join(quoted, ", "),
                     places.empty() ? "absent from the skill" : places);
}

// Of a case that isn't decided by texts: the words of its reference that neither the request nor the answer has.
std::vector<std::string> MissingWords(const Case& test_case, const std::string& answer) {
  std::string given = test_case.input + "\n" + answer;
  for (const auto& [name, content] : test_case.files) given += "\n" + content;
  if (const std::string* const file = FileWithGap(test_case)) given += *file;
  std::string code;
  for (const FencedBlock& block : FindFencedBlocks(test_case.reference)) code += block.content + "\n";
  if (code.empty()) code = test_case.reference;
  std::vector<std::string> words;
  for (const std::string_view word : WordsIn(code)) {
    if (word.size() >= kShortestWord && given.find(word) == std::string::npos &&
        std::find(words.begin(), words.end(), word) == words.end() && words.size() < kMostWords)
      words.emplace_back(word);
  }
  return words;
}

}  // namespace

std::string PlaceOfCheck(const CheckSpec& check, const SkillText& skill) {
  const CheckType* const type = FindCheckType(check.type);
  if (type == nullptr) return "";
  if (type->kind == CheckKind::kRegex) {
    const RE2 pattern(check.pattern, RE2::Quiet);
    std::size_t number = 0;
    for (const std::string_view line : SplitLines(skill.body)) {
      ++number;
      if (pattern.ok() && RE2::PartialMatch(line, pattern))
        return fmt::format(" (the skill's line {} matches)", number);
    }
    return " (no line of the skill matches)";
  }
  if (!type->finds_value()) return "";
  const std::string key = LastKey(JsonGet<std::string>(check.options, "at", ""));
  if (key.empty()) return "";
  const std::optional<std::size_t> line = LineOf(key, skill.body);
  return line ? fmt::format(" (the skill has `{}` in line {})", key, *line)
              : fmt::format(" (`{}` is absent from the skill)", key);
}

std::string MissingTexts(const Case& test_case, const std::string& answer, const SkillText& skill) {
  const bool transfer = IsTransfer(test_case);
  const std::string lower = ToLowerAscii(answer);
  const auto has = [&](const std::string& value) { return lower.find(ToLowerAscii(value)) != std::string::npos; };
  std::string lines;
  for (const CheckSpec& check : test_case.checks) {
    const CheckType* const type = FindCheckType(check.type);
    if (type == nullptr || !type->wants_value()) continue;
    if (type->kind == CheckKind::kAnyOf && check.values.size() > 1) {
      if (std::none_of(check.values.begin(), check.values.end(), has))
        lines += MissingAlternatives(check.values, skill, transfer);
      continue;
    }
    for (const std::string& value : check.values) {
      if (has(value)) continue;
      const std::string place = PlaceOfText(value, skill, transfer);
      lines += fmt::format("Missing text `{}`: {}\n", CutToColumns(OneLine(value), kShownOfMissing),
                           place.empty() ? NearestPlace(value, skill) : place);
    }
  }
  if (CheckKindOf(test_case) != "executed") return lines;
  for (const std::string& word : MissingWords(test_case, answer)) {
    const std::string place = PlaceOfText(word, skill, false);
    lines += fmt::format("Missing word `{}` of the right answer: {}\n", word,
                         place.empty() ? "absent from the skill" : place);
  }
  return lines;
}

std::string FailuresText(const Trial& trial, const Trial& with_baseline, const SkillText& skill,
                         std::size_t budget_tokens) {
  const Plan& plan = trial.judged.plan();
  std::map<std::string, std::string> names;
  for (const Student& student : plan.students) names[student.spec] = student.name;
  const std::map<std::string, FailingCase> cases = AnswersByCase(trial, with_baseline);
  // What fails most often comes first: it is there whatever the budget.
  std::vector<std::pair<const Case*, const FailingCase*>> failing;
  std::vector<const Case*> passing;
  for (const Case& test_case : plan.suite.cases) {
    const auto found = cases.find(test_case.id);
    if (found == cases.end()) continue;
    if (found->second.failed == nullptr) {
      passing.push_back(&test_case);
    } else {
      failing.emplace_back(&test_case, &found->second);
    }
  }
  std::stable_sort(failing.begin(), failing.end(),
                   [](const auto& a, const auto& b) { return a.second->Failed() > b.second->Failed(); });
  std::string text;
  std::size_t shown = 0;
  for (const auto& [test_case, answers] : failing) {
    const std::string one = CaseText(*test_case, *answers, names, skill, budget_tokens / 4 * kBytesPerToken);
    if (!text.empty() && EstimateTokens(text) + EstimateTokens(one) > budget_tokens) continue;
    text += one;
    ++shown;
  }
  text = failing.empty() ? "No answer failed.\n\n"
                         : fmt::format("Failing requests ({} of {} shown):\n\n", shown, failing.size()) + text;
  if (!passing.empty()) text += "Requests that always pass, and must go on passing:\n";
  for (std::size_t i = 0; i < std::min(passing.size(), kMaxPassing); ++i)
    text += fmt::format("- {}\n", CutToColumns(OneLine(passing[i]->input), 200));
  return text;
}

}  // namespace upskill
