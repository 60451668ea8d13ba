// SPDX-License-Identifier: Apache-2.0
#include "report/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/figures.h"
#include "report/verdict_text.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kLongestOutput = 20000;  // bytes of an answer in a failure

// The Unicode code point of valid UTF-8 at `i`, and its length in bytes.
std::pair<char32_t, std::size_t> CodePointAt(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<char32_t>(static_cast<unsigned char>(text[i + k])); };
  const char32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  if (first < 0xE0) return {(first & 0x1FU) << 6U | (byte(1) & 0x3FU), 2};
  if (first < 0xF0) return {(first & 0x0FU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU), 3};
  return {(first & 0x07U) << 18U | (byte(1) & 0x3FU) << 12U | (byte(2) & 0x3FU) << 6U | (byte(3) & 0x3FU), 4};
}

bool AllowedInXml(char32_t c) {
  return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0x7F && c != 0xFFFE && c != 0xFFFF);
}

// The final samples of one case of one student in the reported arm, by round.
using CaseRounds = std::vector<const Sample*>;

enum class CaseOutcome { kPassed, kFailed, kError, kSkipped };

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

void AppendFailure(std::string& out, const CaseRounds& rounds) {
  std::string message;
  std::string body;
  for (const Sample* sample : rounds) {
    if (!Failed(*sample)) continue;
    body += fmt::format("round {}:\n", sample->round + 1);
    for (const CheckResult& check : sample->checks) {
      if (check.outcome != Outcome::kFail) continue;
      const std::string line = check.name + (check.detail.empty() ? "" : ": " + check.detail);
      if (message.empty()) message = line;
      body += "  " + line + "\n";
    }
    body += "answer:\n" + Excerpt(sample->response.text) + "\n";
  }
  out +=
      fmt::format("\n      <failure message=\"{}\" type=\"check\">{}</failure>\n    ", XmlText(message), XmlText(body));
}

void AppendError(std::string& out, const CaseRounds& rounds, std::size_t wanted) {
  const auto answered = std::count_if(rounds.begin(), rounds.end(), [](const Sample* s) { return s->ok(); });
  const std::size_t open = wanted - static_cast<std::size_t>(answered);
  std::string message = fmt::format("{} of {} {} unanswered", open, Counted(wanted, "round"), open == 1 ? "is" : "are");
  std::string kind = "unanswered";
  for (const Sample* sample : rounds) {
    if (sample->ok()) continue;
    kind = ErrorKindName(sample->error->kind);
    message += "; " + sample->error->message;
    break;
  }
  out += fmt::format("\n      <error message=\"{}\" type=\"{}\"/>\n    ", XmlText(message), XmlText(kind));
}

void AppendSkipped(std::string& out, const CaseRounds& rounds) {
  std::string reason = "a check could not run";
  for (const Sample* sample : rounds) {
    for (const CheckResult& check : sample->checks) {
      if (check.outcome == Outcome::kSkip) reason = check.name + ": " + check.detail;
    }
  }
  out += fmt::format("\n      <skipped message=\"{}\"/>\n    ", XmlText(reason));
}

struct Totals {
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::size_t skipped = 0;
  double seconds = 0.0;
};

std::string TestCase(const JudgedRun& run, const Student& student, const std::string& id, const CaseRounds& rounds,
                     std::size_t wanted, Totals& totals) {
  double seconds = 0.0;
  for (const Sample* sample : rounds) seconds += sample->ok() ? sample->response.seconds : 0.0;
  std::string inner;
  switch (OutcomeOf(rounds, wanted)) {
    case CaseOutcome::kPassed:
      break;
    case CaseOutcome::kFailed:
      AppendFailure(inner, rounds);
      ++totals.failures;
      break;
    case CaseOutcome::kError:
      AppendError(inner, rounds, wanted);
      ++totals.errors;
      break;
    case CaseOutcome::kSkipped:
      AppendSkipped(inner, rounds);
      ++totals.skipped;
      break;
  }
  ++totals.tests;
  totals.seconds += seconds;
  return fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"{:.3f}\">{}</testcase>\n", XmlText(id),
                     XmlText(run.plan().skill.name + "." + student.name), seconds, inner);
}

