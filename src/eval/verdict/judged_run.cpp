// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/judged_run.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "eval/verdict/comparisons.h"
#include "eval/verdict/gate.h"
#include "eval/verdict/stop_rule.h"

namespace upskill {
namespace {

bool AllIsSettled(const JudgedRun& run, const std::optional<Gate>& gate, std::size_t student) {
  const auto settled = [&](Arm arm, const std::vector<StudentVerdict>& verdicts) {
    return IsSettled(verdicts[student]) || !AwaitsVerdict(gate, run.plan(), arm);
  };
  const bool others = std::all_of(run.others.begin(), run.others.end(),
                                  [&](const auto& entry) { return settled(entry.first, entry.second); });
  return settled(ComparedArm(run.plan()), run.verdicts) && others &&
         (!gate || !GateNeedsRounds(*gate, run.data, student));
}

// Once all is settled (StopRule), cells that were never requested don't count as unanswered.
void LeaveOutSkippedCells(const JudgedRun& run, RunSummary& summary) {
  const std::optional<Gate> gate = GateOf(run.plan());
  for (std::size_t i = 0; i < run.verdicts.size(); ++i) {
    if (!AllIsSettled(run, gate, i)) continue;
    StudentSummary& student = summary.students[i];
    student.rounds = std::max(run.verdicts[i].complete_rounds, 1);
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
  if (run.plan().stop_when_decided) LeaveOutSkippedCells(run, run.summary);
  return run;
}

}  // namespace upskill
