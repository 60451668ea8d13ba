// SPDX-License-Identifier: Apache-2.0
#include "report/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "check/command_check.h"
#include "report/figures.h"
#include "report/judge_text.h"
#include "report/junit_writer.h"
#include "report/verdict_text.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kLongestOutput = 20000;  // bytes of an answer in a failure

// The final samples of one case of one student in the reported arm, by round.
using CaseRounds = std::vector<const Sample*>;

using CaseOutcome = JUnitCase::Outcome;

bool Failed(const Sample& sample) {
  return sample.ok() && std::any_of(sample.checks.begin(), sample.checks.end(),
                                    [](const CheckResult& c) { return c.outcome == Outcome::kFail; });
}

CaseOutcome OutcomeOf(const CaseRounds& rounds, std::size_t wanted) {
  if (std::any_of(rounds.begin(), rounds.end(), [](const Sample* s) { return Failed(*s); }))
    return CaseOutcome::kFailed;
  const auto answered = std::count_if(rounds.begin(), rounds.end(), [](const Sample* s) { return s->ok(); });
  if (static_cast<std::size_t>(answered) < wanted) return CaseOutcome::kError;
  const bool all = std::all_of(rounds.begin(), rounds.end(), [](const Sample* s) { return s->passed(); });
  return all ? CaseOutcome::kPassed : CaseOutcome::kSkipped;
}

std::string Excerpt(const std::string& text) {
  if (text.size() <= kLongestOutput) return text;
  std::size_t end = kLongestOutput;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + fmt::format("\n… {} more bytes", text.size() - end);
}

void DescribeFailure(const CaseRounds& rounds, JUnitCase& out) {
  bool only_time = true;
  for (const Sample* sample : rounds) {
    if (!Failed(*sample)) continue;
    out.body += fmt::format("round {}:\n", sample->round + 1);
    for (const CheckResult& check : sample->checks) {
      if (check.outcome != Outcome::kFail) continue;
      const std::string line = check.name + (check.detail.empty() ? "" : ": " + check.detail);
      if (out.message.empty()) out.message = line;
      only_time = only_time && ReachedTimeLimit(check);
      out.body += "  " + line + "\n";
    }
    out.body += "answer:\n" + Excerpt(sample->response.text) + "\n";
  }
  out.type = only_time ? "time_limit" : "check";
}

void DescribeError(const CaseRounds& rounds, std::size_t wanted, JUnitCase& out) {
  const auto answered = std::count_if(rounds.begin(), rounds.end(), [](const Sample* s) { return s->ok(); });
  const std::size_t open = wanted - static_cast<std::size_t>(answered);
  out.message = fmt::format("{} of {} {} unanswered", open, Counted(wanted, "round"), open == 1 ? "is" : "are");
  out.type = "unanswered";
  for (const Sample* sample : rounds) {
    if (sample->ok()) continue;
    out.type = ErrorKindName(sample->error->kind);
    out.message += "; " + sample->error->message;
    break;
  }
}

void DescribeSkip(const CaseRounds& rounds, JUnitCase& out) {
  out.message = "a check could not run";
  for (const Sample* sample : rounds) {
    for (const CheckResult& check : sample->checks) {
      if (check.outcome == Outcome::kSkip) out.message = check.name + ": " + check.detail;
    }
  }
}

JUnitCase TestCase(const std::string& id, const std::string& classname, const CaseRounds& rounds, std::size_t wanted) {
  JUnitCase out;
  out.name = id;
  out.classname = classname;
  for (const Sample* sample : rounds) out.seconds += sample->ok() ? sample->response.seconds : 0.0;
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
  if (const std::optional<double> lift = LiftOf(run, index)) add("lift_points", PointsText(*lift));
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

JUnitSuite SuiteOf(const JudgedRun& run, std::size_t index) {
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
  for (std::size_t i = 0; i < plan.suite.cases.size(); ++i)
    suite.cases.push_back(TestCase(plan.suite.cases[i].id, classname, run.data.samples(index, arm, i), wanted));
  for (const std::string& sentence : plan.left_out) suite.cases.push_back(LeftOutCase(sentence, classname));
  return suite;
}

}  // namespace

std::string JUnitXml(std::span<const JudgedRun> runs) {
  std::vector<JUnitSuite> suites;
  for (const JudgedRun& run : runs) {
    for (std::size_t i = 0; i < run.plan().students.size(); ++i) suites.push_back(SuiteOf(run, i));
  }
  return JUnitDocument(suites);
}

}  // namespace upskill
