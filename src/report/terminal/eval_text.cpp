// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/eval_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "report/terminal/activation_text.h"
#include "report/terminal/columns.h"
#include "report/terminal/figures.h"
#include "report/terminal/findings_text.h"
#include "report/terminal/matrix.h"
#include "report/terminal/verdict_text.h"
#include "report/terminal/verdict_words.h"
#include "report/terminal/work_text.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

constexpr std::size_t kLabelled = 14;  // columns before the text of a labelled line

// ArmLabel, no wider than the column of labels.
std::string ShortLabel(Arm arm) { return arm == Arm::kPrevious ? "previous" : ArmLabel(arm); }

TerminalText LabelledLine(const std::string& label, const TerminalText& text) {
  return TerminalText::Format("  {:<12}{}\n", label, text);
}

std::string Extras(const ArmSummary& arm) {
  std::string text;
  for (const ArmNote& note : NotesOn(arm)) text += note.terminal.empty() ? "" : "   " + note.terminal;
  return text;
}

TerminalText ArmLine(const Style& style, const std::string& label, const ArmSummary& summary) {
  const double rate = summary.rate().value_or(0.0);
  const std::string percent = summary.rate() ? PercentText(rate) : "–";
  const std::string counts = fmt::format("{}/{}", summary.passed, summary.answered);
  const std::string bar = style.columns >= 70 ? Bar(rate) : Bar(rate, 10);
  return TerminalText::Format("  {:<10}  {} {:>6}   {}", label, bar, percent, counts);
}

// Of the answers that the verdict counts; those of all answers where there is nothing to compare.
TerminalText TokensText(const JudgedRun& run, std::size_t index) {
  TerminalText unknown("unknown: the model doesn't report them");
  const StudentSummary& student = run.summary.students[index];
  const std::optional<Arm> reference = ReferenceArm(run.plan());
  const ArmSummary* before = reference ? ArmOf(student, *reference) : nullptr;
  const ArmSummary* after = ArmOf(student, Arm::kSkill);
  if (before == nullptr || after == nullptr) {
    const ArmSummary& only = student.arms.begin()->second;
    if (only.answered == 0) return "";
    if (!only.mean_output_tokens()) return unknown;
    return TerminalText::Format("{} per answer", NumberText(*only.mean_output_tokens()));
  }
  if (before->answered == 0 || after->answered == 0) return "";
  if (!before->mean_output_tokens() || !after->mean_output_tokens()) return unknown;
  const std::optional<PairedChange>& paired = run.verdicts[index].output_tokens;
  PairedChange all;
  all.without = *before->mean_output_tokens();
  all.with = *after->mean_output_tokens();
  const double prompt = static_cast<double>(after->prompt_tokens) / static_cast<double>(after->answered) -
                        static_cast<double>(before->prompt_tokens) / static_cast<double>(before->answered);
  const bool grows = std::round(prompt) > 0;
  const char* what = *reference == Arm::kPrevious ? " against the previous version" : grows ? " for the skill" : "";
  return TerminalText::Format("{} · prompt {}{}{}",
                              ChangeText(paired ? *paired : all, Unit::kTokens, " tokens per answer"),
                              std::round(prompt) < 0 ? "" : "+", NumberText(prompt), what);
}

// What answers take: tokens, time, money.
std::vector<std::pair<std::string, TerminalText>> ExpenseLines(const JudgedRun& run, std::size_t index) {
  const StudentVerdict& verdict = run.verdicts[index];
  const Student& student = run.summary.students[index].student;
  std::vector<std::pair<std::string, TerminalText>> lines;
  TerminalText tokens = TokensText(run, index);
  if (tokens.empty()) return lines;  // no answers
  lines.emplace_back("output", std::move(tokens));
  if (verdict.seconds && (verdict.seconds->without > 0.0 || verdict.seconds->with > 0.0)) {
    // A person's answer isn't awaited because the model works.
    lines.emplace_back(student.spec.starts_with("desk:") ? "waited" : "time",
                       TerminalText::Format("{}", ChangeText(*verdict.seconds, Unit::kSeconds, " per answer")));
  }
  if (IsFree(student, verdict)) {
    lines.emplace_back("cost", TerminalText("free"));
  } else if (verdict.cost_usd) {
    lines.emplace_back("cost", TerminalText::Format("{}", ChangeText(*verdict.cost_usd, Unit::kMoney, " per answer")));
    lines.emplace_back(
        "", TerminalText::Format("{} per passed answer", PerPassText({run.summary.students[index], verdict}, "–")));
  }
  return lines;
}

