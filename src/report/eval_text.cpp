// SPDX-License-Identifier: Apache-2.0
#include "report/eval_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "report/figures.h"
#include "report/matrix.h"
#include "report/table.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

// ArmLabel, no wider than the column of labels.
std::string ShortLabel(Arm arm) { return arm == Arm::kPrevious ? "previous" : ArmLabel(arm); }

std::string IntervalText(const StudentVerdict& verdict) {
  if (!verdict.low || !verdict.high) return "";
  return fmt::format("{} … {}", PointsText(*verdict.low), PointsText(*verdict.high));
}

Tint TintOf(const StudentVerdict& verdict) {
  switch (verdict.word) {
    case Verdict::kHelps:
      return Tint::kGood;
    case Verdict::kHurts:
      return Tint::kBad;
    case Verdict::kNoEffect:
    case Verdict::kUndecided:
      break;
  }
  return Tint::kDim;
}

std::string ChangeText(double before, double after) {
  if (before <= 0) return "";
  const double change = std::round((after / before - 1.0) * 100.0);
  return fmt::format(" ({}{:.0f} %)", change > 0 ? "+" : "", change == 0 ? 0.0 : change);
}

std::string Extras(const ArmSummary& arm) {
  std::string text;
  if (arm.errors > 0) text += fmt::format("   {}", Counted(arm.errors, "error"));
  if (arm.answered + arm.errors < arm.cells)
    text += fmt::format("   {} not done", arm.cells - arm.answered - arm.errors);
  if (arm.truncated > 0) text += fmt::format("   {} truncated", arm.truncated);
  if (arm.refusals > 0) text += fmt::format("   {} refused", arm.refusals);
  return text;
}

std::string ArmLine(const Style& style, Arm arm, const ArmSummary& summary) {
  const double rate = summary.rate().value_or(0.0);
  const std::string percent = summary.rate() ? PercentText(rate) : "–";
  const std::string counts = fmt::format("{}/{}", summary.passed, summary.answered);
  const std::string bar = style.columns >= 70 ? Bar(rate) : Bar(rate, 10);
  return fmt::format("  {:<10}  {} {:>6}   {}", ShortLabel(arm), bar, percent, counts);
}

std::string TokenLine(const StudentSummary& student) {
  const auto baseline = student.arms.find(Arm::kBaseline);
  const auto skill = student.arms.find(Arm::kSkill);
  const auto mean = [](const ArmSummary& arm) { return arm.mean_output_tokens(); };
  if (baseline == student.arms.end() || skill == student.arms.end()) {
    const ArmSummary& only = student.arms.begin()->second;
    if (!mean(only)) return "";
    return fmt::format("  {:<10}  {:.0f} per answer\n", "tokens", *mean(only));
  }
  if (!mean(baseline->second) || !mean(skill->second)) return "";
  const double before = *mean(baseline->second);
  const double after = *mean(skill->second);
  const double prompt =
      static_cast<double>(skill->second.prompt_tokens) / static_cast<double>(skill->second.answered) -
      static_cast<double>(baseline->second.prompt_tokens) / static_cast<double>(baseline->second.answered);
  return fmt::format("  {:<10}  {:.0f} → {:.0f} per answer{} · prompt {}{:.0f}\n", "tokens", before, after,
                     ChangeText(before, after), std::round(prompt) < 0 ? "" : "+",
                     std::round(prompt) == 0 ? 0.0 : prompt);
}

std::string MoneyText(double usd) { return usd < 0.995 ? fmt::format("${:.4f}", usd) : fmt::format("${:.2f}", usd); }

// "0.0031 → 0.0019", or "local".
std::string CostPerSolvedText(const StudentVerdict& verdict) {
  if (!verdict.cost_per_solved_without && !verdict.cost_per_solved_with) return "–";
  const auto text = [](const std::optional<double>& usd) { return usd ? MoneyText(*usd) : "–"; };
  return text(verdict.cost_per_solved_without) + " → " + text(verdict.cost_per_solved_with);
}

