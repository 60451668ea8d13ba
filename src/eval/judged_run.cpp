// SPDX-License-Identifier: Apache-2.0
#include "eval/judged_run.h"

namespace upskill {

JudgedRun Judge(const Plan& plan, const std::vector<Sample>& samples) {
  JudgedRun run;
  run.plan = plan;
  run.summary = Summarize(plan, samples);
  const Arm compared = ComparedArm(plan);
  run.verdicts = JudgeRun(plan, samples, compared);
  for (const Arm arm : plan.arms) {
    if (arm != Arm::kSkill && arm != compared) run.others[arm] = JudgeRun(plan, samples, arm);
  }
  return run;
}

}  // namespace upskill
