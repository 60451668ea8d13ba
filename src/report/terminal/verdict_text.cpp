// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "eval/verdict/missing.h"
#include "eval/verdict/stop_rule.h"
#include "report/terminal/figures.h"
#include "report/terminal/judge_text.h"
#include "report/terminal/ledger_text.h"
#include "report/terminal/style.h"
#include "util/percent.h"
#include "util/text.h"

namespace upskill {
namespace {

const char* NounOf(ErrorCause cause) {
  switch (cause) {
    case ErrorCause::kUnknown:
      break;
    case ErrorCause::kNotSent:
      return "unsent request";
    case ErrorCause::kUnreachable:
      return "failed connection";
    case ErrorCause::kRateLimit:
      return "rate limit";
    case ErrorCause::kOverloaded:
      return "overload";
    case ErrorCause::kRejected:
      return "rejected request";
    case ErrorCause::kTimeout:
      return "timeout";
    case ErrorCause::kBroken:
      return "broken response";
    case ErrorCause::kTooLong:
      return "over-long answer";
    case ErrorCause::kUnusable:
      return "unreadable response";
    case ErrorCause::kFiltered:
      return "filtered request";
    case ErrorCause::kServerError:
      return "server error";
    case ErrorCause::kCrash:
      return "engine crash";
    case ErrorCause::kCommand:
      return "command failure";
    case ErrorCause::kLimit:
      return "spent budget";
  }
  return "other error";
}

std::string CountedCause(ErrorCause cause, std::size_t count) {
  if (cause == ErrorCause::kCrash && count != 1) return fmt::format("{} engine crashes", count);
  return Counted(count, NounOf(cause));
}

std::string JoinedWithAnd(const std::vector<std::string>& parts) {
  if (parts.size() < 2) return parts.empty() ? "" : parts.front();
  const std::vector<std::string> head(parts.begin(), parts.end() - 1);
  return fmt::format("{} and {}", fmt::join(head, ", "), parts.back());
}

std::string LostIn(const JudgedRun& run, std::size_t student, Arm arm) {
  const ArmSummary* summary = ArmOf(run.summary.students[student], arm);
  return summary == nullptr ? "" : ErrorsText(summary->failed_attempts, true);
}

// "14 timeouts with the skill; had they been failures, there would be no verdict"
std::string LostAnswersText(const JudgedRun& run, std::size_t student) {
  const StudentVerdict& verdict = run.verdicts[student];
  const Arm reference = ComparedArm(run.plan());
  const std::string with = LostIn(run, student, Arm::kSkill);
  const std::string without = LostIn(run, student, reference);
  if (with.empty() && without.empty())
    return "taken back because of the errors of other models, with which it shares the error rate";
  const std::string where = reference == Arm::kBaseline ? "in the baseline" : "with the previous version";
  std::string what = with.empty() ? "" : with + " with the skill";
  if (!without.empty()) what += fmt::format("{}{} {}", what.empty() ? "" : ", ", without, where);
  const Verdict word = verdict.without_doubt;
  const bool helps = word == Verdict::kHelps;
  const char* as_with = helps ? "failures" : "passes";
  const char* as_without = helps ? "passes" : "failures";
  std::string assumed;
  if (word == Verdict::kNoEffect) {
    assumed = "had they been failures, or passes";
  } else if (without.empty()) {
    assumed = fmt::format("had they been {}", as_with);
  } else if (with.empty()) {
    assumed = fmt::format("had they been {}", as_without);
  } else {
    assumed = fmt::format("had the first been {} and the others {}", as_with, as_without);
  }
  return fmt::format("{}; {}, there would be no verdict", what, assumed);
}

// Why a word that was reached isn't claimed any more.
std::string LaterAnswersText(const StudentVerdict& verdict) {
  if (verdict.doubt != Doubt::kLaterAnswers) return "";
  const char* word = VerdictName(verdict.without_doubt);
  if (verdict.without_doubt == Verdict::kNoEffect)
    return "'no effect' was decided, but the interval then excluded the lift measured since: the rounds differ too "
           "much";
  if (verdict.reached_round == 0)
    return fmt::format("'{}' was decided by earlier answers, but the measured lift doesn't agree with it", word);
  return fmt::format("'{}' was decided after round {}, but the answers since point the other way", word,
                     verdict.reached_round);
}

// Why what holds of new cases isn't claimed.
std::string GeneralText(const StudentVerdict& verdict) {
  if (verdict.general_withheld == Verdict::kUndecided || verdict.general_withheld != verdict.word) return "";
  return fmt::format("'{}' isn't claimed for new cases, because the interval for them includes 0",
                     VerdictName(verdict.general_withheld));
}

// An interval beside `helps` that begins at 0 calls for an explanation, as does one beside `undecided` that excludes 0.
std::string OpenIntervalText(const JudgedRun& run, std::size_t student) {
  const StudentVerdict& verdict = run.verdicts[student];
  if (!verdict.low || !verdict.high) return "";
  const bool excludes_zero = *verdict.low > 0.0 || *verdict.high < 0.0;
  if ((verdict.word == Verdict::kHelps || verdict.word == Verdict::kHurts) && !excludes_zero) {
    return fmt::format("{} in {} show that it {}, but not by how much", Counted(verdict.cases, "case"),
                       Counted(static_cast<std::size_t>(std::max(verdict.complete_rounds, 0)), "round"),
                       VerdictName(verdict.word));
  }
  if (verdict.word != Verdict::kUndecided || verdict.doubt != Doubt::kNone || !excludes_zero) return "";
  return fmt::format("undecided although the interval excludes 0: --min-lift asks for more than {} points",
                     PointsText(run.plan().verdict.min_lift));
}

// If the estimate hardly differs, the lift is shown as the difference of the pass rates beside it.
bool ShowsEstimate(const StudentVerdict& verdict) {
  constexpr double kNoticeable = 0.005;
  return verdict.lift_estimate && (!verdict.lift || std::abs(*verdict.lift - *verdict.lift_estimate) >= kNoticeable);
}

// Why the lift isn't the difference of the pass rates, or is although the run ended early.
std::string EstimateText(const JudgedRun& run, const StudentVerdict& verdict) {
  if (!verdict.lift || !verdict.lift_estimate) return "";
  const bool ended_early = verdict.complete_rounds < run.plan().rounds;
  if (run.plan().verdict.min_lift > 0.0 && verdict.word == Verdict::kHelps && ended_early)
    return "the lift is the measured one: with --min-lift, it is too large on average where a run ends as soon as it "
           "is decided; the interval holds all the same";
  if (!ShowsEstimate(verdict) || PointsText(*verdict.lift) == PointsText(*verdict.lift_estimate)) return "";
  return fmt::format("the plain mean is {} points; {}", PointsText(*verdict.lift),
                     ended_early ? "it is too high on average when a run stops early"
                                 : "the lift is corrected because this run could have stopped early");
}

// Why the lift isn't the difference of the pass rates after an interruption, or with errors.
std::string OpenRoundsText(const JudgedRun& run, std::size_t student) {
  const StudentVerdict& verdict = run.verdicts[student];
  const ArmSummary* with = ArmOf(run.summary.students[student], Arm::kSkill);
  const ArmSummary* without = ArmOf(run.summary.students[student], ComparedArm(run.plan()));
  if (!verdict.lift || verdict.complete_rounds < 1 || !verdict.excluded.empty() || with == nullptr ||
      without == nullptr || !with->rate() || !without->rate())
    return "";
  const std::size_t counting = verdict.cases * static_cast<std::size_t>(verdict.complete_rounds);
  const bool same = std::max(with->answered, without->answered) <= counting;
  if (same || PointsText(*verdict.lift) == PointsText(*with->rate() - *without->rate())) return "";
  return fmt::format(
      "the pass rates count all answers; the lift and the verdict count only those of the {}",
      verdict.complete_rounds == 1 ? "complete round" : fmt::format("{} complete rounds", verdict.complete_rounds));
}

std::string RepeatText(const JudgedRun& run, std::size_t student) {
  const StudentVerdict& verdict = run.verdicts[student];
  if (!verdict.answers_repeat) return "";
  if (verdict.complete_rounds < 2)
    return "at temperature 0, further rounds would repeat these answers: add cases, not rounds";
  const std::string all = verdict.complete_rounds == 2 ? "both" : fmt::format("all {}", verdict.complete_rounds);
  const bool whole = verdict.excluded.empty() && verdict.complete_rounds == run.summary.students[student].rounds;
  return fmt::format("the answers{} are identical in {}{} rounds: add cases, not rounds",
                     verdict.excluded.empty() ? "" : " that count", all, whole ? "" : " complete");
}

std::string CopiesText(const StudentVerdict& verdict) {
  if (verdict.distinct_inputs == 0 || verdict.distinct_inputs >= verdict.cases) return "";
  return fmt::format("the {} have {}: each input counts once in lift and verdict", Counted(verdict.cases, "case"),
                     Counted(verdict.distinct_inputs, "different input"));
}

// An answer that is cut off fails for want of room, whatever the skill says.
std::string TruncatedText(const JudgedRun& run, std::size_t student) {
  std::size_t truncated = 0;
  std::size_t answered = 0;
  for (const auto& [arm, summary] : run.summary.students[student].arms) {
    truncated += summary.truncated;
    answered += summary.answered;
  }
  constexpr std::size_t kNoticeable = 4;  // one answer in four
  if (truncated == 0 || truncated * kNoticeable < answered) return "";
  return fmt::format("{} of {} {} truncated: raise --max-tokens ({})", truncated, Counted(answered, "answer"),
                     truncated == 1 ? "was" : "were", run.plan().sampling.max_tokens);
}

// Such an answer may be right, on a faster machine.
std::string TimeLimitText(const JudgedRun& run, std::size_t student) {
  std::size_t reached = 0;
  std::size_t answered = 0;
  for (const auto& [arm, summary] : run.summary.students[student].arms) {
    reached += summary.time_limits;
    answered += summary.answered;
  }
  if (reached == 0) return "";
  return fmt::format(
      "{} of {} failed because a check reached its time limit: raise its \"timeout_seconds\" if they may "
      "be right",
      reached, Counted(answered, "answer"));
}

std::string ListOfNames(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 12;
  const std::vector<std::string> shown(names.begin(),
                                       names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMost)));
  const std::string more = names.size() > kMost ? fmt::format(" and {} more", names.size() - kMost) : "";
  return fmt::format("{}{}", fmt::join(shown, ", "), more);
}