// What a verdict doesn't rest on, one line each.
std::vector<std::string> LimitsOf(const StudentVerdict& verdict) {
  std::vector<std::string> limits;
  if (verdict.answers_repeat) {
    limits.push_back(fmt::format("the answers repeat{}: more rounds would add nothing, more cases would",
                                 verdict.complete_rounds > 1 ? " exactly from round to round" : " at temperature 0"));
  }
  if (!verdict.excluded.empty()) {
    std::vector<std::string> names;
    names.reserve(verdict.excluded.size());
    for (const std::string& name : verdict.excluded) names.push_back(SafeForTerminalLine(name));
    limits.push_back(fmt::format("{} with errors left out of lift and verdict: {}", Counted(names.size(), "case"),
                                 fmt::join(names, ", ")));
  }
  return limits;
}

// What the verdict rests on, where that isn't plain.
std::string VerdictNotes(const StudentVerdict& verdict) {
  std::string out;
  if (verdict.new_cases_low && verdict.new_cases_high) {
    out += fmt::format("  {:<10}  {} … {} points (95 %) on other cases like these\n", "new cases",
                       PointsText(*verdict.new_cases_low), PointsText(*verdict.new_cases_high));
  }
  if (verdict.cost_usd) {
    out +=
        fmt::format("  {:<10}  {} → {} per answer · {} per solved case\n", "cost", MoneyText(verdict.cost_usd->without),
                    MoneyText(verdict.cost_usd->with), CostPerSolvedText(verdict));
  }
  for (const std::string& limit : LimitsOf(verdict)) out += "  " + limit + "\n";
  return out;
}

std::string StudentBlock(const JudgedRun& run, std::size_t index, const Style& style) {
  const StudentSummary& student = run.summary.students[index];
  const StudentVerdict& verdict = run.verdicts[index];
  const std::optional<double> lift = LiftOf(run, index);
  std::string out = Tinted(style, Tint::kBold, SafeForTerminalLine(student.student.name)) + "\n";
  std::string below;  // what doesn't fit beside the bars
  for (const auto& [arm, summary] : student.arms) {
    std::string line = ArmLine(style, arm, summary);
    if (arm == Arm::kSkill && lift) {
      const bool fits = DisplayColumns(line + "   " + LiftLine(verdict, *lift, {})) <= style.columns;
      (fits ? line : below) +=
          (fits ? "   " : fmt::format("  {:<10}  ", "lift")) + LiftLine(verdict, *lift, style) + (fits ? "" : "\n");
    }
    out += line + Extras(summary) + "\n";
  }
  for (const auto& [arm, verdicts] : run.others) {
    if (verdicts[index].lift)
      below += fmt::format("  {:<10}  {}\n", std::string("vs ") + ArmName(arm),
                           LiftLine(verdicts[index], *verdicts[index].lift, style));
  }
  return out + below + TokenLine(student) + VerdictNotes(verdict);
}

std::string ArrowPair(const StudentSummary& student, const std::function<std::string(const ArmSummary&)>& text) {
  const auto baseline = student.arms.find(Arm::kBaseline);
  const auto skill = student.arms.find(Arm::kSkill);
  std::string out;
  if (baseline != student.arms.end()) out += text(baseline->second);
  if (baseline != student.arms.end() && skill != student.arms.end()) out += " → ";
  if (skill != student.arms.end()) out += text(skill->second);
  return out;
}

// Names of the cases for which `holds` is true of every tally of every student.
std::vector<std::string> CasesWhere(const Plan& plan, const RunSummary& summary,
                                    const std::function<bool(const CaseTally&)>& holds) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
    bool all = true;
    for (const StudentSummary& student : summary.students) {
      for (const auto& [arm, tallies] : student.cases) all = all && tallies[i].answered > 0 && holds(tallies[i]);
    }
    if (all) names.push_back(SafeForTerminalLine(plan.suite.cases[i].id));
  }
  return names;
}

std::string NoteLine(const std::vector<std::string>& names, const std::string& what) {
  if (names.empty()) return "";
  return fmt::format("{} {}: {}\n", Counted(names.size(), "case"), what, fmt::join(names, ", "));
}

