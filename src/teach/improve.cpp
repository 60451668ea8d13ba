// SPDX-License-Identifier: Apache-2.0
#include "teach/improve.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "teach/candidate.h"
#include "teach/choice.h"
#include "teach/refine.h"
#include "teach/stage_lines.h"
#include "teach/train_trials.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kFruitlessAttempts = 2;   // in a row, before the refinement ends
constexpr std::size_t kMaxShorter = 4;  // attempts at leaving out a part
// Of a student, all of which pass without a skill: fewer say little about it.
constexpr std::size_t kFewestToLearnNothing = 8;

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
    if (state_.input.teacher != nullptr) RETURN_IF_ERROR(Refine());
    return LeaveOut();
  }

 private:
  bool NothingToLearn() {
    const std::size_t answers = state_.train.size() * static_cast<std::size_t>(options_.train_rounds);
    const auto& without = trials_.without();
    const bool all = std::all_of(without.begin(), without.end(), [](double rate) { return rate > 1.0 - kSameRate; });
    if (!all || answers < kFewestToLearnNothing) return false;
    out_.nothing_to_learn = true;
    out_.passed_without = answers * without.size();
    state_.Say("train", NothingToLearnLine(out_.passed_without));
    return true;
  }

  Status Refine() {
    int fruitless = 0;
    for (int attempt = 1; attempt <= options_.attempts && fruitless < kFruitlessAttempts; ++attempt) {
      const std::size_t best = BestOnTrain(out_.candidates);
      const std::vector<std::size_t> failing = trials_.CasesBy(best, false);
      if (failing.empty()) {
        state_.Say("refine", "every test passes: nothing to refine");
        return {};
      }
      RETURN_IF_ERROR(Attempt(attempt, best, failing));
      fruitless = BestOnTrain(out_.candidates) == best ? fruitless + 1 : 0;
    }
    return {};
  }

  Status Attempt(int attempt, std::size_t best, const std::vector<std::size_t>& failing) {
    state_.Say("refine", AttemptLine(attempt, options_.attempts, state_.input.teacher->info().name, failing.size()));
    RefineOptions refine;
    refine.candidates = options_.candidates;
    refine.prompts = options_.prompts;
    refine.target = options_.target;
    refine.context_tokens = options_.context_tokens;
    const Result<ProposalsOutcome> proposed =
        ProposeChanges(*state_.input.teacher, state_.material, out_.candidates[best],
                       FailuresText(trials_.of(best), options_.context_tokens / 2), out_.candidates, refine, attempt);
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
        state_.AddCandidate(proposal.kind, out_.candidates[best].id, proposal.why, std::move(skill));
    trials_.CountInFull();
    ASSIGN_OR_RETURN(const Screening screening, trials_.Screen(index, best, failing));
    if (IsWorthMeasuring(screening)) return trials_.Measure(index);
    trials_.ScreenOut(index, screening, "refine");
    return {};
  }

  // The longest part of the body that hasn't been left out yet; nothing if there are too few parts or all were tried.
  std::optional<BodyPart> NextToLeaveOut(const std::string& body) const {
    std::vector<BodyPart> parts = PartsOf(body);
    if (parts.size() < 2) return std::nullopt;
    std::sort(parts.begin(), parts.end(),
              [](const BodyPart& a, const BodyPart& b) { return a.end - a.begin > b.end - b.begin; });
    const auto untried =
        std::find_if(parts.begin(), parts.end(), [&](const BodyPart& part) { return !left_out_.contains(part.title); });
    return untried == parts.end() ? std::nullopt : std::optional(*untried);
  }

  // Tries to leave out each of the longest parts. A shorter skill wins only if it loses no answer, because with few
  // tests an equal pass rate says little.
  Status LeaveOut() {
    for (std::size_t tried = 0; tried < kMaxShorter; ++tried) {
      const std::size_t best = BestOnTrain(out_.candidates);
      const std::optional<BodyPart> part = NextToLeaveOut(out_.candidates[best].skill.body);
      if (!part) return {};
      left_out_.insert(part->title);
      SkillText skill = out_.candidates[best].skill;
      skill.body = std::string(Trim(skill.body.erase(part->begin, part->end - part->begin)));
      if (skill.body.empty()) continue;
      const std::size_t index = state_.AddCandidate("shorter", out_.candidates[best].id,
                                                    fmt::format("without \"{}\"", part->title), std::move(skill));
      trials_.CountInFull();
      const std::vector<std::size_t> passing = trials_.CasesBy(best, true);
      if (!passing.empty()) {
        ASSIGN_OR_RETURN(const Screening screening, trials_.Screen(index, best, passing));
        if (!LosesNothing(screening)) {
          trials_.ScreenOut(index, screening, "shorter");
          continue;
        }
      }
      RETURN_IF_ERROR(trials_.Measure(index));
    }
    return {};
  }

  GenerationState& state_;
  const GenerateOptions& options_;
  GenerateOutcome& out_;
  TrainTrials trials_;
  std::set<std::string> left_out_;
};

}  // namespace

Status ImproveCandidates(GenerationState& state) { return Improvement(state).Run(); }

}  // namespace upskill
