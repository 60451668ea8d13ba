// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/check_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "check/command_check.h"
#include "report/terminal/table.h"
#include "util/text.h"

namespace upskill {
namespace {

using Judged = AnswerReport::Word;

// How many answers failed because a check reached its time limit: on a faster machine, some may pass.
std::size_t TimeLimits(const SuiteReport& report) {
  std::size_t count = 0;
  for (const CaseReport& one : report.cases) {
    count +=
        static_cast<std::size_t>(std::count_if(one.answers.begin(), one.answers.end(), [](const AnswerReport& answer) {
          return std::any_of(answer.results.begin(), answer.results.end(), ReachedTimeLimit);
        }));
  }
  return count;
}

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
      const std::string line = fmt::format("{} · {} {}", one.id, answer.name, answer.problem);
      text += TerminalText::Format("{} {}\n", Tinted(style, Tint::kBad, "✗"), Wrapped(line, style.columns, 2));
    }
    for (const std::string& weakness : one.weaknesses)
      text += Wrapped(fmt::format("weak {} · {}", one.id, weakness), style.columns, 2) + "\n";
  }
  return text.empty() ? text : "\n" + text;
}

TerminalText AllResults(const SuiteReport& report, const Style& style) {
  constexpr std::size_t kOutcome = 8;  // columns
  TerminalText text;
  for (const CaseReport& one : report.cases) {
    for (const AnswerReport& answer : one.answers) {
      text += "\n" +
              Wrapped(fmt::format("{} · {}: {}", one.id, answer.name, JudgedName(answer.word)), style.columns, 2) +
              "\n";
      for (const CheckResult& result : answer.results) {
        const std::string line = result.name + (result.detail.empty() ? "" : ": " + result.detail);
        text +=
            TerminalText::Format("  {:<4}  {}\n", OutcomeName(result.outcome), Wrapped(line, style.columns, kOutcome));
      }
    }
  }
  return text;
}

// Each reason once, with the cases that it is about.
TerminalText Skips(const SuiteReport& report, const Style& style) {
  std::map<std::string, std::size_t> cases_of;
  for (const CaseReport& one : report.cases) {
    for (const std::string& skip : one.skipped) ++cases_of[skip];
  }
  TerminalText text;
  for (const auto& [skip, cases] : cases_of)
    text += Wrapped(fmt::format("skipped in {}: {}", Counted(cases, "case"), skip), style.columns, 2) + "\n";
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
  const std::string head = fmt::format("{} · {}", suite.source.string(), Counted(report.cases.size(), "case"));
  TerminalText text = TerminalText::Format("suite  {}\n\n", Wrapped(head, style.columns, 7));
  text += CaseTable(report, style);
  if (all_results) text += AllResults(report, style);
  text += Skips(report, style) + Problems(report, style);
  std::string result = fmt::format("{} of {} right answers pass, {} of {} wrong answers fail", right.expected,
                                   right.judged, wrong.expected, wrong.judged);
  const std::size_t open = right.all - right.judged + wrong.all - wrong.judged;
  if (open > 0) result += fmt::format("; {} not checked", Counted(open, "answer"));
  if (const std::size_t reached = TimeLimits(report); reached > 0)
    result += fmt::format("; {} reached a time limit", Counted(reached, "answer"));
  if (seconds > 0.0) result += fmt::format(" · {} of checks", TimeOfChecks(seconds));
  text += "\n" + Wrapped(result, style.columns, 2) + "\n";
  if (right.all + wrong.all == 0) {
    const char* const help = "no answers to try: give cases a \"reference\" and a list \"wrong\", or use --answers";
    text += Wrapped(help, style.columns, 2) + "\n";
  }
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
