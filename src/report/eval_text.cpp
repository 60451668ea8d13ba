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
    text += fmt::format("   {} unanswered", arm.cells - arm.answered - arm.errors);
  if (arm.truncated > 0) text += fmt::format("   {} truncated", arm.truncated);
  if (arm.cut > 0) text += fmt::format("   {} cut at {}", arm.cut, kMaxAnswerText);
  if (arm.refusals > 0) text += "   " + Counted(arm.refusals, "refusal");
  return text;
}

TerminalText ArmLine(const Style& style, Arm arm, const ArmSummary& summary) {
  const double rate = summary.rate().value_or(0.0);
  const std::string percent = summary.rate() ? PercentText(rate) : "–";
  const std::string counts = fmt::format("{}/{}", summary.passed, summary.answered);
  const std::string bar = style.columns >= 70 ? Bar(rate) : Bar(rate, 10);
  return TerminalText::Format("  {:<10}  {} {:>6}   {}", ShortLabel(arm), bar, percent, counts);
}

TerminalText TokenLine(const StudentSummary& student) {
  const auto baseline = student.arms.find(Arm::kBaseline);
  const auto skill = student.arms.find(Arm::kSkill);
  const auto mean = [](const ArmSummary& arm) { return arm.mean_output_tokens(); };
  if (baseline == student.arms.end() || skill == student.arms.end()) {
    const ArmSummary& only = student.arms.begin()->second;
    if (!mean(only)) return "";
    return TerminalText::Format("  {:<10}  {:.0f} per answer\n", "tokens", *mean(only));
  }
  if (!mean(baseline->second) || !mean(skill->second)) return "";
  const double before = *mean(baseline->second);
  const double after = *mean(skill->second);
  const double prompt =
      static_cast<double>(skill->second.prompt_tokens) / static_cast<double>(skill->second.answered) -
      static_cast<double>(baseline->second.prompt_tokens) / static_cast<double>(baseline->second.answered);
  return TerminalText::Format("  {:<10}  {:.0f} → {:.0f} per answer{} · prompt {}{:.0f}\n", "tokens", before, after,
                              ChangeText(before, after), std::round(prompt) < 0 ? "" : "+",
                              std::round(prompt) == 0 ? 0.0 : prompt);
}

std::string MoneyText(double usd) { return usd < 0.995 ? fmt::format("${:.4f}", usd) : fmt::format("${:.2f}", usd); }

// "0.0031 → 0.0019", or "local".
std::string CostPerPassText(const StudentVerdict& verdict) {
  if (!verdict.cost_per_pass_without && !verdict.cost_per_pass_with) return "–";
  const auto text = [](const std::optional<double>& usd) { return usd ? MoneyText(*usd) : "–"; };
  return text(verdict.cost_per_pass_without) + " → " + text(verdict.cost_per_pass_with);
}

// What a verdict doesn't rest on, one line each.
std::vector<TerminalText> LimitsOf(const StudentVerdict& verdict) {
  std::vector<TerminalText> limits;
  if (verdict.answers_repeat) {
    limits.push_back(TerminalText::Format("{}the answers are identical in every round: add cases, not rounds",
                                          verdict.complete_rounds > 1 ? "" : "at temperature 0 "));
  }
  if (!verdict.excluded.empty()) {
    limits.push_back(TerminalText::Format(
        "{} {} excluded from lift and verdict because of errors: {}", Counted(verdict.excluded.size(), "case"),
        verdict.excluded.size() == 1 ? "is" : "are", TerminalText::Join(verdict.excluded, ", ")));
  }
  return limits;
}

// What the verdict rests on, where that isn't plain.
TerminalText VerdictNotes(const StudentVerdict& verdict) {
  TerminalText out;
  if (verdict.new_cases_low && verdict.new_cases_high) {
    out += TerminalText::Format("  {:<10}  {} … {} points (95 %) on other cases like these\n", "new cases",
                                PointsText(*verdict.new_cases_low), PointsText(*verdict.new_cases_high));
  }
  if (verdict.cost_usd) {
    out += TerminalText::Format("  {:<10}  {} → {} per answer · {} per passed answer\n", "cost",
                                MoneyText(verdict.cost_usd->without), MoneyText(verdict.cost_usd->with),
                                CostPerPassText(verdict));
  }
  for (const TerminalText& limit : LimitsOf(verdict)) out += "  " + limit + "\n";
  return out;
}

