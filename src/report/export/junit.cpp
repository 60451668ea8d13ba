// SPDX-License-Identifier: Apache-2.0
#include "report/export/junit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "check/command_check.h"
#include "eval/verdict/gate.h"
#include "report/export/broken_cases.h"
#include "report/export/junit_writer.h"
#include "report/terminal/figures.h"
#include "report/terminal/judge_text.h"
#include "report/terminal/verdict_text.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kLongestOutput = 20000;  // bytes of an answer in a failure
constexpr std::size_t kMostDescribed = 20;     // failing rounds of a case

// The final samples of one case of one student in the reported arm, by round.
struct CaseRounds {
  explicit CaseRounds(SampleList list) : samples(std::move(list)) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const FinalSample sample = samples.final(i);
      if (!sample.answered) continue;
      ++answered;
      passed += sample.passed ? 1 : 0;
      seconds += sample.figures->seconds;
      if (!sample.figures->has_failed_check) continue;
      failed.push_back(i);
      only_time = only_time && sample.figures->failed_by_time_alone;
    }
  }

  SampleList samples;
  std::size_t answered = 0;
  std::size_t passed = 0;
  double seconds = 0.0;
  std::vector<std::size_t> failed;  // of the samples: those with a check that failed
  bool only_time = true;            // these reached their time limits
};

using CaseOutcome = JUnitCase::Outcome;

// A case that failed in no more than half of its rounds isn't red: models vary, and the gate judges all cases together.
CaseOutcome OutcomeOf(const CaseRounds& rounds, std::size_t wanted) {
  if (2 * rounds.failed.size() > rounds.answered) return CaseOutcome::kFailed;
  if (rounds.answered < wanted) return CaseOutcome::kError;
  return rounds.passed + rounds.failed.size() == rounds.samples.size() ? CaseOutcome::kPassed : CaseOutcome::kSkipped;
}

std::string Excerpt(const std::string& text) {
  if (text.size() <= kLongestOutput) return text;
  std::size_t end = kLongestOutput;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + fmt::format("\n… {} more bytes", text.size() - end);
}

void DescribeFailure(const CaseRounds& rounds, JUnitCase& out) {
  const std::size_t described = std::min(rounds.failed.size(), kMostDescribed);
  for (std::size_t i = 0; i < described; ++i) {
    const SamplePtr sample = rounds.samples[rounds.failed[i]];
    out.body += fmt::format("round {}:\n", sample->round + 1);
    for (const CheckResult& check : sample->checks) {
      if (check.outcome != Outcome::kFail) continue;
      const std::string line = check.name + (check.detail.empty() ? "" : ": " + check.detail);
      if (out.message.empty()) out.message = line;
      out.body += "  " + line + "\n";
    }
    out.body += "answer:\n" + Excerpt(sample->response.text) + "\n";
  }
  if (const std::size_t more = rounds.failed.size() - described; more > 0)
    out.body += fmt::format("… and {} that {}\n", Counted(more, "more round"), more == 1 ? "fails" : "fail");
  out.type = rounds.only_time ? "time_limit" : "check";
}

void DescribeError(const CaseRounds& rounds, std::size_t wanted, JUnitCase& out) {
  const std::size_t open = wanted - rounds.answered;
  out.message = fmt::format("{} of {} {} unanswered", open, Counted(wanted, "round"), open == 1 ? "is" : "are");
  out.type = "unanswered";
  if (const SamplePtr error = rounds.samples.first_error()) {
    out.type = ErrorKindName(error->error->kind);
    out.message += "; " + error->error->message;
  }
}

// By the last check that could not run.
void DescribeSkip(const CaseRounds& rounds, JUnitCase& out) {
  out.message = "a check could not run";
  for (std::size_t i = rounds.samples.size(); i-- > 0;) {
    if (rounds.samples.final(i).passed) continue;
    const SamplePtr sample = rounds.samples[i];
    const auto skipped = std::find_if(sample->checks.rbegin(), sample->checks.rend(),
                                      [](const CheckResult& check) { return check.outcome == Outcome::kSkip; });
    if (skipped == sample->checks.rend()) continue;
    out.message = skipped->name + ": " + skipped->detail;
    return;
  }
}

JUnitCase TestCase(const std::string& id, const std::string& classname, const CaseRounds& rounds, std::size_t wanted) {
  JUnitCase out;
  out.name = id;
  out.classname = classname;
  out.seconds = rounds.seconds;
  out.outcome = OutcomeOf(rounds, wanted);
  switch (out.outcome) {
    case CaseOutcome::kPassed:
      break;
    case CaseOutcome::kFailed:
      DescribeFailure(rounds, out);
      break;
    case CaseOutcome::kError:
      DescribeError(rounds, wanted, out);
      break;
    case CaseOutcome::kSkipped:
      DescribeSkip(rounds, out);
      break;
  }
  return out;
}