// Failed requests by arm: "baseline: 2 of 38 requests, repeats included, failed: 2 rate limits".
std::vector<std::string> ErrorLines(const StudentSummary& student) {
  std::vector<std::string> lines;
  for (const auto& [arm, summary] : student.arms) {
    if (const std::string text = AttemptsText(summary); !text.empty())
      lines.push_back(fmt::format("{}: {}", ArmLabel(arm), text));
  }
  return lines;
}

// What the verdict rests on, where that isn't plain.
TerminalText VerdictNotes(const JudgedRun& run, std::size_t index, const Style& style) {
  const StudentVerdict& verdict = run.verdicts[index];
  TerminalText out;
  if (const std::string these = TheseCasesText(verdict); !NewCasesText(verdict).empty()) {
    if (!these.empty()) out += LabelledLine("these cases", TerminalText::Format("{} points", these));
  } else if (verdict.new_cases_low && verdict.new_cases_high) {
    out += LabelledLine("new cases",
                        TerminalText::Format("{} points", LikelyText(*verdict.new_cases_low, *verdict.new_cases_high)));
  }
  for (const std::string& line : ErrorLines(run.summary.students[index]))
    out += LabelledLine("errors", Wrapped(line, style.columns, kLabelled));
  for (const std::string& remark : VerdictRemarks(run, index)) out += "  " + Wrapped(remark, style.columns, 2) + "\n";
  return out;
}

// The lift and the verdict, in two lines where one is too narrow.
TerminalText LiftLines(const std::string& label, const StudentVerdict& verdict, double shown, const Style& style) {
  const TerminalText line = LiftLine(verdict, shown, style);
  if (kLabelled + LiftLine(verdict, shown, {}).columns() <= style.columns) return LabelledLine(label, line);
  const TerminalText claim = Wrapped(VerdictText(verdict), style.columns, kLabelled);
  return LabelledLine(label, TerminalText::EscapeLine(LiftText(verdict, shown))) +
         LabelledLine("", Tinted(style, ShownAs(verdict.word).tint, claim));
}

TerminalText StudentBlock(const JudgedRun& run, std::size_t index, const Style& style) {
  const StudentSummary& student = run.summary.students[index];
  const StudentVerdict& verdict = run.verdicts[index];
  TerminalText out = Tinted(style, Tint::kBold, TerminalText::EscapeLine(student.student.name)) + "\n";
  for (const auto& [arm, summary] : student.arms) {
    out += TerminalText::Format("{}{}\n", ArmLine(style, student.activation ? "right" : ShortLabel(arm), summary),
                                Extras(summary));
  }
  if (const std::optional<double> lift = ShownLift(student, verdict, ComparedArm(run.plan())))
    out += LiftLines("lift", verdict, *lift, style);
  for (const auto& [arm, verdicts] : run.others) {
    if (!verdicts[index].lift) continue;
    out +=
        LiftLines(std::string("vs ") + ArmName(arm), verdicts[index], *ShownLift(student, verdicts[index], arm), style);
  }
  for (const auto& [label, text] : ActivationLines(run.plan(), student))
    out += LabelledLine(label, Wrapped(text, style.columns, kLabelled));
  for (const auto& [label, text] : ExpenseLines(run, index))
    out += LabelledLine(label, Wrapped(text.text(), style.columns, kLabelled));
  for (const auto& [label, text] : WorkLines(student))
    out += LabelledLine(label, Wrapped(text, style.columns, kLabelled));
  out += VerdictNotes(run, index, style) + TagLines(run, index);
  for (const TerminalText& note : FindingNotes(run, index)) out += "  " + Wrapped(note.text(), style.columns, 2) + "\n";
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
  constexpr std::size_t kMaxShown = 5;
  if (names.empty()) return "";
  const std::vector<std::string> shown(names.begin(),
                                       names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMaxShown)));
  const std::string more = names.size() > kMaxShown ? fmt::format(" and {} more", names.size() - kMaxShown) : "";
  return TerminalText::Format("{} {}: {}{}\n", Counted(names.size(), "case"), what, TerminalText::Join(shown, ", "),
                              more);
}

