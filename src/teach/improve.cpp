// SPDX-License-Identifier: Apache-2.0
#include "teach/improve.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/model.h"
#include "skill/skill_text.h"
#include "teach/candidate.h"
#include "teach/choice.h"
#include "teach/draft.h"
#include "teach/failures.h"
#include "teach/merge_bodies.h"
#include "teach/refine.h"
#include "teach/rule.h"
#include "teach/shorten.h"
#include "teach/stage_lines.h"
#include "teach/train_trials.h"
#include "teach/trial_answers.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kFruitlessAttempts = 2;  // in a row, before the refinement ends
constexpr std::size_t kMaxMerges = 2;
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
    if (state_.input.teacher != nullptr) RETURN_IF_ERROR(Refine());
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
    return Merge();
  }

  // The best candidate with the changes of one that passes cases which it fails.
  Status Merge() {
    for (std::size_t tried = 0; tried < kMaxMerges; ++tried) {
      const std::size_t best = BestOnTrain(out_.candidates);
      const std::optional<std::size_t> other = Complement(best);
      if (!other) return {};
      merged_.insert({best, *other});
      const Candidate& a = out_.candidates[best];
      const Candidate& b = out_.candidates[*other];
      const std::string common = CommonText(a, b);
      if (common.empty()) continue;
      SkillText skill = a.skill;
      skill.body = MergeBodies(common, a.skill.body, b.skill.body);
      const bool known = std::any_of(out_.candidates.begin(), out_.candidates.end(), [&](const Candidate& candidate) {
        return Trim(candidate.skill.body) == Trim(skill.body);
      });
      if (known || !CheckSkillText(skill, state_.material, options_.target)) continue;
      std::vector<Rule> rules = a.rules;
      for (const Rule& rule : b.rules) {
        const bool both =
            std::any_of(a.rules.begin(), a.rules.end(), [&](const Rule& same) { return same.text == rule.text; });
        if (!both) rules.push_back(rule);
      }
      rules = RulesIn(skill.body, rules);
      const std::string why = fmt::format("candidates {} and {} pass different tests", a.id, b.id);
      const std::size_t index = state_.AddCandidate("merge", a.id, why, std::move(skill), std::move(rules));
      trials_.CountInFull();
      ASSIGN_OR_RETURN(const Screening screening, trials_.Screen(index, best, trials_.CasesBy(best, false)));
      if (IsWorthMeasuring(screening)) {
        RETURN_IF_ERROR(trials_.Measure(index));
      } else {
        trials_.ScreenOut(index, screening, "refine");
      }
    }
    return {};
  }

  // The measured candidate that passes the most cases better than `best`, and hasn't been merged with it yet.
  std::optional<std::size_t> Complement(std::size_t best) const {
    const std::map<std::string, std::size_t> mine = PassesByCase(trials_.of(best));
    std::optional<std::size_t> found;
    std::size_t most = 0;
    for (std::size_t i = 0; i < out_.candidates.size(); ++i) {
      if (i == best || !out_.candidates[i].measured || merged_.contains({best, i})) continue;
      std::size_t wins = 0;
      for (const auto& [id, passes] : PassesByCase(trials_.of(i))) {
        const auto other = mine.find(id);
        wins += passes > (other == mine.end() ? 0 : other->second) ? 1U : 0U;
      }
      if (wins > most) {
        most = wins;
        found = i;
      }
    }
    return found;
  }

  // The text of the nearest candidate that both were made from; empty: there is none.
  std::string CommonText(const Candidate& a, const Candidate& b) const {
    std::set<int> ancestors;
    for (int id = a.id; id >= 0; id = out_.candidates[static_cast<std::size_t>(id)].parent) ancestors.insert(id);
    for (int id = b.id; id >= 0; id = out_.candidates[static_cast<std::size_t>(id)].parent) {
      if (ancestors.contains(id)) return out_.candidates[static_cast<std::size_t>(id)].skill.body;
    }
    return "";
  }

  Status Attempt(int attempt, std::size_t best, const std::vector<std::size_t>& failing) {
    state_.Say("refine", AttemptLine(attempt, options_.attempts, state_.input.teacher->info().name, failing.size()));
    RefineOptions refine;
    refine.candidates = options_.candidates;
    refine.prompts = options_.prompts;
    refine.target = options_.target;
    refine.context_tokens = options_.context_tokens;
    refine.students = StudentsText();
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

  // "haiku, smollm2-135m; an answer has at most 512 tokens". Without the models' details: they tell --jobs, which may
  // change when a generation is resumed, and another prompt would be paid for again.
  std::string StudentsText() const {
    std::string text;
    for (const Model* model : state_.trials.models) text += (text.empty() ? "" : ", ") + model->info().name;
    return text + fmt::format("; an answer has at most {}",
                              Counted(static_cast<std::size_t>(state_.trials.sampling.max_tokens), "token"));
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
  std::set<std::pair<std::size_t, std::size_t>> merged_;  // best, other
};

}  // namespace

Status ImproveCandidates(GenerationState& state) { return Improvement(state).Run(); }

}  // namespace upskill
