// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "eval/journal/known_student.h"
#include "model/catalog.h"
#include "model/model_spec.h"
#include "skill/skill.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// The look at a skill's tests that the next run of a model would be (docs/verdicts.md, "What has been looked at
// before").
struct NextLook {
  int number = 1;
  int planned_rounds = 0;  // of the run that it would continue; 0: none
  double alpha = 0.0;      // its share of alpha
};

// By model: by the ledger of the runs folder, with the settings that the model's newest run in it had; a first look if
// it has none. Errors: the ledger can't be read.
Result<std::vector<NextLook>> FindNextLooks(const std::filesystem::path& runs_dir, const Skill& skill,
                                            const Suite& suite, const std::vector<std::string>& models, double alpha);

// For people: what makes it need more rounds than a first run. Empty: nothing.
std::string LookText(const NextLook& look);

// How long a student takes for an answer while `parallel` are on their way: rough, since it depends on the machine and
// on what else it does.
struct AnswerTime {
  double seconds = 0.0;
  std::string source;  // for people: "from 12 answers of earlier runs"
};

// `output`: expected tokens of an answer. From earlier runs if there are any; else from a rate that `source` tells.
AnswerTime TimeOfAnswer(const KnownStudent& known, const ModelSpec& spec, double output, int parallel);

// What a judge adds to each answer of a suite's cases, on average, if every answer is judged.
struct JudgeEstimate {
  double requests = 0.0;
  double tokens = 0.0;
  std::optional<double> usd;  // absent: the price is unknown
  bool local = false;         // in process: free
};

// `answer_tokens`: of a student's answer.
Result<JudgeEstimate> EstimateJudge(const std::string& judge_model, const Suite& suite, const Catalog& catalog,
                                    double answer_tokens);

}  // namespace upskill