TerminalText StudentBlock(const JudgedRun& run, std::size_t index, const Style& style) {
  const StudentSummary& student = run.summary.students[index];
  const StudentVerdict& verdict = run.verdicts[index];
  const std::optional<double> lift = LiftOf(run, index);
  TerminalText out = Tinted(style, Tint::kBold, TerminalText::EscapeLine(student.student.name)) + "\n";
  TerminalText below;  // what doesn't fit beside the bars
  for (const auto& [arm, summary] : student.arms) {
    TerminalText line = ArmLine(style, arm, summary);
    if (arm == Arm::kSkill && lift) {
      const TerminalText lift_line = LiftLine(verdict, *lift, style);
      const bool fits = line.columns() + 3 + LiftLine(verdict, *lift, {}).columns() <= style.columns;
      if (fits) {
        line += "   " + lift_line;
      } else {
        below += TerminalText::Format("  {:<10}  {}\n", "lift", lift_line);
      }
    }
    out += TerminalText::Format("{}{}\n", line, Extras(summary));
  }
  for (const auto& [arm, verdicts] : run.others) {
    if (verdicts[index].lift)
      below += TerminalText::Format("  {:<10}  {}\n", std::string("vs ") + ArmName(arm),
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
    if (all) names.push_back(plan.suite.cases[i].id);
  }
  return names;
}

TerminalText NoteLine(const std::vector<std::string>& names, const std::string& what) {
  if (names.empty()) return "";
  return TerminalText::Format("{} {}: {}\n", Counted(names.size(), "case"), what, TerminalText::Join(names, ", "));
}

// The outcomes of one case in one arm, equal ones counted: "2 of 3 passed", then each distinct failure.
TerminalText CaseArmLines(const std::vector<const Sample*>& samples, Arm arm) {
  std::size_t passed = 0;
  std::size_t answered = 0;
  std::map<std::string, std::size_t> failures;
  for (const Sample* sample : samples) {
    if (sample->passed()) ++passed;
    if (sample->ok()) ++answered;
    if (!sample->ok()) ++failures["error: " + sample->error->message];
    for (const CheckResult& check : sample->checks) {
      if (check.outcome == Outcome::kPass) continue;
      ++failures[fmt::format("{}: {}{}", check.name, check.outcome == Outcome::kSkip ? "skipped, " : "", check.detail)];
    }
  }
  TerminalText out = TerminalText::Format("  {:<10}  {} of {} passed\n", ShortLabel(arm), passed, answered);
  for (const auto& [failure, count] : failures) out += TerminalText::Format("      {}× {}\n", count, failure);
  return out;
}

TerminalText AnswerLines(const Sample& sample, const Style& style) {
  constexpr std::size_t kShownLines = 6;
  TerminalText out;
  const std::vector<std::string_view> lines = SplitLines(sample.response.text);
  for (std::size_t i = 0; i < std::min(lines.size(), kShownLines); ++i) {
    const std::size_t room = style.columns > 12 ? style.columns - 8 : 12;
    out += "      " + Tinted(style, Tint::kDim, "│ " + TerminalText::Escape(lines[i]).Cut(room)) + "\n";
  }
  if (lines.size() > kShownLines) {
    const TerminalText more = TerminalText::Format("│ … {}", Counted(lines.size() - kShownLines, "more line"));
    out += "      " + Tinted(style, Tint::kDim, more) + "\n";
  }
  return out;
}

}  // namespace

TerminalText EvalHead(const Plan& plan, const Style& style) {
  const std::size_t cases = plan.suite.cases.size();
  const auto rounds = static_cast<std::size_t>(plan.rounds);
  return TerminalText::Format(
      "{} · about {} · {} × {} × {}{} = {}\n", Tinted(style, Tint::kBold, TerminalText::EscapeLine(plan.skill.name)),
      Counted(EstimateTokens(plan.skill.body), "token"), Counted(cases, "case"), Counted(rounds, "round"),
      Counted(plan.arms.size(), "arm"),
      plan.students.size() > 1 ? fmt::format(" × {}", Counted(plan.students.size(), "model")) : "",
      Counted(cases * rounds * plan.arms.size() * plan.students.size(), "cell"));
}

