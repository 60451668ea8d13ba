// SPDX-License-Identifier: Apache-2.0
#include "report/eval_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "report/table.h"
#include "util/text.h"

namespace upskill {
namespace {

// Bytes per token of English and code with common tokenizers, for an estimate before any model has counted.
constexpr double kBytesPerToken = 3.0;

std::string Plural(std::size_t count, const std::string& word) {
  return fmt::format("{} {}{}", WithThousands(static_cast<long long>(count)), word, count == 1 ? "" : "s");
}

std::string ArmLabel(Arm arm) { return arm == Arm::kBaseline ? "baseline" : "with skill"; }

std::string LiftText(double lift) {
  const double points = std::round(lift * 100.0);
  return fmt::format("{}{:.0f} points", points > 0 ? "+" : "", points == 0 ? 0.0 : points);
}

std::string ChangeText(double before, double after) {
  if (before <= 0) return "";
  const double change = std::round((after / before - 1.0) * 100.0);
  return fmt::format(" ({}{:.0f} %)", change > 0 ? "+" : "", change == 0 ? 0.0 : change);
}

std::string Extras(const ArmSummary& arm) {
  std::string text;
  if (arm.errors > 0) text += fmt::format("   {}", Plural(arm.errors, "error"));
  if (arm.answered + arm.errors < arm.cells) text += fmt::format("   {} not done", arm.cells - arm.answered - arm.errors);
  if (arm.truncated > 0) text += fmt::format("   {} truncated", arm.truncated);
  if (arm.refused > 0) text += fmt::format("   {} refused", arm.refused);
  return text;
}

std::string ArmLine(const Style& style, Arm arm, const ArmSummary& summary) {
  const double rate = summary.rate().value_or(0.0);
  const std::string percent = summary.rate() ? PercentText(rate) : "–";
  const std::string counts = fmt::format("{}/{}", summary.passed, summary.answered);
  const std::string bar = style.columns >= 70 ? Bar(rate) : Bar(rate, 10);
  return fmt::format("  {:<10}  {} {:>6}   {:<7}", ArmLabel(arm), bar, percent, counts);
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
  const double prompt = static_cast<double>(skill->second.prompt_tokens) / static_cast<double>(skill->second.answered) -
                        static_cast<double>(baseline->second.prompt_tokens) / static_cast<double>(baseline->second.answered);
  return fmt::format("  {:<10}  {:.0f} → {:.0f} per answer{} · prompt {}{:.0f}\n", "tokens", before, after,
                     ChangeText(before, after), std::round(prompt) < 0 ? "" : "+", std::round(prompt) == 0 ? 0.0 : prompt);
}

std::string StudentBlock(const StudentSummary& student, const Style& style) {
  std::string out = Tinted(style, Tint::kBold, SafeForTerminalLine(student.student.name)) + "\n";
  for (const auto& [arm, summary] : student.arms) {
    out += ArmLine(style, arm, summary);
    if (arm == Arm::kSkill && student.lift) {
      const Tint tint = *student.lift > 0 ? Tint::kGood : (*student.lift < 0 ? Tint::kBad : Tint::kDim);
      out += "   " + Tinted(style, tint, LiftText(*student.lift));
    }
    out += Extras(summary) + "\n";
  }
  return out + TokenLine(student);
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
  return fmt::format("{} {}: {}\n", Plural(names.size(), "case"), what, fmt::join(names, ", "));
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
      ++failures[SafeForTerminalLine(fmt::format("{}: {}{}", check.name, check.outcome == Outcome::kSkip ? "skipped, " : "",
                                                 check.detail))];
    }
  }
  std::string out = fmt::format("  {:<10}  {} of {} passed\n", ArmLabel(arm), passed, answered);
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
                     Tinted(style, Tint::kBold, SafeForTerminalLine(plan.skill.name)),
                     std::lround(static_cast<double>(plan.skill.body.size()) / kBytesPerToken), Plural(cases, "case"),
                     Plural(rounds, "round"), Plural(plan.arms.size(), "arm"),
                     plan.students.size() > 1 ? fmt::format(" × {}", Plural(plan.students.size(), "model")) : "",
                     Plural(cases * rounds * plan.arms.size() * plan.students.size(), "cell"));
}

std::string EvalBars(const RunSummary& summary, const Style& style) {
  std::string out;
  for (const StudentSummary& student : summary.students) out += StudentBlock(student, style) + "\n";
  return out;
}

std::string EvalTable(const RunSummary& summary, const Style& style) {
  Table table({{"model", Table::Align::kLeft, true},
               {"pass rate", Table::Align::kLeft},
               {"lift", Table::Align::kRight},
               {"checks passed", Table::Align::kLeft},
               {"tokens", Table::Align::kLeft},
               {"cells", Table::Align::kRight}});
  for (const StudentSummary& student : summary.students) {
    std::size_t answered = 0;
    std::size_t cells = 0;
    for (const auto& [arm, entry] : student.arms) {
      answered += entry.answered;
      cells += entry.cells;
    }
    table.AddRow({SafeForTerminalLine(student.student.name),
                  ArrowPair(student, [](const ArmSummary& arm) { return arm.rate() ? PercentText(*arm.rate()) : "–"; }),
                  student.lift ? LiftText(*student.lift) : "–",
                  ArrowPair(student,
                            [](const ArmSummary& arm) {
                              return arm.mean_checks() ? fmt::format("{:.1f}", *arm.mean_checks()) : "–";
                            }),
                  ArrowPair(student,
                            [](const ArmSummary& arm) {
                              return arm.mean_output_tokens() ? fmt::format("{:.0f}", *arm.mean_output_tokens()) : "–";
                            }),
                  fmt::format("{}/{}", answered, cells)});
  }
  return table.Render(style);
}

std::string EvalCaseNotes(const Plan& plan, const RunSummary& summary) {
  return NoteLine(CasesWhere(plan, summary, [](const CaseTally& tally) { return tally.passed == 0; }),
                  "never passed (-v shows why)") +
         NoteLine(CasesWhere(plan, summary, [](const CaseTally& tally) { return tally.passed == tally.answered; }),
                  "always passed in every arm");
}

std::string EvalCases(const Plan& plan, const std::vector<Sample>& samples, const Style& style) {
  const std::vector<const Sample*> words = LastWords(samples);
  std::string out;
  for (const Student& student : plan.students) {
    out += Tinted(style, Tint::kBold, SafeForTerminalLine(student.name)) + "\n";
    for (const Case& test_case : plan.suite.cases) {
      out += fmt::format("{} · {}\n", SafeForTerminalLine(test_case.id),
                         CutToColumns(SafeForTerminalLine(test_case.input), style.columns > 40 ? style.columns - 30 : 20));
      for (const Arm arm : plan.arms) {
        std::vector<const Sample*> of_arm;
        for (const Sample* sample : words) {
          const bool mine = sample->student == student.spec && sample->case_id == test_case.id && sample->arm == arm;
          if (mine && sample->round < plan.rounds) of_arm.push_back(sample);
        }
        out += CaseArmLines(of_arm, arm);
        const auto shown = std::find_if(of_arm.begin(), of_arm.end(), [](const Sample* s) { return s->ok() && !s->passed(); });
        if (shown != of_arm.end()) out += AnswerLines(**shown, style);
      }
    }
    out += "\n";
  }
  return out;
}

}  // namespace upskill
