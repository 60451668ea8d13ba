// SPDX-License-Identifier: Apache-2.0
#include "report/export/broken_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "eval/verdict/large_loss.h"

namespace upskill {
namespace {

// The first answer with the skill that failed a check.
void AddFailedAnswer(const JudgedRun& run, std::size_t student, std::size_t case_index, BrokenCase& out) {
  const SampleList samples = run.data.samples(student, Arm::kSkill, case_index);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!samples.final(i).answered || samples.final(i).passed) continue;
    const SamplePtr sample = samples[i];
    const auto failed = std::find_if(sample->checks.begin(), sample->checks.end(),
                                     [](const CheckResult& check) { return check.outcome == Outcome::kFail; });
    if (failed == sample->checks.end()) continue;
    out.check = failed->name + (failed->detail.empty() ? "" : ": " + failed->detail);
    out.answer = sample->response.text;
    return;
  }
}

}  // namespace

BrokenCases FindBrokenCases(const JudgedRun& run, std::size_t student, std::size_t most) {
  BrokenCases found;
  const Plan& plan = run.plan();
  if (!plan.has_arm(Arm::kPrevious) || !plan.has_arm(Arm::kSkill)) return found;
  const std::optional<LargeLoss> loss = FindLargeLoss(run.data, student, Arm::kPrevious, plan.verdict.alpha);
  if (!loss) return found;
  const std::vector<CaseLoss> broken = loss->Broken();
  found.all = broken.size();
  for (std::size_t i = 0; i < std::min(broken.size(), most); ++i) {
    const CaseLoss& one = broken[i];
    BrokenCase& out = found.cases.emplace_back();
    out.id = plan.suite.cases[one.case_index].id;
    out.before = fmt::format("{}/{}", one.before, loss->rounds);
    out.after = fmt::format("{}/{}", one.after, loss->rounds);
    AddFailedAnswer(run, student, one.case_index, out);
  }
  return found;
}

}  // namespace upskill
