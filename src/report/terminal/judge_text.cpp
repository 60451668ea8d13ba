// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/judge_text.h"

#include <fmt/format.h>

#include <optional>

#include "eval/verdict/judge_correction.h"
#include "report/terminal/figures.h"
#include "report/terminal/style.h"
#include "stats/agreement.h"
#include "util/text.h"

namespace upskill {

std::string JudgeText(const Plan& plan) { return plan.judge ? JudgeText(*plan.judge) : ""; }

std::string JudgeText(const RunJudge& judge) {
  if (!judge.checked || judge.checked->counts.total() == 0)
    return fmt::format("judged by {}, which nobody has compared with people on these rubrics (upskill judge-check)",
                       judge.name);
  const ConfusionCounts& counts = judge.checked->counts;
  std::string text = fmt::format("judged by {}: agrees with people on {} of {} labelled answers", judge.name,
                                 WithThousands(counts.both_pass + counts.both_fail), WithThousands(counts.total()));
  if (const std::optional<JudgeRates> rates = RatesOfJudge(judge.checked->effective)) {
    text += fmt::format(", passes {} of what people fail, fails {} of what people pass",
                        PercentText(1.0 - rates->specificity.value), PercentText(1.0 - rates->sensitivity.value));
  }
  if (judge.checked->rubrics_checked < judge.rubrics)
    text += fmt::format("; {} of {} compared", judge.checked->rubrics_checked,
                        Counted(static_cast<std::size_t>(judge.rubrics), "rubric"));
  return text;
}

std::string JudgeSpentText(const JudgedRun& run) {
  const JudgeSummary& judge = run.summary.judge;
  if (!run.plan().judge || judge.answers == 0) return "";
  std::string text = fmt::format("{} judged {}", run.plan().judge->name, Counted(judge.answers, "answer"));
  if (judge.requests != judge.answers) text += fmt::format(" ({})", Counted(judge.requests, "request"));
  if (judge.cost_usd > 0.0) text += ", " + MoneyText(judge.cost_usd);
  return text;
}

std::string CorrectedLiftText(const JudgedRun& run, std::size_t student) {
  if (!run.plan().judge || !run.plan().judge->checked) return "";
  if (run.plan().judge->checked->arms_differ)
    return "the judge errs more often in one arm than in the other, so part of the lift may be its own (docs/judge.md)";
  const std::optional<AgreementEstimate> lift = JudgeCorrectedLift(run.data, student);
  if (!lift) return "the lift isn't corrected for the judge's errors: they aren't known well enough (docs/judge.md)";
  return fmt::format(
      "corrected for the judge's errors, if they are equally frequent in both arms: {} points (95 %: {} … {})",
      PointsText(lift->value), PointsText(lift->interval.low), PointsText(lift->interval.high));
}

Json JudgeToJson(const JudgedRun& run) {
  if (!run.plan().judge) return nullptr;
  const RunJudge& judge = *run.plan().judge;
  const JudgeSummary& summary = run.summary.judge;
  Json checked = nullptr;
  if (judge.checked) {
    checked = {{"rubrics", judge.checked->rubrics_checked}, {"time", judge.checked->time}};
    PutCounts(judge.checked->counts, checked);
  }
  return {{"model", judge.spec},
          {"name", judge.name},
          {"rubrics", judge.rubrics},
          {"checked", std::move(checked)},
          {"answers", summary.answers},
          {"requests", summary.requests},
          {"cost_usd", summary.cost_known == summary.requests ? Json(summary.cost_usd) : Json(nullptr)}};
}

Json CorrectedLiftToJson(const JudgedRun& run, std::size_t student) {
  if (!run.plan().judge) return nullptr;
  const std::optional<AgreementEstimate> lift = JudgeCorrectedLift(run.data, student);
  if (!lift) return nullptr;
  return {{"lift", lift->value}, {"lift_low", lift->interval.low}, {"lift_high", lift->interval.high}};
}

}  // namespace upskill