// A case that no answer could pass where the run was made, from its sentence in Plan::left_out:
// `FILE:LINE: case 3 ("colour") is left out: its check …`.
JUnitCase LeftOutCase(const std::string& sentence, const std::string& classname) {
  constexpr std::string_view kLeftOut = " is left out: ";
  JUnitCase out;
  out.classname = classname;
  out.outcome = CaseOutcome::kSkipped;
  out.message = sentence;
  const std::size_t end = sentence.find(kLeftOut);
  std::string_view name = std::string_view(sentence).substr(0, end);
  if (const std::size_t quote = name.find("(\""); quote != std::string_view::npos && name.ends_with("\")"))
    name = name.substr(quote + 2, name.size() - quote - 4);
  out.name = name;
  if (end != std::string::npos) out.message = "left out: " + sentence.substr(end + kLeftOut.size());
  return out;
}

// The gate's clauses about this student; those about no student are the first one's.
void AddGate(const JudgedRun& run, std::size_t index, const std::vector<GateResult>& results, JUnitSuite& suite) {
  const std::string& student = run.plan().students[index].name;
  for (const GateResult& result : results) {
    if (result.model.empty() ? index > 0 : result.model != student) continue;
    JUnitCase& out = suite.cases.emplace_back();
    out.name = "gate: " + result.clause + (result.against.empty() ? "" : " vs " + result.against);
    out.classname = run.plan().skill.name + "." + student + ".gate";
    if (!run.summary.complete()) {
      out.outcome = CaseOutcome::kError;
      out.type = "incomplete";
      out.message = "not evaluated: the run is incomplete";
      continue;
    }
    if (result.passed) continue;
    out.outcome = CaseOutcome::kFailed;
    out.type = "gate";
    out.message = result.detail;
    if (result.against != ArmName(Arm::kPrevious)) continue;
    for (const BrokenCase& one : FindBrokenCases(run, index).cases)
      out.body += fmt::format("{}: {} before, now {}\n  {}\nanswer:\n{}\n", one.id, one.before, one.after, one.check,
                              Excerpt(one.answer));
  }
}

void AddProperties(const JudgedRun& run, std::size_t index, Arm arm, JUnitSuite& suite) {
  const auto add = [&suite](const char* name, std::string value) {
    suite.properties.emplace_back(name, std::move(value));
  };
  add("run", run.plan().run);
  add("arm", ArmName(arm));
  if (const std::optional<Verdict> word = WordOf(run, index)) {
    add("verdict", VerdictName(*word));
    add("claim", ClaimText(run.verdicts[index]));
  }
  if (const auto lift = ShownLift(run.summary.students[index], run.verdicts[index], ComparedArm(run.plan())))
    add("lift_points", PointsText(*lift));
  for (const TagLift& ground : run.findings[index].grounds) {
    if (ground.group.lift) suite.properties.emplace_back("lift_points_" + ground.tag, PointsText(*ground.group.lift));
  }
  if (run.plan().judge) {
    add("judge", JudgeText(run.plan()));
    if (const std::string corrected = CorrectedLiftText(run, index); !corrected.empty())
      add("judge_correction", corrected);
  }
  for (const std::string& remark : VerdictRemarks(run, index)) add("remark", remark);
}

JUnitSuite SuiteOf(const JudgedRun& run, std::size_t index, const std::vector<GateResult>& gate) {
  const Plan& plan = run.plan();
  const Student& student = plan.students[index];
  const Arm arm = plan.has_arm(Arm::kSkill) || plan.arms.empty() ? Arm::kSkill : plan.arms.front();
  JUnitSuite suite;
  suite.name = plan.skill.name + " on " + student.name;
  // xs:dateTime; a plan that doesn't tell its time has none.
  const bool dated = plan.created.size() == 20 && plan.created[10] == 'T' &&
                     plan.created.find_first_not_of("0123456789-:TZ") == std::string::npos;
  if (dated) suite.timestamp = plan.created;
  AddProperties(run, index, arm, suite);
  const std::string classname = plan.skill.name + "." + student.name;
  // A run that stopped when its verdict was known has fewer rounds than planned.
  const auto wanted = static_cast<std::size_t>(std::max(run.summary.students[index].rounds, 1));
  AddGate(run, index, gate, suite);
  const bool holds = !gate.empty() && run.summary.complete() &&
                     std::all_of(gate.begin(), gate.end(), [](const GateResult& result) { return result.passed; });
  for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
    JUnitCase one = TestCase(plan.suite.cases[i].id, classname, CaseRounds(run.data.samples(index, arm, i)), wanted);
    // The gate has the last word: a CI server must not be red where the command's exit code is 0.
    if (holds && one.outcome == CaseOutcome::kFailed) {
      one.outcome = CaseOutcome::kSkipped;
      one.message = "failed, but the gate holds: " + one.message;
    }
    suite.cases.push_back(std::move(one));
  }
  for (const std::string& sentence : plan.left_out) suite.cases.push_back(LeftOutCase(sentence, classname));
  return suite;
}

