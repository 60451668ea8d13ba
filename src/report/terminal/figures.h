// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eval/verdict/judged_run.h"

namespace upskill {

// Visits the final samples by case, student, arm and round, each in the plan's order.
void VisitSamplesByCase(const RunData& data, const std::function<void(const Sample&)>& visit);

// What a reader has to know of a run besides its figures: "rechecked from run …", "2 cases left out: …". A line each.
std::vector<std::string> RemarksOn(const Plan& plan);

// The arm that the skill is compared with, if the run has it.
std::optional<Arm> ReferenceArm(const Plan& plan);

// "baseline", "with skill", …
std::string ArmLabel(Arm arm);

// "+42", "-3", "0": a fraction in percentage points.
std::string PointsText(double fraction);

// "likely +27 … +56": the interval of a lift, in points.
std::string LikelyText(double low, double high);

// The rounds of a run: "3 rounds"; where students were settled before the planned ones were over, "4 rounds of 20
// planned", or "4 to 7 rounds of 20 planned" of several students.
std::string RoundsText(const JudgedRun& run);

// The most rounds that any of the run's students needed: the planned ones unless all were settled earlier.
int MostRounds(const JudgedRun& run);

// "16", "1,234": a mean, rounded to a whole number.
std::string NumberText(double value);

// "14 s", "1.2 s", "40 ms", "0.3 ms", "0 s".
std::string SecondsText(double seconds);

// A mean per answer without and with the skill: "118 → 121 per answer: +3, +3 %". `per` follows the
// two means.
enum class Unit { kTokens, kSeconds, kMoney };
std::string ChangeText(const PairedChange& change, Unit unit, std::string_view per = "");

// What the skill adds to 1,000 answers, or saves: "+605,000 tokens, -$0.40"; empty where neither is known.
std::string PerThousandText(const StudentVerdict& verdict);

// Whether the student's answers cost nothing: a price of 0, or a model in process or a simulated one, without a price.
bool IsFree(const Student& student, const StudentVerdict& verdict);

// The lift that the verdict tells, else the summary's.
std::optional<double> LiftOf(const JudgedRun& run, std::size_t student);

// The verdict; absent where no lift is known, so that no document calls a student undecided that another has no verdict
// for.
std::optional<Verdict> WordOf(const JudgedRun& run, std::size_t student);

// The summary of one arm of a student; null when the run has no such arm.
const ArmSummary* ArmOf(const StudentSummary& student, Arm arm);

}  // namespace upskill
