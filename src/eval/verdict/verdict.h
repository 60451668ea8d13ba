// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "eval/journal/run_data.h"
#include "eval/verdict/round_evidence.h"

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

// Why a verdict is undecided although the answers alone give a word. Persisted by DoubtName: never rename.
enum class Doubt {
  kNone,
  kErrors,         // if the answers lost to errors had failed, or passed, the word wouldn't be reached
  kExcludedCases,  // errors exclude too many cases
  kLaterAnswers,   // the word was reached, but the measured lift contradicts it since
};

const char* DoubtName(Doubt doubt);  // "errors", "excluded_cases", "later_answers"; "" for kNone

struct StudentVerdict {
  Verdict word = Verdict::kUndecided;
  Doubt doubt = Doubt::kNone;
  // The word that the answers alone give; another than `word` only if there is a doubt.
  Verdict without_doubt = Verdict::kUndecided;
  int reached_round = 0;  // kLaterAnswers: the round, from 1, after which that word was reached; 0 if not known
  // The lift if the answers lost to errors that may depend on them had told against the skill, and for it. Absent
  // without such errors.
  std::optional<double> lost_low;
  std::optional<double> lost_high;
  // P-values of the rule for lift > min_lift and for lift < 0: valid at every look within the plan's schedule. Holm's
  // procedure over students, at alpha, gives the word.
  double p_helps = 1.0;
  double p_hurts = 1.0;
  double p_no_effect = 1.0;  // of the confidence sequence, for this student alone
  // The evidence after the last round: e-values. And p-values of the e-process, 1/(the most evidence after any round),
  // which are valid at every look, whatever was planned.
  double e_helps = 1.0;
  double e_hurts = 1.0;
  double p_anytime_helps = 1.0;
  double p_anytime_hurts = 1.0;
  // The e-values if the answers lost to errors had told against them: what later runs may build on.
  double safe_e_helps = 1.0;
  double safe_e_hurts = 1.0;
  // The same for the p-values of the rule.
  double safe_p_helps = 1.0;
  double safe_p_hurts = 1.0;
  double safe_p_no_effect = 1.0;
  // About cases like these, of which these are a sample: helps, hurts or undecided (general_verdict.h).
  Verdict general = Verdict::kUndecided;
  Verdict general_withheld = Verdict::kUndecided;  // what its test says, but WithholdGeneral took back
  double p_general_helps = 1.0;
  double p_general_hurts = 1.0;
  std::size_t distinct_inputs = 0;  // among the counting cases: as many cases are independent of each other
  // For these tests. Fractions.
  std::optional<double> lift;  // over the rounds that are evidence, and counting cases
  // Interval of the lift: for this number of rounds; the confidence sequence if that number may depend on the answers
  // (RoundsMayDependOnAnswers). It agrees with the word: `helps` leaves no lift of 0 or less in it, and `undecided`
  // leaves 0 in it.
  std::optional<double> low;
  std::optional<double> high;
  bool interval_is_sequence = false;
  // Of that interval, for all students together: a sequence has what EffectiveAlpha leaves; otherwise each end has the
  // error probability of a word, and at most 2.5 %.
  double interval_level = 0.95;
  // In a run that may stop when decided, the lift to show, within the interval. If the run ended where the sign-flip
  // test decided, it is median-unbiased, while `lift` is too large on average; if the run went on, or ends by another
  // rule (a minimum lift, earlier runs' evidence), it is `lift`.
  std::optional<double> lift_estimate;
  // Confidence sequence at level 1 − EffectiveAlpha: valid at every look, for all students together.
  std::optional<double> sequence_low;
  std::optional<double> sequence_high;
  // For new cases like these; absent with fewer than 6 cases. As wide as the interval for these cases at least, and 0
  // is in it unless `general` says otherwise.
  std::optional<double> new_cases_low;
  std::optional<double> new_cases_high;
  std::size_t cases = 0;                 // that count
  int complete_rounds = 0;               // rounds in which every counting case was answered in both arms
  std::vector<std::string> excluded;     // cases excluded from every round because they keep failing with errors
  bool answers_repeat = false;           // CompleteRounds::answers_repeat: more rounds would add none
  bool hangs_on_wording = false;         // answers hardly vary: another wording of a case may have another result
  bool futile = false;                   // the planned rounds that are left are unlikely to decide
  std::optional<int> more_rounds;        // undecided: by then, half of the runs that look like this one are decided
  bool more_show_no_effect = false;      // by `no effect`, if rounds like these follow
  std::optional<int> more_rounds_above;  // in its place, where it is larger than this
  std::optional<PairedChange> tokens;    // prompt + output tokens of an answer
  std::optional<PairedChange> output_tokens;
  std::optional<PairedChange> cost_usd;  // only when every cell's cost is known
  std::optional<PairedChange> seconds;
  std::optional<double> cost_per_pass_without;  // USD per passed cell; absent if none passed or a cost is unknown
  std::optional<double> cost_per_pass_with;
  std::vector<std::string> ceiling;  // cases that always passed in every arm
  std::vector<std::string> floor;    // cases that never passed
  // With the evidence of earlier runs with other seeds (AlphaShare::prior); then the word rests on these.
  std::optional<double> combined_e_helps;
  std::optional<double> combined_e_hurts;
};

