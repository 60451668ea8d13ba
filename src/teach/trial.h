// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "eval/plan/plan.h"
#include "eval/run/budget.h"
#include "eval/run/runner.h"
#include "eval/verdict/judged_run.h"
#include "model/model.h"
#include "skill/skill_text.h"
#include "skill/suite.h"
#include "util/clock.h"
#include "util/result.h"

namespace upskill {

// The students of a generation, and the settings of their trials.
struct TrialContext {
  std::vector<Model*> models;
  std::vector<Student> students;  // parallel to models
  std::filesystem::path runs_dir;
  Sampling sampling;
  VerdictOptions verdict;
  bool ledger = true;         // count the looks at test cases (eval/verdict/ledger.h)
  std::string lineage;        // of the skill
  int test_looks_before = 0;  // at its held-out cases, by earlier generations
  const Clock* clock = nullptr;
  const StopFlag* stop = nullptr;
  RunObserver* observer = nullptr;
  // Called with the stage and the name of the run's folder before anything is asked in it; an error ends the trial. May
  // be empty.
  std::function<Status(const std::string& stage, const std::string& run)> on_run;
};

struct TrialSpec {
  std::string stage;  // "test" for the final measurement, whose run gives a verdict; others are trials: "train"
  const SkillText* skill = nullptr;     // null: the students as they are
  const SkillText* previous = nullptr;  // a version to compare with; may be null
  std::string system_prompt;
  Suite suite;
  int rounds = 1;
  bool baseline = true;
  bool stop_when_decided = false;
  // Draws answers of its own: if cases are chosen by them, chance that made one fail must not count again when it is
  // measured.
  bool other_seed = false;
  Budget* budget = nullptr;  // of the whole generation; null: no limits
};

// The students' answers with a skill: an ordinary run, which `runs`, `report` and the cache can use.
struct Trial {
  std::string run;
  JudgedRun judged;
  std::size_t asked = 0;  // cells answered by a model, not from the cache
};

// Answers that are already in the runs folder are not requested again. Errors: kCancelled if the user stopped it,
// kPermanent if a limit is reached or cells are left with errors, kIo; all answers are kept.
Result<Trial> RunTrial(const TrialContext& context, const TrialSpec& given);

// By student: the share of an arm's answers that passed; 0 without answers.
std::vector<double> PassRates(const Trial& trial, Arm arm = Arm::kSkill);

}  // namespace upskill
