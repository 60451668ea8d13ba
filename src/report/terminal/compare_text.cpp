// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/compare_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "report/terminal/columns.h"
#include "report/terminal/figures.h"
#include "report/terminal/table.h"
#include "report/terminal/verdict_words.h"

namespace upskill {
namespace {

constexpr double kSameRate = 1e-9;

// What the files say of a case's checks, whatever kinds of checks there are.
bool SameRawChecks(const Json& a, const Json& b) {
  const auto member = [](const Json& json, const char* key) {
    return json.is_object() ? json.value(key, Json()) : Json();
  };
  constexpr std::array kKeys = {"expected",         "verifiers",  "checks",      "validator",
                                "validator_config", "assertions", "expectations"};
  return std::all_of(kKeys.begin(), kKeys.end(), [&](const char* key) { return member(a, key) == member(b, key); });
}

bool SameChecks(const Case& a, const Case& b) { return SameRawChecks(a.raw, b.raw) && a.checks == b.checks; }

// Why the suites can't be compared; nothing when they can.
std::optional<std::string> Difference(const Plan& a, const Plan& b) {
  std::map<std::string_view, const Case*> cases;
  for (const Case& test_case : b.suite.cases) cases.emplace(test_case.id, &test_case);
  for (const Case& test_case : a.suite.cases) {
    const auto found = cases.find(test_case.id);
    if (found == cases.end()) return fmt::format("case '{}' is only in the suite of {}", test_case.id, a.run);
    const char* what = nullptr;
    if (test_case.input != found->second->input) what = "a different input";
    if (test_case.files != found->second->files) what = "different files";
    if (!SameChecks(test_case, *found->second) || test_case.output_file != found->second->output_file ||
        test_case.fill != found->second->fill)
      what = "different checks";
    if (what != nullptr) return fmt::format("case '{}' has {}", test_case.id, what);
    cases.erase(found);
  }
  if (!cases.empty()) return fmt::format("case '{}' is only in the suite of {}", cases.begin()->first, b.run);
  return std::nullopt;
}

std::optional<std::size_t> IndexOf(const JudgedRun& run, const std::string& spec) {
  for (std::size_t i = 0; i < run.plan().students.size(); ++i) {
    if (run.plan().students[i].spec == spec) return i;
  }
  return std::nullopt;
}

ComparedSide SideOf(const JudgedRun& run, std::size_t index) {
  ComparedSide side;
  side.has_student = true;
  side.verdict = WordOf(run, index);
  side.lift = LiftOf(run, index);
  side.shown_lift = ShownLift(run.summary.students[index], run.verdicts[index], ComparedArm(run.plan()));
  const StudentSummary& student = run.summary.students[index];
  if (const std::optional<Arm> reference = ReferenceArm(run.plan())) {
    if (const ArmSummary* arm = ArmOf(student, *reference)) side.reference = *arm;
  }
  if (const ArmSummary* arm = ArmOf(student, Arm::kSkill)) side.skill = *arm;
  return side;
}

std::map<std::string_view, double> CaseRates(const JudgedRun& run, std::size_t index) {
  std::map<std::string_view, double> rates;
  const StudentSummary& student = run.summary.students[index];
  const auto tallies = student.cases.find(Arm::kSkill);
  if (tallies == student.cases.end()) return rates;
  for (std::size_t i = 0; i < tallies->second.size(); ++i) {
    const CaseTally& tally = tallies->second[i];
    if (tally.answered == 0) continue;
    rates.emplace(run.plan().suite.cases[i].id,
                  static_cast<double>(tally.passed) / static_cast<double>(tally.answered));
  }
  return rates;
}

std::vector<CaseChange> Changes(const JudgedRun& a, std::size_t in_a, const JudgedRun& b, std::size_t in_b) {
  const std::map<std::string_view, double> before = CaseRates(a, in_a);
  const std::map<std::string_view, double> after = CaseRates(b, in_b);
  std::vector<CaseChange> changes;
  for (const Case& test_case : a.plan().suite.cases) {
    const auto was = before.find(test_case.id);
    const auto is = after.find(test_case.id);
    if (was == before.end() || is == after.end() || std::abs(was->second - is->second) < kSameRate) continue;
    changes.push_back({test_case.id, was->second, is->second});
  }
  return changes;
}

// Whether all answers with the skill are to the same requests and have the same texts.
bool HaveSameAnswers(const JudgedRun& a, std::size_t in_a, const JudgedRun& b, std::size_t in_b) {
  if (a.plan().imported || b.plan().imported) return false;  // often without texts
  bool any = false;
  std::map<std::string_view, std::size_t> cases;
  for (std::size_t i = 0; i < b.plan().suite.cases.size(); ++i) cases.emplace(b.plan().suite.cases[i].id, i);
  for (std::size_t i = 0; i < a.plan().suite.cases.size(); ++i) {
    const SampleList of_a = a.data.samples(in_a, Arm::kSkill, i);
    const SampleList of_b = b.data.samples(in_b, Arm::kSkill, cases.at(a.plan().suite.cases[i].id));
    if (of_a.size() != of_b.size()) return false;
    for (std::size_t k = 0; k < of_a.size(); ++k) {
      const SamplePtr one = of_a[k];
      const SamplePtr other = of_b[k];
      if (one->key != other->key || one->response.text != other->response.text) return false;
      any = true;
    }
  }
  return any;
}

std::string Pair(const std::optional<double>& a, const std::optional<double>& b, const auto& text) {
  return fmt::format("{} → {}", a ? text(*a) : "–", b ? text(*b) : "–");
}

Json SideToJson(const ComparedSide& side) {
  Json json = {{"verdict", side.verdict ? Json(VerdictName(*side.verdict)) : Json(nullptr)},
               {"reference_rate", JsonOrNull(side.reference.rate())},
               {"skill_rate", JsonOrNull(side.skill.rate())},
               {"lift", JsonOrNull(side.lift)}};
  for (const ArmColumn& column : ArmColumns()) {
    if (column.compared_json != nullptr) json[column.compared_json] = column.value(side.skill);
  }
  return json;
}

TerminalText ChangeLines(const StudentComparison& student, const Style& style) {
  TerminalText out;
  for (const CaseChange& change : student.changed) {
    const VerdictWord& sign = ShownAs(change.after > change.before ? Verdict::kHelps : Verdict::kHurts);
    out +=
        TerminalText::Format("  {} {}  {} → {}\n", Tinted(style, sign.tint, TerminalText::EscapeLine(sign.sign)),
                             TerminalText::EscapeLine(change.case_id).Cut(style.columns > 40 ? style.columns - 24 : 16),
                             PercentText(change.before), PercentText(change.after));
  }
  return out;
}

}  // namespace

Result<RunComparison> CompareRuns(const JudgedRun& a, const JudgedRun& b) {
  if (const std::optional<std::string> difference = Difference(a.plan(), b.plan())) {
    return InputError(
        fmt::format("{} and {} can't be compared, their suites differ: {}; run both with the same -t FILE",
                    a.plan().run, b.plan().run, *difference));
  }
  RunComparison comparison{a.plan().run, b.plan().run, {}};
  for (std::size_t i = 0; i < a.plan().students.size(); ++i) {
    const std::string& spec = a.plan().students[i].spec;
    StudentComparison student{a.plan().students[i].name, SideOf(a, i), {}, {}, false};
    if (const std::optional<std::size_t> other = IndexOf(b, spec)) {
      student.b = SideOf(b, *other);
      student.changed = Changes(a, i, b, *other);
      student.same_answers = HaveSameAnswers(a, i, b, *other);
    }
    comparison.students.push_back(std::move(student));
  }
  for (std::size_t i = 0; i < b.plan().students.size(); ++i) {
    if (IndexOf(a, b.plan().students[i].spec)) continue;
    comparison.students.push_back({b.plan().students[i].name, {}, SideOf(b, i), {}, false});
  }
  return comparison;
}

TerminalText CompareText(const RunComparison& comparison, const Style& style) {
  std::vector<Table::Column> columns = {{"model", Table::Align::kLeft, true}, {"without"}, {"with skill"}, {"lift"}};
  for (const ArmColumn& column : ArmColumns()) {
    if (column.compared != nullptr) columns.push_back({TerminalText::EscapeLine(column.compared)});
  }
  columns.push_back({"verdict"});
  Table table(std::move(columns));
  TerminalText changes;
  bool shared = false;  // by some model
  for (const StudentComparison& student : comparison.students) {
    shared = shared || (student.a.has_student && student.b.has_student);
    const auto word = [](const std::optional<Verdict>& verdict) { return verdict ? VerdictName(*verdict) : "–"; };
    const bool same = student.a.verdict == student.b.verdict;
    std::vector<std::string> row = {student.model,
                                    Pair(student.a.reference.rate(), student.b.reference.rate(), PercentText),
                                    Pair(student.a.skill.rate(), student.b.skill.rate(), PercentText),
                                    Pair(student.a.shown_lift, student.b.shown_lift, PointsText)};
    for (const ArmColumn& column : ArmColumns()) {
      if (column.compared == nullptr) continue;
      const auto shown = [&](const ArmSummary& arm) {
        const Json value = column.value(arm);
        return value.is_null() ? "–" : column.text(value.get<double>());
      };
      row.push_back(fmt::format("{} → {}", shown(student.a.skill), shown(student.b.skill)));
    }
    row.push_back(same ? std::string(word(student.a.verdict))
                       : fmt::format("{} → {}", word(student.a.verdict), word(student.b.verdict)));
    table.AddRow(row);
    if (student.same_answers)
      changes += TerminalText::Format("\n{}: both runs have the very same answers with the skill{}\n",
                                      TerminalText::EscapeLine(student.model),
                                      student.changed.empty() ? "" : ", judged differently");
    const TerminalText lines = ChangeLines(student, style);
    if (!lines.empty())
      changes +=
          "\n" + Tinted(style, Tint::kBold, TerminalText::EscapeLine(student.model)) + " with the skill\n" + lines;
  }
  if (changes.empty() && shared) changes = "\nno case changed\n";
  if (changes.empty()) changes = "\nthe runs have no model in common, so no case can be compared\n";
  return TerminalText::Format("A {}\nB {}\n\n", comparison.a, comparison.b) + table.Render(style) + changes;
}

Json CompareToJson(const RunComparison& comparison) {
  Json students = Json::array();
  for (const StudentComparison& student : comparison.students) {
    Json changed = Json::array();
    for (const CaseChange& change : student.changed)
      changed.push_back({{"case", change.case_id}, {"a", change.before}, {"b", change.after}});
    students.push_back({{"model", student.model},
                        {"a", SideToJson(student.a)},
                        {"b", SideToJson(student.b)},
                        {"changed_cases", std::move(changed)}});
  }
  return {{"a", comparison.a}, {"b", comparison.b}, {"students", std::move(students)}};
}

}  // namespace upskill