// Whether the measured lift has another sign than the word or is 0, or isn't above the minimum lift that `helps`
// claims.
bool LiftContradicts(Verdict word, double lift, double min_lift);

bool HasDoubtByErrors(const StudentVerdict& verdict);

// Whether the number of rounds tried so far may depend on the answers: the run may stop when decided, or it has another
// number than was first planned (it was raised, or the run hasn't ended). Intervals are confidence sequences then.
bool RoundsMayDependOnAnswers(const Plan& plan, int tried);

// What a plan's skill is compared with: the baseline if the plan has it, else the previous version.
Arm ComparedArm(const Plan& plan);

// One verdict for each student of the plan, in its order, by the rule of plan.verdict (docs/verdicts.md). `against` is
// the arm that the skill is compared with. If the plan lacks it or the skill's arm, every verdict is undecided and
// empty. See complete_rounds.h for which samples count, and missing.h for what errors can do to a verdict.
std::vector<StudentVerdict> JudgeRun(const RunData& data, Arm against = Arm::kBaseline);

// Why a run that may stop when decided needs no more rounds. Persisted by SettlingName: never rename.
enum class Settling {
  kOpen,
  kDecided,
  kRepeats,  // more rounds would be copies of the first
  kFutile,   // the planned rounds that are left are unlikely to decide
};

Settling SettlingOf(const StudentVerdict& verdict);
const char* SettlingName(Settling settling);  // "decided", "repeats", "futile"; "" for kOpen
bool IsSettled(const StudentVerdict& verdict);

// Tells when a growing run has settled one comparison. Remembers the evidence of the rounds it has seen, so that
// another look costs one pass over the index (three if answers were lost to errors). `data` must outlive it. Not
// thread-safe.
class VerdictWatch {
 public:
  VerdictWatch(const RunData& data, Arm against);

  // Whether the rounds below `rounds` (of all students) settle the verdict on one student against the arm.
  bool IsSettledAfter(int rounds, std::size_t student);

 private:
  // The run as it would be if the answers lost to errors had told for the skill, or against it.
  struct Assumption {
    std::optional<RunData> data;
    std::size_t revision = 0;  // of the run that `data` was made from
    std::vector<RoundEvidence> evidence;
  };

  bool HoldsWithLostAnswers(Verdict word, int rounds, std::size_t student);

  const RunData* data_;
  Arm arm_;
  std::vector<RoundEvidence> evidence_;  // by student
  Assumption against_;
  Assumption in_favour_;
};

}  // namespace upskill
