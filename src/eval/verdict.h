// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "eval/round_evidence.h"
#include "eval/run_data.h"

namespace upskill {

// The result of a run for one student. Persisted by VerdictName: never rename.
enum class Verdict { kHelps, kHurts, kNoEffect, kUndecided };

const char* VerdictName(Verdict verdict);  // "helps", "hurts", "no effect", "undecided"

// Mean of a quantity per answer without and with the skill, over the same cells; 95 % interval of the paired change.
struct PairedChange {
  double without = 0.0;
  double with = 0.0;
  std::optional<double> low;  // of (with − without)
  std::optional<double> high;
  double change() const { return with - without; }
  std::optional<double> ratio() const;  // with/without − 1; nothing when `without` is 0
};

struct StudentVerdict {
  Verdict word = Verdict::kUndecided;
  // The highest evidence at the end of any round for lift > min_lift; 1/alpha or more decides (by Holm's rule over
  // students). Its inverse is a p-value that stays valid however often it is looked at.
  double e_helps = 1.0;
  double e_hurts = 1.0;  // the same for lift < 0
  // For these tests. Fractions.
  std::optional<double> lift;  // over complete rounds (only the first if answers repeat) and counting cases
  std::optional<double> low;   // 95 % interval of the lift at this number of rounds
  std::optional<double> high;
  // Confidence sequence at level 1 − alpha: valid at every look, for all students together.
  std::optional<double> sequence_low;
  std::optional<double> sequence_high;
  // For new cases like these; absent with fewer than 6 cases.
  std::optional<double> new_cases_low;
  std::optional<double> new_cases_high;
  int complete_rounds = 0;             // rounds in which every counting case was answered in both arms
  std::vector<std::string> excluded;   // cases excluded from every round because they keep failing with errors
  bool answers_repeat = false;         // only the first round is evidence; more would add none
  std::optional<int> more_rounds;      // undecided: about this many more rounds would decide
  std::optional<PairedChange> tokens;  // prompt + output tokens of an answer
  std::optional<PairedChange> output_tokens;
  std::optional<PairedChange> cost_usd;  // only when every cell's cost is known
  std::optional<PairedChange> seconds;
  std::optional<double> cost_per_pass_without;  // USD per passed cell; absent if none passed or a cost is unknown
  std::optional<double> cost_per_pass_with;
  std::vector<std::string> ceiling;  // cases that always passed in every arm
  std::vector<std::string> floor;    // cases that never passed
};

// What a plan's skill is compared with: the baseline if the plan has it, else the previous version.
Arm ComparedArm(const Plan& plan);

// One verdict for each student of the plan, in its order, by the rule of plan.verdict (docs/verdicts.md). `against` is
// the arm that the skill is compared with. If the plan lacks it or the skill's arm, every verdict is undecided and
// empty. See complete_rounds.h for which samples count.
std::vector<StudentVerdict> JudgeRun(const RunData& data, Arm against = Arm::kBaseline);

// Whether more rounds would change nothing: the word is known, or the answers repeat.
bool IsSettled(const StudentVerdict& verdict);

// Decides when a growing run can stop. Remembers the evidence of the rounds it has seen, so that another look costs one
// pass over the index. `data` must outlive it. Not thread-safe.
class VerdictWatch {
 public:
  explicit VerdictWatch(const RunData& data);

  // Whether the rounds below `rounds` (of all students) settle the verdict on one student against ComparedArm.
  bool IsSettledAfter(int rounds, std::size_t student);

 private:
  const RunData* data_;
  std::vector<RoundEvidence> evidence_;  // by student
};

}  // namespace upskill
