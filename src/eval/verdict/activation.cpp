// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/activation.h"

#include <algorithm>

#include "check/activation_check.h"
#include "stats/exact_rate.h"

namespace upskill {
namespace {

bool WasRead(const SkillUse& use) { return std::find(use.read.begin(), use.read.end(), "SKILL.md") != use.read.end(); }

// Whether a check of what the student has made failed.
bool FailedItsWork(const Sample& sample, const Case& query) {
  for (std::size_t i = 0; i < sample.checks.size() && i < query.checks.size(); ++i) {
    if (!IsActivationCheck(query.checks[i]) && sample.checks[i].outcome == Outcome::kFail) return true;
  }
  return false;
}

// The answers to queries of one kind.
ActivationRate ReadOf(const std::vector<QueryActivation>& queries, bool expected) {
  ActivationRate rate;
  for (const QueryActivation& query : queries) {
    if (query.expected != expected) continue;
    rate.of += query.answers;
    rate.hits += query.read;
  }
  return rate;
}

}  // namespace

std::optional<double> ActivationRate::value() const {
  if (of == 0) return std::nullopt;
  return static_cast<double>(hits) / static_cast<double>(of);
}

Interval ActivationRate::interval() const {
  return ExactRateInterval(static_cast<std::int64_t>(hits), static_cast<std::int64_t>(of));
}

ActivationRate ActivationSummary::recall() const { return ReadOf(queries, true); }

ActivationRate ActivationSummary::precision() const {
  const std::size_t rightly = ReadOf(queries, true).hits;
  return {rightly, rightly + ReadOf(queries, false).hits};
}

ActivationRate ActivationSummary::specificity() const {
  const ActivationRate wrongly = ReadOf(queries, false);
  return {wrongly.of - wrongly.hits, wrongly.of};
}

ActivationRate ActivationSummary::ignored() const {
  ActivationRate rate;
  for (const QueryActivation& query : queries) {
    if (!query.expected) continue;
    rate.of += query.read;
    rate.hits += query.ignored;
  }
  return rate;
}

bool ShouldActivate(const Case& query) {
  const auto check = std::find_if(query.checks.begin(), query.checks.end(), IsActivationCheck);
  return check == query.checks.end() || ExpectsActivation(*check);
}

std::optional<ActivationSummary> ActivationOf(const RunData& data, std::size_t student) {
  const Plan& plan = data.plan();
  if (!plan.measures_activation()) return std::nullopt;
  ActivationSummary summary;
  for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
    const Case& query = plan.suite.cases[i];
    QueryActivation of_query{i, ShouldActivate(query), 0, 0, 0};
    const SampleList samples = data.samples(student, Arm::kSkill, i);
    for (std::size_t round = 0; round < samples.size(); ++round) {
      if (!samples.final(round).answered) continue;
      const SamplePtr sample = samples[round];
      if (!sample->ok() || !sample->response.work || !sample->response.work->skill) continue;
      const SkillUse& use = *sample->response.work->skill;
      ++of_query.answers;
      if (!WasRead(use)) continue;
      ++of_query.read;
      if (use.left || FailedItsWork(*sample, query)) ++of_query.ignored;
    }
    summary.queries.push_back(of_query);
  }
  return summary;
}

}  // namespace upskill