std::string ExcludedText(const JudgedRun& run, std::size_t student) {
  const StudentVerdict& verdict = run.verdicts[student];
  if (verdict.excluded.empty()) return "";
  const std::size_t count = verdict.excluded.size();
  if (count == run.plan().suite.cases.size()) {
    return AllRequestsFailed(run.summary.students[student]) ? "no result: every request failed"
                                                            : "no result: a request failed for every case";
  }
  const std::string names = ListOfNames(verdict.excluded);
  if (verdict.doubt == Doubt::kExcludedCases) {
    return fmt::format("errors exclude {} of {}, more than {}: {}", count,
                       Counted(run.plan().suite.cases.size(), "case"), PercentText(kMaxExcludedShare), names);
  }
  return fmt::format("{} {} excluded from lift and verdict because of errors: {}", Counted(count, "case"),
                     count == 1 ? "is" : "are", names);
}

}  // namespace

bool AllRequestsFailed(const StudentSummary& student) {
  bool any_failed = false;
  for (const auto& [arm, summary] : student.arms) {
    if (summary.answered > 0) return false;
    any_failed = any_failed || summary.errors > 0;
  }
  return any_failed;
}

bool NothingPassed(const StudentVerdict& verdict) { return verdict.cases > 0 && verdict.floor.size() == verdict.cases; }

