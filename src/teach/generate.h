// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "prompts/prompts.h"
#include "skill/suite.h"
#include "teach/body_target.h"
#include "teach/candidate.h"
#include "teach/critique.h"
#include "teach/evidence.h"
#include "teach/material.h"
#include "teach/teacher.h"
#include "teach/trial.h"
#include "trace/digest/digest.h"
#include "util/result.h"

namespace upskill {

struct GenerateOptions {
  std::string name;  // of the skill; empty: the teacher's, or from the task
  const Prompts* prompts = &BuiltInPrompts();
  BodyTarget target;
  std::size_t cases = 16;
  double holdout = 0.5;        // share of the cases reserved for the final measurement
  std::size_t candidates = 2;  // proposals per attempt
  int attempts = 3;            // maximum number of refinements
  int train_rounds = 2;
  int runs = 10;  // maximum rounds of the final measurement, which ends early once decided
  std::size_t context_tokens = kDefaultDigestTokens;
  std::uint64_t seed = 0;
  std::optional<double> max_cost_usd;
  bool critique = true;  // the teacher reviews its draft before anything else is done with it
  bool evaluate = true;
};

struct GenerateInput {
  const Material* material = nullptr;
  GenerateOptions options;
  Teacher* teacher = nullptr;
  Teacher* test_teacher = nullptr;                   // may equal `teacher`
  std::optional<Suite> given;                        // the user's cases; then none are written
  std::vector<Case> earlier;                         // those of the skill to improve, which keep their split
  TrialContext trials;                               // without models, nothing is measured
  double spent_usd = 0.0;                            // on trials in earlier sessions of this generation
  std::function<void(const std::string& line)> say;  // receives progress lines; may be empty
};

// A student that passed nothing.
struct FailingStudent {
  Student student;
  std::size_t answers = 0;  // that it failed
};

struct GenerateOutcome {
  std::vector<Candidate> candidates;
  std::size_t chosen = 0;  // index in candidates
  std::vector<Case> cases;
  std::vector<std::size_t> test;  // indices of the held-out cases
  std::vector<std::string> rejected_cases;
  std::string tests_problem;  // why no cases were written; empty: they were
  std::size_t uncited_rules = 0;
  std::vector<std::string> contradicted_rules;  // "RULE (ID)", left out
  std::vector<std::string> unsupported_rules;   // "RULE (IDS)", left out: nothing in backticks is in what they cite
  std::vector<CritiquePoint> critique;          // what the teacher found wrong with its draft
  Coverage coverage;                            // of the material, by the chosen skill and the cases
  std::vector<std::string> lost_facts;          // of the existing skill, that the chosen one lacks (LostFacts)
  std::vector<std::string> provenance;          // "RULE: PLACE, …" of the chosen one
  std::vector<Student> students;                // that the skill was tried on; none if nothing is measured
  // Students that fail even with the tests' reference answers in place of the skill, which it was not tried on.
  std::vector<FailingStudent> too_small;
  // Students that the final measurement leaves out: no answer to a train test passed, without a skill or with any
  // candidate.
  std::vector<FailingStudent> passed_nothing;
  // Every student passes all train tests without a skill: it was neither refined nor measured.
  bool nothing_to_learn = false;
  std::size_t passed_without = 0;      // in that case: answers on train that passed
  std::string refine_end;              // why the refinement ended; empty: there was none
  std::optional<Trial> measured;       // the chosen one on the held-out cases
  std::size_t student_calls = 0;       // answers requested from models in trials on train
  std::size_t full_student_calls = 0;  // that measuring every candidate in full, each with a baseline, would need
  bool before_tests = false;           // it ended early, and `cases` are those that there were: given, or the skill's
  std::string stopped;                 // why it ended early with the best candidate so far; empty: it completed
  bool interrupted = false;            // by the user
  bool resumable = false;              // it ended early, and a further session would continue it
  double spent_usd = 0.0;              // over all sessions, by teachers and trials, as a limit on cost counts it
};

// Writes a skill and tests, refines the skill by the students' failures on the train cases and measures the best
// candidate once on the held-out cases. Answers of teachers and students are stored as they arrive: run again with the
// same input, it continues where it stopped. A limit, the user, a failing model or a full disk may end it early; once
// there is a draft, that is an outcome (`stopped`). Errors: kNotFound if the teacher is too weak for the material, so
// that another one is needed; kCancelled, kPermanent, kUnavailable or kIo if it ended before there was a draft.
Result<GenerateOutcome> GenerateSkill(const GenerateInput& input);

}  // namespace upskill