using Judged = AnswerReport::Word;

// Why the answer's outcome is open.
std::string WhyNotChecked(const AnswerReport& answer) {
  if (answer.results.empty()) return "stopped before it was tried";
  for (const CheckResult& result : answer.results) {
    if (result.outcome == Outcome::kSkip) return result.name + ": " + result.detail;
  }
  return "a check could not run";
}

void LeaveOpen(std::string message, bool strict, JUnitCase& out) {
  out.outcome = strict ? CaseOutcome::kFailed : CaseOutcome::kSkipped;
  out.type = "strict";
  out.message = std::move(message);
}

JUnitCase AnswerCase(const AnswerReport& answer, bool strict) {
  JUnitCase out;
  out.name = answer.name;
  out.seconds = answer.seconds;
  switch (answer.word) {
    case Judged::kAsExpected:
      break;
    case Judged::kNotAsExpected:
      out.outcome = CaseOutcome::kFailed;
      out.type = std::any_of(answer.results.begin(), answer.results.end(), ReachedTimeLimit) ? "time_limit" : "answer";
      out.message = answer.problem;
      for (const CheckResult& result : answer.results)
        out.body += fmt::format("{} {}{}{}\n", OutcomeName(result.outcome), result.name,
                                result.detail.empty() ? "" : ": ", result.detail);
      break;
    case Judged::kNotChecked:
      LeaveOpen(WhyNotChecked(answer), strict, out);
      break;
  }
  return out;
}

void AddCases(const CaseReport& one, const std::string& prefix, bool strict, JUnitSuite& suite) {
  const auto add = [&](JUnitCase added) {
    added.classname = prefix + one.id;
    suite.cases.push_back(std::move(added));
  };
  for (const AnswerReport& answer : one.answers) add(AnswerCase(answer, strict));
  if (one.answers.empty()) {
    JUnitCase none;
    none.name = "reference";
    LeaveOpen("the case has no answer to try", strict, none);
    add(std::move(none));
  }
  if (!one.weaknesses.empty()) {
    JUnitCase weak;
    weak.name = "weaknesses";
    weak.outcome = CaseOutcome::kFailed;
    weak.type = "weakness";
    weak.message = one.weaknesses.front();
    weak.body = fmt::format("{}\n", fmt::join(one.weaknesses, "\n"));
    add(std::move(weak));
  }
}

}  // namespace

std::string JUnitXml(std::span<const JudgedRun> runs) {
  std::vector<JUnitSuite> suites;
  for (const JudgedRun& run : runs) {
    const std::optional<Gate> gate = GateOf(run.plan());
    const std::vector<GateResult> results = gate ? CheckGate(*gate, run) : std::vector<GateResult>();
    for (std::size_t i = 0; i < run.plan().students.size(); ++i) suites.push_back(SuiteOf(run, i, results));
  }
  return JUnitDocument(suites);
}

std::string CheckJUnitXml(const Suite& suite, const SuiteReport& report, bool strict) {
  JUnitSuite out;
  out.name = suite.source.string();
  const std::string folder = suite.source.parent_path().filename().string();
  const std::string prefix = folder.empty() ? "" : folder + ".";
  for (const CaseReport& one : report.cases) AddCases(one, prefix, strict, out);
  for (std::size_t i = 0; strict && i < suite.warnings.size(); ++i) {
    JUnitCase warning;
    warning.classname = prefix + suite.source.filename().string();
    warning.name = fmt::format("warning {}", i + 1);
    warning.outcome = CaseOutcome::kFailed;
    warning.type = "strict";
    warning.message = suite.warnings[i];
    out.cases.push_back(std::move(warning));
  }
  return JUnitDocument({out});
}

}  // namespace upskill
