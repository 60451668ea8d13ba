// SPDX-License-Identifier: Apache-2.0
#include "teach/probe.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/chat.h"
#include "skill/skill_text.h"
#include "teach/stage_lines.h"
#include "teach/trial.h"
#include "teach/trial_answers.h"
#include "teach/write_cases.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

constexpr std::size_t kProbeTokens = 3000;  // of requests and reference answers

// The cases with the shortest reference answers, which a student is likeliest to manage.
std::vector<std::size_t> CasesToProbe(const GenerationState& state) {
  std::vector<std::size_t> cases;
  for (const std::size_t i : state.train.empty() ? state.out.test : state.train) {
    if (!Trim(state.out.cases[i].reference).empty()) cases.push_back(i);
  }
  std::stable_sort(cases.begin(), cases.end(), [&](std::size_t a, std::size_t b) {
    return state.out.cases[a].reference.size() < state.out.cases[b].reference.size();
  });
  // A small model's context has to hold them all.
  std::size_t tokens = 0;
  const auto fits = [&](std::size_t i) {
    tokens += EstimateTokens(state.out.cases[i].input) + EstimateTokens(state.out.cases[i].reference);
    return tokens <= kProbeTokens;
  };
  std::vector<std::size_t> shown;
  for (const std::size_t i : cases) {
    if (shown.size() == kProbeCases || !fits(i)) break;
    shown.push_back(i);
  }
  return shown;
}

SkillText ReferenceSkill(const GenerationState& state, const std::vector<std::size_t>& cases) {
  SkillText skill;
  skill.name = std::string(kReferenceSkill);
  skill.description = "Reference answers of tests.";
  for (const std::size_t i : cases) {
    const Case& test_case = state.out.cases[i];
    skill.body += state.options.prompts->Render("probe", {{"request", std::string(Trim(test_case.input))},
                                                          {"reference", std::string(Trim(test_case.reference))}}) +
                  "\n\n";
  }
  return skill;
}

}  // namespace

Result<std::vector<std::size_t>> PassedWithoutSkill(GenerationState& state, const std::vector<std::size_t>& cases) {
  std::vector<std::size_t> passed;
  if (cases.empty()) return passed;
  TrialSpec spec;
  spec.stage = "baseline";
  spec.suite = SuiteOf(state.out.cases, cases);
  spec.rounds = static_cast<int>(kKnownRounds);
  spec.other_seed = true;
  ASSIGN_OR_RETURN(const Trial trial, state.Try(std::move(spec)));
  const std::set<std::string> failed = FailedCases(trial, Arm::kBaseline);
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(passed),
               [&](std::size_t i) { return !failed.contains(state.out.cases[i].id); });
  return passed;
}

Status ProbeStudents(GenerationState& state) {
  const std::vector<std::size_t> cases = CasesToProbe(state);
  if (cases.empty()) return {};
  const SkillText skill = ReferenceSkill(state, cases);
  std::vector<double> rates;
  std::size_t answers = 0;
  for (int rounds = 1; rounds <= kProbeRounds; ++rounds) {
    TrialSpec spec;
    spec.stage = "probe";
    spec.suite = SuiteOf(state.out.cases, cases);
    spec.rounds = rounds;
    spec.baseline = false;
    ASSIGN_OR_RETURN(const Trial trial, state.Try(skill, std::move(spec)));
    rates = PassRates(trial);
    answers = cases.size() * static_cast<std::size_t>(rounds);
    if (std::all_of(rates.begin(), rates.end(), [](double rate) { return rate > 0.0; })) break;
  }
  for (std::size_t i = 0; i < rates.size(); ++i)
    state.Say("probe", ProbeLine(state.trials.students[i].name, rates[i], answers));
  for (std::size_t i = rates.size(); i-- > 0;) {
    if (rates[i] > 0.0) continue;
    FailingStudent small{state.trials.students[i], answers};
    state.DropStudent(i);
    state.out.too_small.insert(state.out.too_small.begin(), std::move(small));
  }
  return {};
}

}  // namespace upskill