std::string CasesText(const StudentVerdict& verdict) {
  return verdict.cases == 1 ? "this case" : "these " + Counted(verdict.cases, "case");
}

bool IsTooEasy(const StudentVerdict& verdict) {
  constexpr double kLittle = 0.1;
  const bool mostly = !verdict.ceiling.empty() && 2 * verdict.ceiling.size() >= verdict.cases;
  return mostly && std::abs(verdict.lift.value_or(0.0)) <= kLittle &&
         verdict.more_rounds.value_or(verdict.complete_rounds + 1) > verdict.complete_rounds;
}

std::string ClaimText(const StudentVerdict& verdict) {
  std::string text = VerdictName(verdict.word);
  if (verdict.word == Verdict::kUndecided) {
    if (verdict.doubt == Doubt::kErrors) text += " because of errors";
    if (verdict.doubt == Doubt::kExcludedCases) text += ": errors exclude too many cases";
    if (verdict.doubt == Doubt::kLaterAnswers) text += ": the rounds disagree";
    if (verdict.doubt == Doubt::kNone && NothingPassed(verdict)) text += ": no answer passed in either arm";
  } else if (verdict.general == verdict.word) {
    text += ", also on new cases of this kind";
  } else if (verdict.cases > 0) {
    const char* exactly = verdict.hangs_on_wording ? "exactly " : "";
    text += fmt::format(" on {}{}", exactly, CasesText(verdict));
    if (verdict.word != Verdict::kNoEffect)
      text += verdict.hangs_on_wording ? "; rewording may reverse it" : "; unproven for new ones";
  }
  return text;
}