// The outcomes of one case in one arm, equal ones counted: "2 of 3 passed", then each distinct failure.
TerminalText CaseArmLines(const SampleList& samples, Arm arm, const Style& style) {
  std::size_t passed = 0;
  std::size_t answered = 0;
  std::map<std::pair<std::size_t, std::string>, std::size_t> failures;  // in the order of the suite's checks
  for (std::size_t round = 0; round < samples.size(); ++round) {
    if (samples.final(round).answered) ++answered;
    if (samples.final(round).passed) {
      ++passed;
      continue;
    }
    const SamplePtr sample = samples[round];
    if (!sample->ok()) ++failures[{std::string::npos, "error: " + sample->error->message}];
    for (std::size_t i = 0; i < sample->checks.size(); ++i) {
      const CheckResult& check = sample->checks[i];
      if (check.outcome == Outcome::kPass) continue;
      const char* const skipped = check.outcome == Outcome::kSkip ? "skipped, " : "";
      ++failures[{i, fmt::format("{}: {}{}", check.name, skipped, check.detail)}];
    }
  }
  TerminalText out = TerminalText::Format("  {:<10}  {} of {} passed\n", ShortLabel(arm), passed, answered);
  for (const auto& [failure, count] : failures)
    out += TerminalText::Format("      {}\n", Wrapped(fmt::format("{}× {}", count, failure.second), style.columns, 9));
  return out;
}

constexpr std::size_t kShownLines = 6;

std::size_t AnswerRoom(const Style& style) { return style.columns > 12 ? style.columns - 8 : 12; }

// Whether AnswerLines leaves anything out.
bool IsLong(const Sample& sample, const Style& style) {
  const std::vector<std::string_view> lines = SplitLines(sample.response.text);
  return lines.size() > kShownLines || std::any_of(lines.begin(), lines.end(), [&](std::string_view line) {
           return TerminalText::Escape(line).columns() > AnswerRoom(style);
         });
}

TerminalText AnswerLines(const Sample& sample, const Style& style) {
  TerminalText out;
  const std::vector<std::string_view> lines = SplitLines(sample.response.text);
  for (std::size_t i = 0; i < std::min(lines.size(), kShownLines); ++i) {
    out += "      " + Tinted(style, Tint::kDim, "│ " + TerminalText::Escape(lines[i]).Cut(AnswerRoom(style))) + "\n";
  }
  if (lines.size() > kShownLines) {
    const TerminalText more = TerminalText::Format("│ … {}", Counted(lines.size() - kShownLines, "more line"));
    out += "      " + Tinted(style, Tint::kDim, more) + "\n";
  }
  return out;
}

// Null: there is none.
SamplePtr FirstFailure(const SampleList& rounds) {
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    if (rounds.final(i).answered && !rounds.final(i).passed) return rounds[i];
  }
  return nullptr;
}

std::string CasesText(const Plan& plan) {
  const std::size_t cases = plan.suite.cases.size();
  if (!plan.measures_activation()) return Counted(cases, "case");
  return cases == 1 ? "1 query" : fmt::format("{} queries", WithThousands(static_cast<long long>(cases)));
}

TerminalText HeadLine(const Plan& plan, const std::string& rounds, std::size_t cells, const Style& style) {
  const std::string shard =
      plan.shard.of > 1 ? fmt::format(" · shard {} of {}", plan.shard.index + 1, plan.shard.of) : "";
  const std::string what = plan.imported ? "imported from " + plan.imported->format
                                         : "skill about " + Counted(EstimateTokens(plan.skill.body), "token");
  const TerminalText name = TerminalText::EscapeLine(plan.skill.name);
  const std::string line = fmt::format(
      "{} · {} · {} × {} × {}{} = {}{}", name.text(), what, CasesText(plan), rounds, Counted(plan.arms.size(), "arm"),
      plan.students.size() > 1 ? fmt::format(" × {}", Counted(plan.students.size(), "model")) : "",
      Counted(cells, "cell"), shard);
  // The line begins with the name, unless that is too long for one.
  const std::string wrapped = Wrapped(line, style.columns, 2).text();
  const bool whole = wrapped.starts_with(name.text());
  TerminalText head = whole
                          ? Tinted(style, Tint::kBold, name) + TerminalText::Trusted(wrapped.substr(name.text().size()))
                          : TerminalText::Trusted(wrapped);
  head += "\n";
  for (const std::string& remark : RemarksOn(plan)) head += TerminalText::Format("{}\n", remark);
  return head;
}

}  // namespace

TerminalText EvalHead(const Plan& plan, const Style& style) {
  const auto rounds = static_cast<std::size_t>(plan.rounds);
  return HeadLine(plan, (plan.stop_when_decided ? "up to " : "") + Counted(rounds, "round"),
                  plan.suite.cases.size() * rounds * plan.arms.size() * plan.students.size(), style);
}

TerminalText EvalHead(const JudgedRun& run, const Style& style) {
  const bool all = std::none_of(run.summary.students.begin(), run.summary.students.end(),
                                [](const StudentSummary& student) { return student.cells_skipped > 0; });
  if (all) return EvalHead(run.plan(), style);
  return HeadLine(run.plan(), RoundsText(run), run.summary.cells, style);
}