TerminalText LiftLine(const StudentVerdict& verdict, double lift, const Style& style) {
  std::string text = PointsText(lift) + " points";
  if (const std::string interval = IntervalText(verdict); !interval.empty())
    text += fmt::format(" (95 %: {})", interval);
  return TerminalText::Format("{}   {}", text,
                              Tinted(style, TintOf(verdict), TerminalText::EscapeLine(VerdictText(verdict))));
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

TerminalText EvalBars(const JudgedRun& run, const Style& style) {
  TerminalText out;
  for (std::size_t i = 0; i < run.summary.students.size(); ++i) out += StudentBlock(run, i, style) + "\n";
  return out;
}

TerminalText EvalTable(const JudgedRun& run, const Style& style) {
  const bool any_cost = std::any_of(run.verdicts.begin(), run.verdicts.end(),
                                    [](const StudentVerdict& verdict) { return verdict.cost_usd.has_value(); });
  std::vector<Table::Column> columns = {{"model", Table::Align::kLeft, true},
                                        {"pass rate", Table::Align::kLeft},
                                        {"lift (95 %)", Table::Align::kLeft},
                                        {"checks passed", Table::Align::kLeft},
                                        {"tokens", Table::Align::kLeft}};
  if (any_cost) columns.push_back({"$ / pass", Table::Align::kLeft});
  columns.push_back({"verdict", Table::Align::kLeft});
  Table table(columns);
  for (std::size_t i = 0; i < run.summary.students.size(); ++i) {
    const StudentSummary& student = run.summary.students[i];
    const StudentVerdict& verdict = run.verdicts[i];
    const std::optional<double> lift = LiftOf(run, i);
    const std::string interval = IntervalText(verdict);
    std::vector<std::string> row = {
        student.student.name,
        ArrowPair(student, [](const ArmSummary& arm) { return arm.rate() ? PercentText(*arm.rate()) : "–"; }),
        lift ? PointsText(*lift) + (interval.empty() ? "" : fmt::format(" ({})", interval)) : "–",
        ArrowPair(
            student,
            [](const ArmSummary& arm) { return arm.mean_checks() ? fmt::format("{:.1f}", *arm.mean_checks()) : "–"; }),
        ArrowPair(student, [](const ArmSummary& arm) {
          return arm.mean_output_tokens() ? fmt::format("{:.0f}", *arm.mean_output_tokens()) : "–";
        })};
    if (any_cost) row.push_back(CostPerPassText(verdict));
    row.push_back(lift ? VerdictText(verdict) : "–");
    table.AddRow(row);
  }
  return table.Render(style);
}

TerminalText EvalTableNotes(const JudgedRun& run) {
  TerminalText out;
  for (std::size_t i = 0; i < run.summary.students.size(); ++i) {
    const std::string& name = run.summary.students[i].student.name;
    for (const auto& [arm, summary] : run.summary.students[i].arms) {
      if (const std::string extras = Extras(summary); !extras.empty())
        out += TerminalText::Format("{}, {}:{}\n", name, ArmLabel(arm), extras);
    }
    for (const TerminalText& limit : LimitsOf(run.verdicts[i])) out += TerminalText::Format("{}: {}\n", name, limit);
  }
  return out + SweetSpotNote(run);
}

TerminalText EvalCaseNotes(const JudgedRun& run, bool with_hint) {
  const Plan& plan = run.plan();
  const RunSummary& summary = run.summary;
  return NoteLine(CasesWhere(plan, summary, [](const CaseTally& tally) { return tally.passed == 0; }),
                  with_hint ? "never passed (`upskill eval -v` shows why)" : "never passed") +
         NoteLine(CasesWhere(plan, summary, [](const CaseTally& tally) { return tally.passed == tally.answered; }),
                  "always passed in every arm");
}

TerminalText EvalCases(const RunData& data, const Style& style) {
  const Plan& plan = data.plan();
  TerminalText out;
  for (std::size_t student = 0; student < plan.students.size(); ++student) {
    out += Tinted(style, Tint::kBold, TerminalText::EscapeLine(plan.students[student].name)) + "\n";
    for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
      const Case& test_case = plan.suite.cases[i];
      out += TerminalText::Format(
          "{} · {}\n", test_case.id,
          TerminalText::EscapeLine(test_case.input).Cut(style.columns > 40 ? style.columns - 30 : 20));
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
