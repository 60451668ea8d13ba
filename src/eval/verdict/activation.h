// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "eval/journal/run_data.h"
#include "stats/interval.h"

namespace upskill {

// What a student has done with one query, over all rounds.
struct QueryActivation {
  std::size_t case_index = 0;  // in Plan::suite.cases
  bool expected = true;        // the skill should be read
  std::size_t answers = 0;
  std::size_t read = 0;     // answers in which SKILL.md was read
  std::size_t ignored = 0;  // of those, where it wasn't followed: another skill was read afterwards, or a check failed

  std::size_t wrong() const { return expected ? answers - read : read; }
};

// A share of answers, with an exact interval (95 %) that holds for these queries.
struct ActivationRate {
  std::size_t hits = 0;
  std::size_t of = 0;

  std::optional<double> value() const;  // absent: of nothing
  Interval interval() const;
};

// How a student has chosen the skill among others.
struct ActivationSummary {
  std::vector<QueryActivation> queries;

  ActivationRate recall() const;       // of answers to queries that should trigger: read
  ActivationRate precision() const;    // of answers in which it was read: it should have been
  ActivationRate specificity() const;  // of answers to queries that shouldn't trigger: not read
  ActivationRate ignored() const;      // of answers in which it was rightly read: not followed
};

// Nothing for a run that doesn't measure activation. Reads the samples.
std::optional<ActivationSummary> ActivationOf(const RunData& data, std::size_t student);

// Whether a query should make a student read the skill: what its check of the type `activates` says.
bool ShouldActivate(const Case& query);

}  // namespace upskill
