// SPDX-License-Identifier: Apache-2.0
#include "teach/shorten.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "eval/verdict/contrast.h"
#include "teach/candidate.h"
#include "teach/choice.h"
#include "teach/evidence.h"
#include "teach/rule.h"
#include "teach/stage_lines.h"
#include "teach/trial_answers.h"
#include "teach/write_cases.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr double kBeatsAlpha = VerdictOptions().alpha;
constexpr std::size_t kShortestWord = 4;  // that tells a part from others
constexpr int kMaxRounds = 12;            // for the evidence, beyond the rounds on train

class Shortening {
 public:
  Shortening(GenerationState& state, TrainTrials& trials) : state_(state), out_(state.out), trials_(trials) {}

  Status Run() {
    for (std::size_t tried = 0; tried < kMaxShorter; ++tried) {
      const std::size_t best = BestOnTrain(out_.candidates);
      const std::optional<BodyPart> part = NextPart(out_.candidates[best].skill.body);
      if (!part) return {};
      if (!BeatsBaseline(trials_.of(best), trials_.first())) return Keep("it isn't shown to beat no skill on train");
      const PassedCases passed = AlwaysPassed(trials_.of(best));
      const int rounds = RoundsFor(passed);
      if (rounds > kMaxRounds) return Keep("too few tests pass every time to show that a shorter skill is as good");
      left_out_.insert(part->title);
      const std::optional<std::size_t> index = Without(*part, best);
      if (!index) continue;
      trials_.CountInFull();
      ASSIGN_OR_RETURN(const bool kept, KeepsAnswers(*index, passed, rounds));
      if (kept) RETURN_IF_ERROR(trials_.Measure(*index));
    }
    return {};
  }

 private:
  Status Keep(const std::string& reason) const {
    state_.Say("shorter", "nothing is left out: " + reason);
    return {};
  }

  // The share of a part's words that right answers also contain: parts with the lowest share are left out first.
  double UseOf(const std::string& text) const {
    std::set<std::string_view> words;
    for (const std::string_view word : WordsIn(text)) {
      if (word.size() >= kShortestWord) words.insert(word);
    }
    const auto used = std::count_if(words.begin(), words.end(), [&](std::string_view word) {
      return std::any_of(state_.train.begin(), state_.train.end(),
                         [&](std::size_t i) { return out_.cases[i].reference.find(word) != std::string::npos; });
    });
    return words.empty() ? 0.0 : static_cast<double>(used) / static_cast<double>(words.size());
  }

  // Of the parts of the body that haven't been left out yet, the one that is used least, the longest of several;
  // nothing if there are too few parts or all were tried.
  std::optional<BodyPart> NextPart(const std::string& body) const {
    std::vector<BodyPart> parts = PartsOf(body);
    if (parts.size() < 2) return std::nullopt;
    const auto order = [&](const BodyPart& part) {
      return std::pair(UseOf(body.substr(part.begin, part.end - part.begin)), part.begin - part.end);
    };
    std::sort(parts.begin(), parts.end(), [&](const BodyPart& a, const BodyPart& b) { return order(a) < order(b); });
    const auto untried =
        std::find_if(parts.begin(), parts.end(), [&](const BodyPart& part) { return !left_out_.contains(part.title); });
    return untried == parts.end() ? std::nullopt : std::optional(*untried);
  }

  // A new candidate; nothing if no text is left.
  std::optional<std::size_t> Without(const BodyPart& part, std::size_t best) {
    const Candidate& parent = out_.candidates[best];
    SkillText skill = parent.skill;
    skill.body = std::string(Trim(skill.body.erase(part.begin, part.end - part.begin)));
    if (skill.body.empty()) return std::nullopt;
    DropUnnamedFiles(parent.skill.body, skill);
    std::vector<Rule> rules = RulesIn(skill.body, parent.rules);
    const int id = parent.id;
    return state_.AddCandidate("shorter", id, fmt::format("without \"{}\"", part.title), std::move(skill),
                               std::move(rules));
  }

  // So many that each student with passing cases gives enough answers to them. More than kMaxRounds: it can't be shown.
  static int RoundsFor(const PassedCases& passed) {
    const std::size_t wanted = AnswersToShow(kShorterMargin, kShorterAlpha);
    std::size_t rounds = 0;
    for (const auto& [student, counts] : passed) {
      if (counts.answers_passed == 0) continue;  // nothing to lose
      if (counts.always.empty()) return kMaxRounds + 1;
      rounds = std::max(rounds, (wanted + counts.always.size() - 1) / counts.always.size());
    }
    return rounds == 0 ? kMaxRounds + 1 : static_cast<int>(std::min<std::size_t>(rounds, kMaxRounds + 1));
  }

  // Ends as soon as one answer fails.
  Result<bool> KeepsAnswers(std::size_t index, const PassedCases& passed, int rounds) {
    std::vector<std::size_t> cases;
    for (const std::size_t i : state_.train) {
      const bool any = std::any_of(passed.begin(), passed.end(), [&](const auto& of_student) {
        return of_student.second.always.contains(out_.cases[i].id);
      });
      if (any) cases.push_back(i);
    }
    const int last = state_.options.train_rounds + rounds;
    for (const int upto : {1, state_.options.train_rounds + rounds / 3, last}) {
      TrialSpec spec;
      spec.stage = "screen";
      spec.suite = SuiteOf(out_.cases, cases);
      spec.rounds = upto;
      spec.baseline = false;
      ASSIGN_OR_RETURN(const Trial trial, state_.Try(out_.candidates[index].skill, std::move(spec)));
      out_.student_calls += trial.asked;
      const Screening kept = AnswersKept(trial, passed);
      if (LosesNothing(kept)) continue;
      trials_.ScreenOut(index, kept, "shorter");
      return false;
    }
    return true;
  }

  GenerationState& state_;
  GenerateOutcome& out_;
  TrainTrials& trials_;
  std::set<std::string> left_out_;
};

// Whether the skill's text or a file of it names `file`.
bool IsNamed(const std::string& file, const SkillText& skill) {
  if (skill.body.find(file) != std::string::npos) return true;
  return std::any_of(skill.references.begin(), skill.references.end(), [&](const auto& other) {
    return other.first != file && other.second.find(file) != std::string::npos;
  });
}

}  // namespace

std::size_t AnswersToShow(double margin, double alpha) {
  return static_cast<std::size_t>(std::ceil(std::log(alpha) / std::log1p(-margin) - 1e-9));
}

bool BeatsBaseline(const Trial& with_skill, const Trial& with_baseline) {
  for (std::size_t i = 0; i < with_skill.judged.plan().students.size(); ++i) {
    const Result<Contrast> contrast = MakeContrast(AnswersOf(with_skill.judged.data, i, Arm::kSkill),
                                                   AnswersOf(with_baseline.judged.data, i, Arm::kBaseline));
    if (contrast && contrast->difference() > 0.0 && contrast->PAbove(0.0) <= kBeatsAlpha) return true;
  }
  return false;
}

void DropUnnamedFiles(const std::string& before, SkillText& skill) {
  for (auto* files : {&skill.references, &skill.scripts}) {
    std::vector<std::string> dropped;
    for (const auto& [name, text] : *files) {
      if (before.find(name) != std::string::npos && !IsNamed(name, skill)) dropped.push_back(name);
    }
    std::erase_if(*files, [&](const auto& file) {
      return std::find(dropped.begin(), dropped.end(), file.first) != dropped.end();
    });
  }
}

Status LeavePartsOut(GenerationState& state, TrainTrials& trials) { return Shortening(state, trials).Run(); }

}  // namespace upskill
