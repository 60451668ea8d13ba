// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "skill/suite.h"
#include "teach/body_target.h"
#include "teach/candidate.h"
#include "teach/material.h"
#include "teach/teacher.h"
#include "teach/trial.h"
#include "trace/digest/digest.h"
#include "util/result.h"

namespace upskill {

struct GenerateOptions {
  std::string name;  // of the skill; empty: the teacher's, or from the task
  BodyTarget target;
  std::size_t cases = 16;
  double holdout = 0.5;        // share of the cases that only the last measurement sees
  std::size_t candidates = 2;  // proposals of one attempt
  int attempts = 3;            // refinements at most
  int train_rounds = 2;
  int runs = 10;  // most rounds of the last measurement; it ends when decided
  std::size_t context_tokens = kDefaultDigestTokens;
  std::uint64_t seed = 0;
  std::optional<double> max_cost_usd;
  bool evaluate = true;
};

struct GenerateInput {
  const Material* material = nullptr;
  GenerateOptions options;
  Teacher* teacher = nullptr;                        // null: the skill is taken from the trace word for word
  Teacher* test_teacher = nullptr;                   // may be `teacher`; null: the cases are taken from the trace, too
  std::optional<Suite> given;                        // cases of the user; none are written then
  TrialContext trials;                               // without models nothing is measured
  double spent_usd = 0.0;                            // on trials of earlier sessions of this generation
  std::function<void(const std::string& line)> say;  // told each stage; may be empty
};

struct GenerateOutcome {
  std::vector<Candidate> candidates;
  std::size_t chosen = 0;  // index in candidates
  std::vector<Case> cases;
  std::vector<std::size_t> test;  // indices of the cases held out
  std::vector<std::string> rejected_cases;
  std::size_t uncited_rules = 0;
  std::vector<std::string> contradicted_rules;  // "RULE (ID)", left out
  std::vector<std::string> provenance;          // "RULE: PLACE, …" of the draft
  std::optional<Trial> measured;                // the chosen one on the held-out cases
  std::size_t student_calls = 0;                // answers given by models for trials on train
  std::size_t full_student_calls = 0;  // what measuring every candidate in full, with a baseline each, would take
  std::string stopped;                 // why it ended early; the best so far is chosen. Empty: it went to its end
  bool interrupted = false;            // by the user
  bool resumable = false;              // it ended early and, run again, would go on from there
};

// Writes a skill, writes tests, refines it by the students' failures on `train` and measures the best once on `test`.
// Answers of the teachers and the students are stored as they come: run again with the same input it goes on where it
// was. A limit, the user or a model that gives up ends it early; once there is a draft, that is an outcome (`stopped`).
// Errors: kInput when the teacher gave no usable draft; kCancelled, kPermanent or kUnavailable when it ended before the
// draft.
Result<GenerateOutcome> GenerateSkill(const GenerateInput& input);

}  // namespace upskill
