// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/result_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/terminal/figures.h"
#include "report/terminal/verdict_text.h"
#include "util/text.h"

namespace upskill {
namespace {

// What asking the student once more costs, for every case in every arm; nothing where a cost isn't known.
std::optional<double> CostOfRound(const JudgedRun& run, std::size_t student) {
  double sum = 0.0;
  for (const auto& [arm, summary] : run.summary.students[student].arms) {
    const std::optional<double> cost = summary.mean_cost_usd();
    if (!cost) return std::nullopt;
    sum += *cost * static_cast<double>(run.plan().suite.cases.size());
  }
  return sum;
}

std::string LostText(const StudentSummary& student) {
  std::map<ErrorCause, std::size_t> lost;
  for (const auto& [arm, summary] : student.arms) {
    for (const auto& [cause, count] : summary.failed_attempts) lost[cause] += count;
  }
  return ErrorsText(lost, true);
}

std::string DoubtText(const JudgedRun& run, std::size_t student) {
  const StudentVerdict& verdict = run.verdicts[student];
  switch (verdict.doubt) {
    case Doubt::kNone:
      break;
    case Doubt::kErrors: {
      const std::string lost = LostText(run.summary.students[student]);
      return lost.empty() ? "errors of other models leave it open"
                          : fmt::format(
                                "the answers lost to errors ({}) could change the result; once their cause is gone, "
                                "measure again",
                                lost);
    }
    case Doubt::kExcludedCases:
      return fmt::format("errors exclude {} of {}", verdict.excluded.size(),
                         Counted(run.plan().suite.cases.size(), "case"));
    case Doubt::kLaterAnswers:
      return "the rounds contradict each other";
  }
  return "";
}

}  // namespace

std::string PassedOf(const ArmSummary& arm) {
  return fmt::format("{} of {}", WithThousands(static_cast<long long>(arm.passed)),
                     WithThousands(static_cast<long long>(arm.answered)));
}

std::string AnswerCostText(const JudgedRun& run, std::size_t student, const ArmSummary& arm) {
  if (IsFree(run.summary.students[student].student, run.verdicts[student])) return "free";
  const std::optional<double> cost = arm.mean_cost_usd();
  if (!cost) return "";
  return *cost == 0.0 ? "free" : MoneyText(*cost) + " an answer";
}

std::string RoundsToAsk(const JudgedRun& run, int rounds, std::optional<std::size_t> student) {
  std::size_t answers = 0;
  std::optional<double> cost = 0.0;
  for (std::size_t i = 0; i < run.summary.students.size(); ++i) {
    if (student && *student != i) continue;
    answers += run.plan().suite.cases.size() * run.summary.students[i].arms.size() * static_cast<std::size_t>(rounds);
    const std::optional<double> of_round = CostOfRound(run, i);
    cost = cost && of_round ? std::optional(*cost + *of_round * rounds) : std::nullopt;
  }
  return fmt::format("{} ({}{})", Counted(static_cast<std::size_t>(rounds), "more round"), Counted(answers, "answer"),
                     cost.value_or(0.0) > 0.0 ? ", " + MoneyText(*cost) : "");
}

std::string NamesText(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 6;
  if (names.size() < 2) return names.empty() ? "" : names.front();
  const bool all = names.size() <= kMost;
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(all ? names.size() - 1 : kMost - 1);
  const std::string last = all ? names.back() : fmt::format("{} more", names.size() - (kMost - 1));
  return fmt::format("{} and {}", fmt::join(names.begin(), end, ", "), last);
}

std::string CauseText(std::string_view message) {
  constexpr std::size_t kMostColumns = 160;
  std::string text = ExcerptLine(message, kMostColumns);
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
  return text;
}

std::string ObstacleText(const JudgedRun& run, std::size_t student) {
  const StudentVerdict& verdict = run.verdicts[student];
  if (std::string doubt = DoubtText(run, student); !doubt.empty()) return doubt;
  if (verdict.complete_rounds == 0) return "no round is complete yet";
  if (NothingPassed(verdict)) return "no answer passed with the skill or without it, so try a more capable model";
  if (verdict.answers_repeat) return "more rounds would repeat the same answers, so more cases are needed";
  if (verdict.word == Verdict::kUndecided && IsTooEasy(verdict)) {
    return fmt::format("{} of {} always pass in both arms, so harder cases would tell more", verdict.ceiling.size(),
                       Counted(verdict.cases, "case"));
  }
  if (verdict.futile && MoreRoundsText(verdict).empty()) return "the rounds that were left were unlikely to tell";
  return "";
}

}  // namespace upskill