std::string NewCasesText(const StudentVerdict& verdict) {
  const bool is_general = verdict.word != Verdict::kUndecided && verdict.general == verdict.word;
  if (!is_general || !verdict.new_cases_low || !verdict.new_cases_high) return "";
  return LikelyText(*verdict.new_cases_low, *verdict.new_cases_high);
}

std::string MoreRoundsText(const StudentVerdict& verdict) {
  const auto counted = [](int rounds) { return Counted(static_cast<std::size_t>(std::max(rounds, 0)), "more round"); };
  const bool lost = verdict.doubt == Doubt::kErrors || verdict.doubt == Doubt::kExcludedCases;
  if (verdict.word != Verdict::kUndecided || lost || NothingPassed(verdict) || IsTooEasy(verdict)) return "";
  if (verdict.more_rounds) {
    return fmt::format("about {}{}", counted(*verdict.more_rounds),
                       verdict.more_show_no_effect ? " for \"no effect\"" : "");
  }
  return verdict.more_rounds_above ? "more than " + counted(*verdict.more_rounds_above) : "";
}

std::string VerdictText(const StudentVerdict& verdict) {
  std::string text = ClaimText(verdict);
  if (const std::string range = NewCasesText(verdict); !range.empty()) text += fmt::format(" ({})", range);
  if (const std::string more = MoreRoundsText(verdict); !more.empty())
    text += (verdict.more_show_no_effect ? "; " : ", ") + more;
  if (verdict.word == Verdict::kNoEffect && verdict.tokens && verdict.tokens->ratio()) {
    const double change = WholePercent(*verdict.tokens->ratio());
    if (change != 0)
      text += fmt::format(", {:.0f} % {} tokens in all", std::abs(change), change > 0 ? "more" : "fewer");
  }
  return text;
}

std::optional<double> ShownLift(const StudentSummary& student, const StudentVerdict& verdict, Arm reference) {
  if (ShowsEstimate(verdict)) return verdict.lift_estimate;
  const std::optional<double>& lift = verdict.lift ? verdict.lift : student.lift;
  const ArmSummary* with = ArmOf(student, Arm::kSkill);
  const ArmSummary* without = ArmOf(student, reference);
  if (!lift || with == nullptr || without == nullptr || !with->rate() || !without->rate()) return lift;
  constexpr double kSame = 1e-9;
  if (std::abs(*lift - (*with->rate() - *without->rate())) > kSame) return lift;
  return (WholePercent(*with->rate()) - WholePercent(*without->rate())) / 100.0;
}