// The outcomes of one case in one arm, equal ones counted: "2 of 3 passed", then each distinct failure.
std::string CaseArmLines(const std::vector<const Sample*>& samples, Arm arm) {
  std::size_t passed = 0;
  std::size_t answered = 0;
  std::map<std::string, std::size_t> failures;
  for (const Sample* sample : samples) {
    if (sample->passed()) ++passed;
    if (sample->ok()) ++answered;
    if (!sample->ok()) ++failures["error: " + SafeForTerminalLine(sample->error->message)];
    for (const CheckResult& check : sample->checks) {
      if (check.outcome == Outcome::kPass) continue;
      ++failures[SafeForTerminalLine(
          fmt::format("{}: {}{}", check.name, check.outcome == Outcome::kSkip ? "skipped, " : "", check.detail))];
    }
  }
  std::string out = fmt::format("  {:<10}  {} of {} passed\n", ShortLabel(arm), passed, answered);
  for (const auto& [failure, count] : failures) out += fmt::format("      {}× {}\n", count, failure);
  return out;
}

std::string AnswerLines(const Sample& sample, const Style& style) {
  constexpr std::size_t kShownLines = 6;
  std::string out;
  const std::string safe = SafeForTerminal(sample.response.text);
  const std::vector<std::string_view> lines = SplitLines(safe);
  for (std::size_t i = 0; i < std::min(lines.size(), kShownLines); ++i) {
    const std::size_t room = style.columns > 12 ? style.columns - 8 : 12;
    out += "      " + Tinted(style, Tint::kDim, "│ " + CutToColumns(lines[i], room)) + "\n";
  }
  if (lines.size() > kShownLines) {
    out += "      " + Tinted(style, Tint::kDim, fmt::format("│ … {} more lines", lines.size() - kShownLines)) + "\n";
  }
  return out;
}

}  // namespace

std::string EvalHead(const Plan& plan, const Style& style) {
  const std::size_t cases = plan.suite.cases.size();
  const auto rounds = static_cast<std::size_t>(plan.rounds);
  return fmt::format("{} · about {} tokens · {} × {} × {}{} = {}\n",
                     Tinted(style, Tint::kBold, SafeForTerminalLine(plan.skill.name)), EstimateTokens(plan.skill.body),
                     Counted(cases, "case"), Counted(rounds, "round"), Counted(plan.arms.size(), "arm"),
                     plan.students.size() > 1 ? fmt::format(" × {}", Counted(plan.students.size(), "model")) : "",
                     Counted(cases * rounds * plan.arms.size() * plan.students.size(), "cell"));
}

std::string LiftLine(const StudentVerdict& verdict, double lift, const Style& style) {
  std::string text = PointsText(lift) + " points";
  if (const std::string interval = IntervalText(verdict); !interval.empty())
    text += fmt::format(" (95 %: {})", interval);
  return text + "   " + Tinted(style, TintOf(verdict), VerdictText(verdict));
}

std::string VerdictText(const StudentVerdict& verdict) {
  std::string text = VerdictName(verdict.word);
  if (verdict.word == Verdict::kUndecided && verdict.more_rounds) {
    text += fmt::format(", about {} more round{}", WithThousands(*verdict.more_rounds),
                        *verdict.more_rounds == 1 ? "" : "s");
  }
  if (verdict.word == Verdict::kNoEffect && verdict.output_tokens && verdict.output_tokens->ratio()) {
    const double change = std::round(*verdict.output_tokens->ratio() * 100.0);
    if (change != 0) text += fmt::format(", {:.0f} % {} tokens", std::abs(change), change > 0 ? "more" : "fewer");
  }
  return text;
}

std::string EvalBars(const JudgedRun& run, const Style& style) {
  std::string out;
  for (std::size_t i = 0; i < run.summary.students.size(); ++i) out += StudentBlock(run, i, style) + "\n";
  return out;
}

