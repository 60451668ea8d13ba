// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "eval/plan/plan.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// What `upskill judge-check` found of a judge and one rubric: a line of judges.jsonl in the runs folder.
struct RubricRecord {
  std::string judge;   // ModelInfo::identity
  std::string rubric;  // RubricHash
  ConfusionCounts counts;
  std::string time;  // UTC
  EffectiveCounts effective;
  ConfusionCounts with_skill;     // of the answers that occurred with the skill alone
  ConfusionCounts without_skill;  // and without it alone
};

inline constexpr const char* kJudgesFile = "judges.jsonl";

// SHA-256 of a rubric and of the prompts around it: a judge is known by what it was asked.
std::string RubricHash(const std::string& rubric);

// The rubrics of a suite's judge checks, those within groups included, each once.
std::vector<std::string> RubricsOf(const Suite& suite);

Status AppendJudgeRecords(const std::filesystem::path& runs_dir, const std::vector<RubricRecord>& records);

// The newest records of the judge with each of the rubrics, added up; `rubrics_checked` says how many have one. Absent
// without any. Lines that can't be read are skipped. Errors: the file can't be read.
Result<std::optional<JudgeRecord>> FindJudgeRecord(const std::filesystem::path& runs_dir, const std::string& judge,
                                                   const std::vector<std::string>& rubrics);

}  // namespace upskill
