// SPDX-License-Identifier: Apache-2.0
#include "eval/judged_run.h"

#include <algorithm>
#include <utility>

#include "eval/comparisons.h"

namespace upskill {
namespace {

// Once the verdict is settled, cells that were never requested don't count as unanswered.
void LeaveOutSkippedCells(const std::vector<StudentVerdict>& verdicts, RunSummary& summary) {
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (!IsSettled(verdicts[i])) continue;
    StudentSummary& student = summary.students[i];
    student.rounds = std::max(verdicts[i].complete_rounds, 1);
    for (auto& [arm, entry] : student.arms) {
      const std::size_t asked = entry.answered + entry.errors;
      student.cells_skipped += entry.cells - asked;
      entry.cells = asked;
    }
    summary.cells -= student.cells_skipped;
  }
}

}  // namespace

JudgedRun Judge(RunData data) {
  JudgedRun run;
  run.data = std::move(data);
  run.summary = Summarize(run.data);
  const Arm compared = ComparedArm(run.plan());
  run.others = JudgeComparisons(run.data);
  run.verdicts = std::move(run.others.at(compared));
  run.others.erase(compared);
  run.findings = FindCaseFindings(run.data, compared);
  if (run.plan().stop_when_decided) LeaveOutSkippedCells(run.verdicts, run.summary);
  return run;
}

}  // namespace upskill
