// SPDX-License-Identifier: Apache-2.0
#include "report/check_text.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "report/table.h"
#include "util/text.h"

namespace upskill {
namespace {

using Judged = AnswerReport::Word;

struct Counts {
  std::size_t expected = 0;
  std::size_t judged = 0;
  std::size_t all = 0;

  void Add(const AnswerReport& answer) {
    ++all;
    if (answer.word != Judged::kNotChecked) ++judged;
    if (answer.word == Judged::kAsExpected) ++expected;
  }
  std::string Text() const {
    if (all == 0) return "–";
    return judged == 0 ? "not checked" : fmt::format("{} of {}", expected, judged);
  }
};

const char* JudgedName(Judged word) {
  switch (word) {
    case Judged::kAsExpected:
      return "as expected";
    case Judged::kNotAsExpected:
      return "not as expected";
    case Judged::kNotChecked:
      return "not checked";
  }
  return "";
}

Counts CountsOf(const CaseReport& one, bool right) {
  Counts counts;
  for (const AnswerReport& answer : one.answers) {
    if (answer.right == right) counts.Add(answer);
  }
  return counts;
}

std::string TimeOfChecks(double seconds) { return seconds > 0.0 ? fmt::format("{:.1f} s", seconds) : ""; }

TerminalText CaseTable(const SuiteReport& report, const Style& style) {
  Table table({{"case", Table::Align::kLeft, true},
               {"right answers pass", Table::Align::kLeft, false},
               {"wrong answers fail", Table::Align::kLeft, false},
               {"time", Table::Align::kRight, false}});
  for (const CaseReport& one : report.cases)
    table.AddRow({one.id, CountsOf(one, true).Text(), CountsOf(one, false).Text(), TimeOfChecks(one.seconds)});
  return table.Render(style);
}

TerminalText Problems(const SuiteReport& report, const Style& style) {
  TerminalText text;
  for (const CaseReport& one : report.cases) {
    for (const AnswerReport& answer : one.answers) {
      if (answer.word != Judged::kNotAsExpected) continue;
      text +=
          TerminalText::Format("{} {} · {} {}\n", Tinted(style, Tint::kBad, "✗"), one.id, answer.name, answer.problem);
    }
    for (const std::string& weakness : one.weaknesses) text += TerminalText::Format("weak {} · {}\n", one.id, weakness);
  }
  return text.empty() ? text : "\n" + text;
}

TerminalText AllResults(const SuiteReport& report) {
  TerminalText text;
  for (const CaseReport& one : report.cases) {
    for (const AnswerReport& answer : one.answers) {
      text += TerminalText::Format("\n{} · {}: {}\n", one.id, answer.name, JudgedName(answer.word));
      for (const CheckResult& result : answer.results) {
        text += TerminalText::Format("  {:<4}  {}{}{}\n", OutcomeName(result.outcome), result.name,
                                     result.detail.empty() ? "" : ": ", result.detail);
      }
    }
  }
  return text;
}

// Each reason once, with the cases that it is about.
TerminalText Skips(const SuiteReport& report) {
  std::map<std::string, std::size_t> cases_of;
  for (const CaseReport& one : report.cases) {
    for (const std::string& skip : one.skipped) ++cases_of[skip];
  }
  TerminalText text;
  for (const auto& [skip, cases] : cases_of)
    text += TerminalText::Format("skipped in {}: {}\n", Counted(cases, "case"), skip);
  return text.empty() ? text : "\n" + text;
}

}  // namespace

TerminalText SuiteReportText(const Suite& suite, const SuiteReport& report, bool all_results, const Style& style) {
  Counts right;
  Counts wrong;
  double seconds = 0.0;
  for (const CaseReport& one : report.cases) {
    seconds += one.seconds;
    for (const AnswerReport& answer : one.answers) (answer.right ? right : wrong).Add(answer);
  }
  TerminalText text =
      TerminalText::Format("suite  {} · {}\n\n", suite.source.string(), Counted(report.cases.size(), "case"));
  text += CaseTable(report, style);
  if (all_results) text += AllResults(report);
  text += Skips(report) + Problems(report, style);
  text += TerminalText::Format("\n{} of {} right answers pass, {} of {} wrong answers fail", right.expected,
                               right.judged, wrong.expected, wrong.judged);
  const std::size_t open = right.all - right.judged + wrong.all - wrong.judged;
  if (open > 0) text += TerminalText::Format("; {} not checked", Counted(open, "answer"));
  if (seconds > 0.0) text += TerminalText::Format(" · {} of checks", TimeOfChecks(seconds));
  text += "\n";
  if (right.all + wrong.all == 0)
    text += "no answers to try: give cases a \"reference\" and a list \"wrong\", or use --answers\n";
  if (report.interrupted) text += "stopped before the end\n";
  return text;
}

Json SuiteReportToJson(const SuiteReport& report) {
  Json cases = Json::array();
  for (const CaseReport& one : report.cases) {
    Json answers = Json::array();
    for (const AnswerReport& answer : one.answers) {
      Json checks = Json::array();
      for (const CheckResult& result : answer.results)
        checks.push_back({{"name", result.name}, {"outcome", OutcomeName(result.outcome)}, {"detail", result.detail}});
      answers.push_back({{"name", answer.name},
                         {"right", answer.right},
                         {"result", JudgedName(answer.word)},
                         {"problem", answer.problem},
                         {"seconds", answer.seconds},
                         {"checks", std::move(checks)}});
    }
    cases.push_back({{"id", one.id},
                     {"answers", std::move(answers)},
                     {"skipped", one.skipped},
                     {"weaknesses", one.weaknesses},
                     {"seconds", one.seconds}});
  }
  return {{"cases", std::move(cases)}, {"interrupted", report.interrupted}};
}

}  // namespace upskill
