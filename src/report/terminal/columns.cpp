// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "report/terminal/csv.h"
#include "report/terminal/figures.h"
#include "report/terminal/style.h"
#include "report/terminal/verdict_text.h"
#include "report/terminal/verdict_words.h"
#include "util/text.h"

namespace upskill {
namespace {

Json KnownTokens(const ArmSummary& arm, std::int64_t tokens) {
  return arm.reports_tokens() ? Json(tokens) : Json(nullptr);
}

// By the names of the journal, of all attempts, also of those that were retried.
Json ErrorsByKind(const ArmSummary& arm) {
  Json errors = Json::object();
  for (const auto& [cause, count] : arm.failed_attempts) errors[ErrorCauseName(cause)] = count;
  return errors;
}

std::string WholeText(double value) { return fmt::format("{:.0f}", value); }
std::string FineMoneyText(double usd) { return usd == 0.0 ? "free" : fmt::format("{:.5f}", usd); }

using In = const ArmSummary&;
constexpr std::array kArmColumns = {
    ArmColumn{.value = [](In arm) { return Json(arm.cells); }, .csv = "cells", .page = "cells"},
    ArmColumn{.value = [](In arm) { return Json(arm.answered); }, .csv = "answered", .page = "answered"},
    ArmColumn{.value = [](In arm) { return Json(arm.errors); }, .csv = "errors", .page = "errors"},
    ArmColumn{.value = [](In arm) { return Json(arm.passed); }, .json = "passed", .csv = "passed", .page = "passed"},
    ArmColumn{.value = [](In arm) { return Json(arm.answered); }, .json = "total"},
    ArmColumn{
        .value = [](In arm) { return JsonOrNull(arm.rate()); }, .json = "rate", .csv = "pass_rate", .skills = "rate"},
    ArmColumn{.value = [](In arm) { return Json(arm.errors); }, .json = "errors"},
    ArmColumn{.value = [](In arm) { return Json(arm.attempts); }, .json = "attempts"},
    ArmColumn{.value = ErrorsByKind, .json = "errors_by_kind"},
    ArmColumn{.value = [](In arm) { return Json(arm.cells - arm.answered); }, .json = "unanswered"},
    ArmColumn{.value = [](In arm) { return Json(arm.checks_passed); }, .json = "checks_passed", .csv = "checks_passed"},
    ArmColumn{.value = [](In arm) { return Json(arm.checks_total); }, .json = "checks_total", .csv = "checks_total"},
    ArmColumn{.value = [](In arm) { return Json(arm.time_limits); }, .json = "time_limits"},
    ArmColumn{.value = [](In arm) { return Json(arm.truncated); }, .json = "truncated"},
    ArmColumn{.value = [](In arm) { return Json(arm.cut); }, .json = "cut"},
    ArmColumn{.value = [](In arm) { return Json(arm.refusals); }, .json = "refusals"},
    ArmColumn{.value = [](In arm) { return Json(arm.empty); }, .json = "empty"},
    ArmColumn{.value = [](In arm) { return KnownTokens(arm, arm.prompt_tokens); },
              .tokens = "prompt",
              .csv = "prompt_tokens",
              .page = "prompt_tokens"},
    ArmColumn{.value = [](In arm) { return KnownTokens(arm, arm.evaluated_tokens); }, .tokens = "prompt_evaluated"},
    ArmColumn{.value = [](In arm) { return KnownTokens(arm, arm.output_tokens); },
              .tokens = "output",
              .csv = "output_tokens",
              .page = "output_tokens"},
    ArmColumn{.value = [](In arm) { return JsonOrNull(arm.mean_output_tokens()); }, .tokens = "output_mean"},
    ArmColumn{.value = [](In arm) { return Json(arm.seconds); }, .csv = "seconds"},
    ArmColumn{.value = [](In arm) { return JsonOrNull(arm.total_cost_usd()); }, .csv = "cost_usd"},
    ArmColumn{.value = [](In arm) { return JsonOrNull(arm.mean_tokens()); },
              .skills = "tokens",
              .compared = "tokens with prompt",
              .compared_json = "tokens",
              .text = WholeText},
    ArmColumn{.value = [](In arm) { return JsonOrNull(arm.mean_cost_usd()); },
              .skills = "cost_usd",
              .compared = "$ per answer",
              .compared_json = "cost_usd",
              .text = FineMoneyText}};

// "40 % → 85 %", of the arms that the run has.
std::string WithoutAndWith(const StudentRow& row, const std::function<std::string(const ArmSummary&)>& text) {
  std::string out;
  for (const Arm arm : {Arm::kBaseline, Arm::kSkill}) {
    if (const ArmSummary* summary = ArmOf(row.student, arm)) out += (out.empty() ? "" : " → ") + text(*summary);
  }
  return out;
}

std::string RateInArm(const StudentRow& row, Arm arm) {
  const ArmSummary* summary = ArmOf(row.student, arm);
  if (summary == nullptr || !summary->rate()) return "–";
  if (!row.wide) return PercentText(*summary->rate());
  return fmt::format("{} ({}/{})", PercentText(*summary->rate()), summary->passed, summary->answered);
}

std::string LiftWithRange(const StudentRow& row) {
  if (!row.lift()) return "–";
  return PointsWithRange(*row.lift(), row.verdict.low, row.verdict.high);
}

std::string ChangeCell(const std::optional<PairedChange>& change, Unit unit) {
  return change ? ChangeText(*change, unit) : "–";
}

bool IsFreeRow(const StudentRow& row) { return IsFree(row.student.student, row.verdict); }

// VerdictText with a claim short enough for a table: "helps on these 8 cases", "helps, also on new cases (likely …)",
// "undecided (errors)".
std::string ShortVerdict(const StudentRow& row) {
  if (!row.lift()) return "–";
  const StudentVerdict& verdict = row.verdict;
  std::string text = VerdictName(verdict.word);
  if (verdict.word == Verdict::kHelps || verdict.word == Verdict::kHurts) {
    if (verdict.general == verdict.word) {
      text += ", also on new cases";
    } else if (verdict.cases > 0) {
      text += " on " + CasesText(verdict);
    }
  }
  if (HasDoubtByErrors(verdict)) text += " (errors)";
  if (verdict.doubt == Doubt::kLaterAnswers) text += " (rounds disagree)";
  if (verdict.word == Verdict::kUndecided && verdict.doubt == Doubt::kNone && NothingPassed(verdict))
    text += " (nothing passed)";
  return text + VerdictText(verdict).substr(ClaimText(verdict).size());
}

std::string VerdictInRuns(const StudentRow& row) {
  if (row.stored != nullptr && !row.stored->trial.empty()) return "trial: " + row.stored->trial;
  if (!row.lift()) return "–";
  const bool rechecked = row.stored != nullptr && row.stored->rechecked;
  return std::string(VerdictName(row.verdict.word)) + (rechecked ? " (rechecked)" : "");
}

// In narrow places the end of the run's name, by which every command finds it.
std::string RunInRuns(const StudentRow& row) {
  constexpr std::size_t kShortName = 4;
  const std::string label = RunLabel(*row.stored);
  return row.wide || row.stored->run.size() <= kShortName ? label : label.substr(row.stored->run.size() - kShortName);
}

bool AnyHasCost(std::span<const StudentRow> rows) {
  return std::any_of(rows.begin(), rows.end(), [](const StudentRow& row) {
    const std::optional<PairedChange>& cost = row.verdict.cost_usd;
    return cost && (cost->without > 0.0 || cost->with > 0.0);
  });
}

constexpr Table::Align kRightAligned = Table::Align::kRight;
using Row = const StudentRow&;
constexpr std::array kStudentColumns = {
    StudentColumn{.text = RunInRuns, .runs = "run"},
    StudentColumn{.text = [](Row row) { return row.stored->skill; }, .runs = "skill", .is_name = true},
    StudentColumn{.text = [](Row row) { return row.student.student.name; },
                  .eval = "model",
                  .runs = "model",
                  .markdown = "model",
                  .page = "model",
                  .is_name = true},
    StudentColumn{.text =
                      [](Row row) {
                        if (!row.lift()) return std::string("–");
                        const std::string range = NewCasesText(row.verdict);
                        return fmt::format("{} {}{}", ShownAs(row.verdict.word).emoji, ClaimText(row.verdict),
                                           range.empty() ? "" : fmt::format(" ({})", range));
                      },
                  .markdown = "verdict"},
    StudentColumn{.text =
                      [](Row row) {
                        return WithoutAndWith(
                            row, [](const ArmSummary& arm) { return arm.rate() ? PercentText(*arm.rate()) : "–"; });
                      },
                  .eval = "pass rate"},
    StudentColumn{.text = [](Row row) { return RateInArm(row, row.reference); },
                  .runs = "baseline",
                  .markdown = "{reference}",
                  .page = "without",
                  .align = kRightAligned},
    StudentColumn{.text = [](Row row) { return RateInArm(row, Arm::kSkill); },
                  .runs = "with skill",
                  .markdown = "with skill",
                  .page = "with skill",
                  .align = kRightAligned},
    StudentColumn{.text = LiftWithRange, .eval = "lift (likely)"},
    StudentColumn{.text = LiftWithRange, .markdown = "lift (likely)", .page = "lift", .align = kRightAligned},
    StudentColumn{.text = [](Row row) { return row.lift() ? PointsText(*row.stored->shown_lift()) : "–"; },
                  .runs = "lift",
                  .align = kRightAligned},
    StudentColumn{.text =
                      [](Row row) {
                        return WithoutAndWith(row, [](const ArmSummary& arm) {
                          return arm.mean_checks() ? fmt::format("{:.1f}", *arm.mean_checks()) : "–";
                        });
                      },
                  .eval = "checks passed",
                  .drop_rank = 3},
    StudentColumn{.text =
                      [](Row row) {
                        return WithoutAndWith(row, [](const ArmSummary& arm) {
                          return arm.mean_output_tokens() ? NumberText(*arm.mean_output_tokens()) : "–";
                        });
                      },
                  .eval = "tokens",
                  .drop_rank = 2},
    StudentColumn{.text = [](Row row) { return ChangeCell(row.verdict.output_tokens, Unit::kTokens); },
                  .markdown = "tokens per answer",
                  .card = "output tokens per answer",
                  .align = kRightAligned},
    StudentColumn{.text = [](Row row) { return ChangeCell(row.verdict.tokens, Unit::kTokens); },
                  .card = "prompt and output tokens"},
    StudentColumn{.text =
                      [](Row row) {
                        if (IsFreeRow(row)) return std::string(row.verdict.complete_rounds > 0 ? "free" : "–");
                        return ChangeCell(row.verdict.cost_usd, Unit::kMoney);
                      },
                  .card = "cost per answer"},
    StudentColumn{
        .text = [](Row row) { return !IsFreeRow(row) && !row.verdict.cost_usd ? "unknown" : PerPassText(row, "–"); },
        .eval = "$ / pass",
        .drop_rank = 1,
        .is_needed = AnyHasCost},
    StudentColumn{.text = [](Row row) { return PerPassText(row, "–"); },
                  .markdown = "cost per passed answer",
                  .align = kRightAligned},
    StudentColumn{.text = [](Row row) { return IsFreeRow(row) ? "–" : PerPassText(row, "–"); },
                  .card = "cost per passed answer"},
    StudentColumn{.text = [](Row row) { return ChangeCell(row.verdict.seconds, Unit::kSeconds); },
                  .card = "time per answer"},
    StudentColumn{.text =
                      [](Row row) {
                        const StudentVerdict& verdict = row.verdict;
                        if (!verdict.new_cases_low || !verdict.new_cases_high) return std::string("–");
                        return fmt::format("{} … {}", PointsText(*verdict.new_cases_low),
                                           PointsText(*verdict.new_cases_high));
                      },
                  .card = "likely change on new cases"},
    StudentColumn{.text = [](Row row) { return PerThousandText(row.verdict); },
                  .card = "what the skill takes per 1,000 answers"},
    StudentColumn{.text = [](Row row) { return MoreRoundsText(row.verdict); }, .card = "to reach a verdict"},
    StudentColumn{.text = ShortVerdict, .eval = "verdict"},
    StudentColumn{.text = VerdictInRuns, .runs = "verdict"},
    StudentColumn{.text =
                      [](Row row) {
                        if (!row.lift()) return std::string("–");
                        return fmt::format("{} {}", ShownAs(row.verdict.word).sign, VerdictName(row.verdict.word));
                      },
                  .page = "verdict"},
    StudentColumn{.text = [](Row row) { return fmt::format("{}/{}", row.stored->answered, row.stored->cells); },
                  .runs = "cells",
                  .align = kRightAligned,
                  .drop_rank = 1}};

}  // namespace

std::span<const ArmColumn> ArmColumns() { return kArmColumns; }

Json ArmToJson(const ArmSummary* arm, const char* ArmColumn::* place) {
  if (arm == nullptr) return nullptr;
  Json json = Json::object();
  for (const ArmColumn& column : kArmColumns) {
    if (column.*place != nullptr) json[column.*place] = column.value(*arm);
  }
  return json;
}

std::string CsvValue(const Json& value, int digits) {
  if (value.is_null()) return "";
  if (value.is_string()) return CsvField(value.get_ref<const std::string&>());
  if (!value.is_number_float()) return DumpJson(value);
  return digits > 0 ? fmt::format("{:.{}g}", value.get<double>(), digits) : fmt::format("{}", value.get<double>());
}

std::vector<StudentRow> StudentRowsOf(const JudgedRun& run) {
  const Arm reference = ReferenceArm(run.plan()).value_or(Arm::kBaseline);
  std::vector<StudentRow> rows;
  rows.reserve(run.summary.students.size());
  for (std::size_t i = 0; i < run.summary.students.size(); ++i)
    rows.push_back({run.summary.students[i], run.verdicts[i], reference});
  return rows;
}

std::vector<const StudentColumn*> StudentColumns(const char* StudentColumn::* place, std::span<const StudentRow> rows) {
  std::vector<const StudentColumn*> columns;
  for (const StudentColumn& column : kStudentColumns) {
    if (column.*place != nullptr && (column.is_needed == nullptr || column.is_needed(rows))) columns.push_back(&column);
  }
  return columns;
}

std::string HeadingText(const char* heading, std::span<const StudentRow> rows) {
  return fmt::format(fmt::runtime(heading),
                     fmt::arg("reference", ArmLabel(rows.empty() ? Arm::kBaseline : rows.front().reference)));
}

TerminalText StudentTable(const char* StudentColumn::* place, std::span<const StudentRow> rows, const Style& style) {
  const std::vector<const StudentColumn*> columns = StudentColumns(place, rows);
  std::vector<Table::Column> heads;
  heads.reserve(columns.size());
  for (const StudentColumn* column : columns) {
    heads.push_back({TerminalText::EscapeLine(HeadingText(column->*place, rows)), column->align, column->is_name,
                     column->drop_rank});
  }
  Table table(std::move(heads));
  for (const StudentRow& row : rows) {
    std::vector<std::string> cells;
    cells.reserve(columns.size());
    for (const StudentColumn* column : columns) cells.push_back(column->text(row));
    table.AddRow(cells);
  }
  return table.Render(style);
}

std::vector<ArmNote> NotesOn(const ArmSummary& arm) {
  std::vector<ArmNote> notes;
  const auto add = [&](std::size_t count, const char* name, const char* what, bool is_noun = false) {
    if (count == 0) return;
    const std::string number = WithThousands(static_cast<long long>(count));
    const std::string text = is_noun ? Counted(count, what) : fmt::format("{} {}", number, what);
    notes.push_back({name, number, text, text});
  };
  if (const std::string attempts = AttemptsText(arm); !attempts.empty())
    notes.push_back({"failed requests", attempts, "", attempts});
  add(arm.errors, "no answer because of errors", "error", true);
  if (arm.errors > 0) {
    notes.back().card = Counted(arm.errors, "cell");
    notes.back().markdown = notes.back().card + " without an answer because of errors";
  }
  if (arm.answered + arm.errors < arm.cells) {
    add(arm.cells - arm.answered - arm.errors, "unanswered", "unanswered");
    notes.back().markdown = "";
  }
  add(arm.truncated, "truncated", "truncated");
  if (arm.cut > 0) {
    add(arm.cut, "cut at 8 MiB", "cut at 8 MiB");
    static_assert(kMaxAnswerBytes == std::size_t{8} << 20U);
  }
  add(arm.refusals, "refusals", "refusal", true);
  return notes;
}

std::string PerPassText(const StudentRow& row, const std::string& unknown) {
  if (IsFreeRow(row)) return "free";
  if (!row.verdict.cost_per_pass_without && !row.verdict.cost_per_pass_with) return unknown;
  const auto text = [](const std::optional<double>& usd) { return usd ? MoneyText(*usd) : "–"; };
  return text(row.verdict.cost_per_pass_without) + " → " + text(row.verdict.cost_per_pass_with);
}

std::string PointsWithRange(double lift, const std::optional<double>& low, const std::optional<double>& high) {
  std::string text = PointsText(lift);
  if (low && high) text += fmt::format(" ({} … {})", PointsText(*low), PointsText(*high));
  return text;
}

}  // namespace upskill
