// SPDX-License-Identifier: Apache-2.0
#include "teach/improve.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/model.h"
#include "skill/skill_text.h"
#include "teach/candidate.h"
#include "teach/choice.h"
#include "teach/failures.h"
#include "teach/refine.h"
#include "teach/shorten.h"
#include "teach/stage_lines.h"
#include "teach/train_trials.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kFruitlessAttempts = 2;  // in a row, before the refinement ends
// Of a student, all of which pass without a skill, or all of which fail: fewer say little about it.
constexpr std::size_t kFewestAnswers = 8;

class Improvement {
 public:
  explicit Improvement(GenerationState& state)
      : state_(state), options_(state.options), out_(state.out), trials_(state) {}

  Status Run() {
    for (std::size_t i = 0; i < out_.candidates.size(); ++i) {
      trials_.CountInFull();
      RETURN_IF_ERROR(trials_.Measure(i));
      if (i == 0 && NothingToLearn()) return {};
    }
    RETURN_IF_ERROR(Refine());
    RETURN_IF_ERROR(LeavePartsOut(state_, trials_));
    LeaveOutFailing();
    return {};
  }

 private:
  bool NothingToLearn() {
    const std::size_t answers = state_.train.size() * static_cast<std::size_t>(options_.train_rounds);
    const auto& without = trials_.without();
    const bool all = std::all_of(without.begin(), without.end(), [](double rate) { return rate > 1.0 - kSameRate; });
    if (!all || answers < kFewestAnswers) return false;
    out_.nothing_to_learn = true;
    out_.passed_without = answers * without.size();
    state_.Say("train", NothingToLearnLine(out_.passed_without));
    return true;
  }

  bool NobodyPasses() const { return trials_.PassedNothing().size() == state_.trials.students.size(); }

  // A measurement would say nothing about students that pass nothing.
  void LeaveOutFailing() {
    const std::size_t answers = trials_.AnswersOfEach();
    if (answers < kFewestAnswers) return;
    const std::vector<std::size_t> failing = trials_.PassedNothing();
    for (std::size_t i = failing.size(); i-- > 0;) {
      const auto at = static_cast<std::ptrdiff_t>(failing[i]);
      state_.Say("train", PassedNothingLine(state_.trials.students[failing[i]].name, answers));
      out_.passed_nothing.insert(out_.passed_nothing.begin(), {state_.trials.students[failing[i]], answers});
      state_.trials.models.erase(state_.trials.models.begin() + at);
      state_.trials.students.erase(state_.trials.students.begin() + at);
    }
  }

  Status Refine() {
    int fruitless = 0;
    for (int attempt = 1;; ++attempt) {
      const std::size_t best = BestOnTrain(out_.candidates);
      const std::vector<std::size_t> failing = trials_.CasesBy(best, false);
      out_.refine_end = failing.empty()                   ? "every train test passes"
                        : fruitless > 0 && NobodyPasses() ? "no student passes a train test, with or without the skill"
                        : fruitless == kFruitlessAttempts
                            ? fmt::format("{} attempts in a row found nothing better", kFruitlessAttempts)
                        : attempt > options_.attempts
                            ? fmt::format("the maximum of {} (--max-attempts) is reached",
                                          Counted(static_cast<std::size_t>(options_.attempts), "attempt"))
                            : "";
      if (!out_.refine_end.empty()) break;
      RETURN_IF_ERROR(Attempt(attempt, best, failing));
      fruitless = BestOnTrain(out_.candidates) == best ? fruitless + 1 : 0;
    }
    state_.Say("refine", "ended because " + out_.refine_end);
    return {};
  }

  Status Attempt(int attempt, std::size_t best, const std::vector<std::size_t>& failing) {
    state_.Say("refine", AttemptLine(attempt, options_.attempts, state_.input.teacher->info().name, failing.size()));
    RefineOptions refine;
    refine.candidates = options_.candidates;
    refine.prompts = options_.prompts;
    refine.target = options_.target;
    refine.context_tokens = options_.context_tokens;
    refine.students = state_.StudentsText();
    refine.left_out = LeftOutText(out_.unsupported_rules, out_.contradicted_rules, options_.context_tokens / 8);
    for (const std::size_t index : failing) {
      const Json& raw = out_.cases[index].raw;
      if (!raw.is_object() || !raw.contains("cites")) continue;
      for (const Json& id : raw.at("cites")) {
        if (id.is_string()) refine.cited.push_back(id.get<std::string>());
      }
    }
    const Result<ProposalsOutcome> proposed = ProposeChanges(
        *state_.input.teacher, state_.material, out_.candidates[best],
        FailuresText(trials_.of(best), trials_.first(), out_.candidates[best].skill, options_.context_tokens / 2),
        out_.candidates, refine, attempt);
    if (!proposed) {
      if (proposed.error().kind != ErrorKind::kInput) return proposed.error();
      state_.Say("refine", "no usable proposal: " + proposed.error().message);
      return {};
    }
    for (const std::string& reason : proposed->discarded) state_.Say("refine", "proposal discarded: " + reason);
    for (const Proposal& proposal : proposed->proposals) RETURN_IF_ERROR(TryProposal(proposal, best, failing));
    return {};
  }

  Status TryProposal(const Proposal& proposal, std::size_t best, const std::vector<std::size_t>& failing) {
    SkillText skill = out_.candidates[best].skill;
    skill.body = proposal.body;
    const std::size_t index =
        state_.AddCandidate(proposal.kind, out_.candidates[best].id, proposal.why, std::move(skill), proposal.rules);
    trials_.CountInFull();
    ASSIGN_OR_RETURN(const Screening screening, trials_.Screen(index, best, failing));
    if (IsWorthMeasuring(screening)) return trials_.Measure(index);
    trials_.ScreenOut(index, screening, "refine");
    return {};
  }

  GenerationState& state_;
  const GenerateOptions& options_;
  GenerateOutcome& out_;
  TrainTrials trials_;
};

}  // namespace

Status ImproveCandidates(GenerationState& state) { return Improvement(state).Run(); }

}  // namespace upskill