std::string TheseCasesText(const StudentVerdict& verdict) {
  if (!verdict.low || !verdict.high) return "";
  return LikelyText(*verdict.low, *verdict.high);
}

std::string LiftText(const StudentVerdict& verdict, double shown) {
  std::string text = PointsText(shown) + " points";
  const std::string range = NewCasesText(verdict).empty() ? TheseCasesText(verdict) : "";
  if (!range.empty()) text += fmt::format(" ({})", range);
  return text;
}

std::string ErrorsText(const std::map<ErrorCause, std::size_t>& errors, bool lost_only) {
  std::vector<std::pair<std::size_t, ErrorCause>> most;
  for (const auto& [cause, count] : errors) {
    if (!lost_only || MayDependOnAnswer(cause)) most.emplace_back(count, cause);
  }
  std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> parts;
  parts.reserve(most.size());
  for (const auto& [count, cause] : most) parts.push_back(CountedCause(cause, count));
  return JoinedWithAnd(parts);
}

std::string AttemptsText(const ArmSummary& arm) {
  const std::size_t failures = arm.failures();
  if (failures == 0) return "";
  return fmt::format("{} of {}, repeats included, failed: {}", WithThousands(static_cast<long long>(failures)),
                     Counted(arm.attempts, "request"), ErrorsText(arm.failed_attempts));
}

std::string SkippedText(const JudgedRun& run) {
  std::vector<std::string> reasons;
  const auto add = [&](const char* reason) {
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.emplace_back(reason);
  };
  const auto add_reason = [&](const StudentVerdict& verdict) {
    switch (SettlingOf(verdict)) {
      case Settling::kFutile:
        add("the rounds left were unlikely to decide");
        break;
      case Settling::kRepeats:
        add("the rounds left would have repeated the answers");
        break;
      case Settling::kDecided:
        add("the verdict was already known");
        break;
      case Settling::kOpen:
        add("the gate was already decided");
        break;
    }
  };
  for (std::size_t i = 0; i < run.verdicts.size(); ++i) {
    if (run.summary.students[i].cells_skipped == 0) continue;
    add_reason(run.verdicts[i]);
    for (const auto& [arm, verdicts] : run.others) add_reason(verdicts[i]);
  }
  return reasons.empty() ? "the verdict was already known" : fmt::format("{}", fmt::join(reasons, ", or "));
}

std::vector<std::string> VerdictRemarks(const JudgedRun& run, std::size_t student) {
  const StudentVerdict& verdict = run.verdicts[student];
  std::vector<std::string> remarks = {OpenIntervalText(run, student), LaterAnswersText(verdict), GeneralText(verdict)};
  const bool awaited = AwaitsVerdict(GateOf(run.plan()), run.plan(), ComparedArm(run.plan()));
  if (verdict.word == Verdict::kUndecided && awaited && run.plan().share.look > 1)
    remarks.push_back(LookNote(run.plan(), false));
  if (verdict.doubt == Doubt::kErrors) remarks.push_back(LostAnswersText(run, student));
  if (verdict.lost_low && verdict.lost_high && PointsText(*verdict.lost_low) != PointsText(*verdict.lost_high)) {
    remarks.push_back(fmt::format("lift between {} and {}, depending on what the failed requests would have answered",
                                  PointsText(*verdict.lost_low), PointsText(*verdict.lost_high)));
  }
  remarks.push_back(TruncatedText(run, student));
  remarks.push_back(TimeLimitText(run, student));
  remarks.push_back(RepeatText(run, student));
  remarks.push_back(CopiesText(verdict));
  remarks.push_back(ExcludedText(run, student));
  remarks.push_back(EstimateText(run, verdict));
  remarks.push_back(OpenRoundsText(run, student));
  remarks.push_back(CorrectedLiftText(run, student));
  std::erase(remarks, "");
  return remarks;
}

}  // namespace upskill