std::string TestSuite(const JudgedRun& run, std::size_t index, std::size_t number, Totals& all) {
  const Plan& plan = run.plan();
  const Student& student = plan.students[index];
  const Arm arm = plan.has_arm(Arm::kSkill) || plan.arms.empty() ? Arm::kSkill : plan.arms.front();
  Totals totals;
  std::string inner;
  // A run that stopped when its verdict was known has fewer rounds than planned.
  const auto wanted = static_cast<std::size_t>(std::max(run.summary.students[index].rounds, 1));
  for (std::size_t i = 0; i < plan.suite.cases.size(); ++i)
    inner += TestCase(run, student, plan.suite.cases[i].id, run.data.samples(index, arm, i), wanted, totals);
  std::string properties =
      fmt::format("      <property name=\"run\" value=\"{}\"/>\n      <property name=\"arm\" value=\"{}\"/>\n",
                  XmlText(plan.run), ArmName(arm));
  if (const std::optional<Verdict> word = WordOf(run, index))
    properties +=
        fmt::format("      <property name=\"verdict\" value=\"{}\"/>\n", VerdictName(*word)) +
        fmt::format("      <property name=\"claim\" value=\"{}\"/>\n", XmlText(ClaimText(run.verdicts[index])));
  if (const std::optional<double> lift = LiftOf(run, index))
    properties += fmt::format("      <property name=\"lift_points\" value=\"{}\"/>\n", PointsText(*lift));
  for (const std::string& remark : VerdictRemarks(run, index))
    properties += fmt::format("      <property name=\"remark\" value=\"{}\"/>\n", XmlText(remark));
  // xs:dateTime; a plan that doesn't tell its time has none.
  const bool dated = plan.created.size() == 20 && plan.created[10] == 'T' &&
                     plan.created.find_first_not_of("0123456789-:TZ") == std::string::npos;
  const std::string timestamp = dated ? fmt::format(" timestamp=\"{}\"", plan.created) : "";
  const std::string name = plan.skill.name + " on " + student.name;
  all.tests += totals.tests;
  all.failures += totals.failures;
  all.errors += totals.errors;
  all.skipped += totals.skipped;
  all.seconds += totals.seconds;
  return fmt::format(
      "  <testsuite name=\"{}\" id=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
      "time=\"{:.3f}\"{}>\n"
      "    <properties>\n{}    </properties>\n{}  </testsuite>\n",
      XmlText(name), number, totals.tests, totals.failures, totals.errors, totals.skipped, totals.seconds, timestamp,
      properties, inner);
}

}  // namespace

std::string XmlText(std::string_view text) {
  const std::string valid = FindInvalidUtf8(text) ? ReplaceInvalidUtf8(text) : std::string(text);
  std::string out;
  out.reserve(valid.size());
  for (std::size_t i = 0; i < valid.size();) {
    const auto [c, length] = CodePointAt(valid, i);
    if (!AllowedInXml(c)) {
      out += "\uFFFD";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\n') {
      out += "&#10;";  // an attribute would turn the character itself into a space
    } else if (c == '\r') {
      out += "&#13;";
    } else if (c == '\t') {
      out += "&#9;";
    } else {
      out.append(valid, i, length);
    }
    i += length;
  }
  return out;
}

std::string JUnitXml(std::span<const JudgedRun> runs) {
  Totals all;
  std::string suites;
  std::size_t number = 0;
  for (const JudgedRun& run : runs) {
    for (std::size_t i = 0; i < run.plan().students.size(); ++i) suites += TestSuite(run, i, number++, all);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"upskill\" tests=\"{}\" failures=\"{}\" "
      "errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n{}</testsuites>\n",
      all.tests, all.failures, all.errors, all.skipped, all.seconds, suites);
}

}  // namespace upskill
