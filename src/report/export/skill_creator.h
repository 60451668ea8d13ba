// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "eval/verdict/judged_run.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// The workspace of Anthropic's skill-creator (anthropics/skills, skills/skill-creator: references/schemas.md,
// scripts/aggregate_benchmark.py and eval-viewer/generate_review.py), described in docs/evaluation-files.md.

// benchmark.json with its differences as skill-creator writes them: "+0.50", "+13.0", "+1700".
Json SkillCreatorBenchmark(const JudgedRun& run, std::size_t student);

// benchmark.md of such a benchmark.json: its summary as a table, and its notes.
std::string BenchmarkMarkdown(const Json& benchmark);

// Writes the workspace `dir`: iteration-N for the N-th run, with several models in a folder for each of them. An error
// may leave an incomplete folder, which the message names. Errors (kInput): `dir` is there already, a run has no
// answer, the runs are of different skills.
Status ExportToSkillCreator(std::span<const JudgedRun> runs, const std::filesystem::path& dir);

}  // namespace upskill
