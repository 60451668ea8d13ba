// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eval/plan/plan.h"
#include "eval/verdict/judged_run.h"
#include "util/result.h"

namespace upskill {

// One way to answer: a model with the skill, without it, or in another arm ("haiku+skill", "opus", "haiku+previous").
struct GateChoice {
  std::string model;  // Student::spec or name
  Arm arm = Arm::kBaseline;
};

// A condition on a run that decides an exit code, for CI: clauses separated by `;`, all of which must hold.
//   helps:haiku,glm                  the verdict is `helps` for these models (also hurts, no-effect, undecided, not-…)
//   helps-in-general:*               it helps on cases like these, not only on these (StudentVerdict::general)
//   not-hurts:*  not-hurts:*:10      a loss of more than the margin (plan.verdict.margin; 10 points) is ruled out
//   not-regressed  not-regressed:*   no large loss is shown, compared with the previous version (large_loss.h)
//   lift>10  lift:haiku<5            bounds of the lift, in points
//   pass>80%                         bounds of the pass rate with the skill
//   tokens<+20%  cost<0  seconds<5%  bounds of the change of an answer's output tokens, cost (prompt included), time
//   helps:* vs previous              only this comparison (baseline, placebo, previous); without it, every one
//   not-worse:haiku+skill vs opus:5  the first choice is not worse than the second by more than 5 points
//   better:haiku+skill vs opus       it is better
//   lift>10@estimate                 by the estimate alone, whatever its error
// Bounds hold with probability 1 − LookAlpha(plan), one-sided, each by itself.
struct GateClause {
  enum class Kind {
    kVerdict,
    kNotVerdict,
    kInGeneral,
    kNotHurts,
    kNotRegressed,
    kContrast,
    kTokens,
    kCost,
    kSeconds,
    kLift,
    kPass
  };

  std::string text;
  Kind kind = Kind::kVerdict;
  Verdict verdict = Verdict::kHelps;
  bool less = false;                // `<`; otherwise `>`
  double bound = 0.0;               // a fraction
  std::vector<std::string> models;  // empty: all
  std::optional<Arm> against;       // absent: every arm that the plan compares the skill with
  std::optional<double> margin;     // a fraction; absent: the plan's
  bool better = false;              // kContrast: better, not only not worse
  std::vector<GateChoice> choices;  // kContrast: two
  bool by_estimate = false;
  std::optional<bool> unchanged;  // set if it compares the skill with an identical one: whether it holds
};

struct Gate {
  std::vector<GateClause> clauses;
};

struct GateResult {
  std::string clause;
  std::string model;    // empty: the clause names its choices
  std::string against;  // the arm compared with; empty: none, or the clause names its choices
  bool passed = false;
  std::string detail;  // what was found: "undecided", "lift +3 points, at least -12 (95 %)", "unknown"
};

// gate_grammar.cpp. The error says what a clause may be.
Result<Gate> ParseGate(const std::string& text);

// "haiku+skill", "opus".
Result<GateChoice> ParseGateChoice(std::string_view text);

// The plan's student with this name or model string.
std::optional<std::size_t> StudentNamed(const Plan& plan, const std::string& model);

// The gate of a run. Clauses about the previous version refer to the skill itself if both are the same, and to the
// baseline if there is no previous version (Plan::previous). Error: a malformed clause, or one that
// names a model that isn't in the plan or a comparison that the plan doesn't make.
Result<Gate> ParseGate(const std::string& text, const Plan& plan);

// The result of each clause for each student and comparison it looks at. What is unknown (a cost without prices)
// doesn't pass.
std::vector<GateResult> CheckGate(const Gate& gate, const JudgedRun& run);

// The gate of the plan's terms; nothing if there is none, or if it doesn't fit the plan.
std::optional<Gate> GateOf(const Plan& plan);

// Whether a clause names this student.
bool GateNames(const GateClause& clause, const Student& student);

// The student's error probability in a clause `not-regressed`: no share of the ledger's, because each run's alarm is a
// claim of its own, divided among the models that the clause names.
double AlphaOfRegression(const GateClause& clause, const Plan& plan);

// The arms that the clause compares the skill with.
std::vector<Arm> GateArms(const GateClause& clause, const Plan& plan);

// What the difference of the pass rates has to exceed in a clause on a contrast (kContrast, kNotHurts).
double GateBorder(const GateClause& clause, const Plan& plan);

}  // namespace upskill