TerminalText LiftLine(const StudentVerdict& verdict, double shown, const Style& style) {
  return TerminalText::Format(
      "{}   {}", LiftText(verdict, shown),
      Tinted(style, ShownAs(verdict.word).tint, TerminalText::EscapeLine(VerdictText(verdict))));
}

TerminalText EvalBars(const JudgedRun& run, const Style& style) {
  TerminalText out;
  for (std::size_t i = 0; i < run.summary.students.size(); ++i) out += StudentBlock(run, i, style) + "\n";
  return out;
}

TerminalText EvalTable(const JudgedRun& run, const Style& style) {
  return StudentTable(&StudentColumn::eval, StudentRowsOf(run), style);
}

TerminalText EvalTableNotes(const JudgedRun& run, const Style& style) {
  TerminalText out;
  const auto add = [&](const std::string& line) { out += Wrapped(line, style.columns, 2) + "\n"; };
  for (std::size_t i = 0; i < run.summary.students.size(); ++i) {
    const StudentSummary& student = run.summary.students[i];
    const std::string& name = student.student.name;
    for (const auto& [label, text] : ActivationLines(run.plan(), student))
      add(fmt::format("{}: {} {}", name, label, text));
    for (const auto& [label, text] : ExpenseLines(run, i)) {
      if (!label.empty() && run.verdicts[i].lift) add(fmt::format("{}: {} {}", name, label, text.text()));
    }
    for (const auto& [arm, summary] : student.arms) {
      if (const std::string extras = Extras(summary); !extras.empty())
        add(fmt::format("{}, {}: {}", name, ArmLabel(arm), Trim(extras)));
    }
    for (const std::string& line : ErrorLines(student)) add(fmt::format("{}, {}", name, line));
    for (const std::string& remark : VerdictRemarks(run, i)) add(fmt::format("{}: {}", name, remark));
    for (const auto& [arm, verdicts] : run.others) {
      if (verdicts[i].lift)
        add(fmt::format("{}: vs {}: {}", name, ArmName(arm),
                        LiftLine(verdicts[i], *ShownLift(student, verdicts[i], arm), {}).text()));
    }
    for (const TerminalText& note : FindingNotes(run, i)) add(fmt::format("{}: {}", name, note.text()));
  }
  const TerminalText spot = SweetSpotNote(run);
  if (!spot.empty()) add(std::string(Trim(spot.text())));
  return out;
}

TerminalText EvalCaseNotes(const JudgedRun& run, const std::string& how_to_see) {
  const Plan& plan = run.plan();
  const RunSummary& summary = run.summary;
  const TerminalText never =
      NoteLine(CasesWhere(plan, summary, [](const CaseTally& tally) { return tally.passed == 0; }), "never passed");
  const TerminalText hint = never.empty() || how_to_see.empty()
                                ? TerminalText()
                                : TerminalText::Format("  show their answers: {}\n", how_to_see);
  return never + hint +
         NoteLine(CasesWhere(plan, summary, [](const CaseTally& tally) { return tally.passed == tally.answered; }),
                  plan.arms.size() == 1          ? "always passed"
                  : plan.has_arm(Arm::kBaseline) ? "always passed, with and without the skill"
                                                 : "always passed, with both versions");
}

TerminalText EvalCases(const RunData& data, const Style& style, const std::string& how_to_see) {
  const Plan& plan = data.plan();
  TerminalText out;
  bool any_long = false;
  for (std::size_t student = 0; student < plan.students.size(); ++student) {
    out += Tinted(style, Tint::kBold, TerminalText::EscapeLine(plan.students[student].name)) + "\n";
    for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
      const Case& test_case = plan.suite.cases[i];
      out += TerminalText::Format(
          "{} · {}\n", test_case.id,
          TerminalText::EscapeLine(test_case.input).Cut(style.columns > 40 ? style.columns - 30 : 20));
      for (const Arm arm : plan.arms) {
        const SampleList rounds = data.samples(student, arm, i);
        out += CaseArmLines(rounds, arm, style);
        const SamplePtr shown = FirstFailure(rounds);
        if (shown == nullptr) continue;
        out += AnswerLines(*shown, style);
        any_long = any_long || IsLong(*shown, style);
      }
    }
    out += "\n";
  }
  if (any_long && !how_to_see.empty()) out += TerminalText::Format("whole answers: {}\n\n", how_to_see);
  return out;
}

}  // namespace upskill