std::string EvalTable(const JudgedRun& run, const Style& style) {
  const bool any_cost = std::any_of(run.verdicts.begin(), run.verdicts.end(),
                                    [](const StudentVerdict& verdict) { return verdict.cost_usd.has_value(); });
  std::vector<Table::Column> columns = {{"model", Table::Align::kLeft, true},
                                        {"pass rate", Table::Align::kLeft},
                                        {"lift (95 %)", Table::Align::kLeft},
                                        {"checks passed", Table::Align::kLeft},
                                        {"tokens", Table::Align::kLeft}};
  if (any_cost) columns.push_back({"$ / solved", Table::Align::kLeft});
  columns.push_back({"verdict", Table::Align::kLeft});
  Table table(columns);
  for (std::size_t i = 0; i < run.summary.students.size(); ++i) {
    const StudentSummary& student = run.summary.students[i];
    const StudentVerdict& verdict = run.verdicts[i];
    const std::optional<double> lift = LiftOf(run, i);
    const std::string interval = IntervalText(verdict);
    std::vector<std::string> row = {
        SafeForTerminalLine(student.student.name),
        ArrowPair(student, [](const ArmSummary& arm) { return arm.rate() ? PercentText(*arm.rate()) : "–"; }),
        lift ? PointsText(*lift) + (interval.empty() ? "" : fmt::format(" ({})", interval)) : "–",
        ArrowPair(
            student,
            [](const ArmSummary& arm) { return arm.mean_checks() ? fmt::format("{:.1f}", *arm.mean_checks()) : "–"; }),
        ArrowPair(student, [](const ArmSummary& arm) {
          return arm.mean_output_tokens() ? fmt::format("{:.0f}", *arm.mean_output_tokens()) : "–";
        })};
    if (any_cost) row.push_back(CostPerSolvedText(verdict));
    row.push_back(lift ? VerdictText(verdict) : "–");
    table.AddRow(std::move(row));
  }
  return table.Render(style);
}

std::string EvalTableNotes(const JudgedRun& run) {
  std::string out;
  for (std::size_t i = 0; i < run.summary.students.size(); ++i) {
    const std::string name = SafeForTerminalLine(run.summary.students[i].student.name);
    for (const auto& [arm, summary] : run.summary.students[i].arms) {
      if (const std::string extras = Extras(summary); !extras.empty())
        out += fmt::format("{}, {}:{}\n", name, ArmLabel(arm), extras);
    }
    for (const std::string& limit : LimitsOf(run.verdicts[i])) out += fmt::format("{}: {}\n", name, limit);
  }
  return out + SweetSpotNote(run);
}

std::string EvalCaseNotes(const JudgedRun& run) {
  const Plan& plan = run.plan();
  const RunSummary& summary = run.summary;
  return NoteLine(CasesWhere(plan, summary, [](const CaseTally& tally) { return tally.passed == 0; }),
                  "never passed (-v shows why)") +
         NoteLine(CasesWhere(plan, summary, [](const CaseTally& tally) { return tally.passed == tally.answered; }),
                  "always passed in every arm");
}

std::string EvalCases(const RunData& data, const Style& style) {
  const Plan& plan = data.plan();
  std::string out;
  for (std::size_t student = 0; student < plan.students.size(); ++student) {
    out += Tinted(style, Tint::kBold, SafeForTerminalLine(plan.students[student].name)) + "\n";
    for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
      const Case& test_case = plan.suite.cases[i];
      out +=
          fmt::format("{} · {}\n", SafeForTerminalLine(test_case.id),
                      CutToColumns(SafeForTerminalLine(test_case.input), style.columns > 40 ? style.columns - 30 : 20));
      for (const Arm arm : plan.arms) {
        const std::vector<const Sample*> rounds = data.samples(student, arm, i);
        out += CaseArmLines(rounds, arm);
        const auto shown =
            std::find_if(rounds.begin(), rounds.end(), [](const Sample* s) { return s->ok() && !s->passed(); });
        if (shown != rounds.end()) out += AnswerLines(**shown, style);
      }
    }
    out += "\n";
  }
  return out;
}

}  // namespace upskill
