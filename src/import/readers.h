// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "import/imported_results.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// A receipt of Driftproof (spec/receipt.schema.json of driftproofhq/driftproof): results.cases[] has an entry for each
// case and mode, which is one generation that a judge scored several times, or since schema 0.6 a list of generations
// (generation.draws). A generation passes if its mean score reaches the case's threshold, as the receipt has it.

bool IsDriftproofReceipt(const Json& json);

// Errors: no case has a measured generation in a known mode.
Result<ImportedResults> ResultsOfDriftproof(const Json& json, const std::string& source, const ImportOptions& options);

// Logs of Inspect AI: the JSON form, or an .eval archive. Each sample and epoch is one generation; it passes if every
// score is "C", true, or a number that reaches --pass-at. The arm is a label in the metadata of the sample or of the
// log
// (`arm`, `condition` or `configuration`), in the task's arguments, one of the tags, the task's name, or the file's
// name. A log often has one arm only, so the results are a part (ImportedResults::is_part).

bool IsInspectLog(const Json& json);

// Errors: no sample is of a known arm, or none is scored.
Result<ImportedResults> ResultsOfInspect(const Json& json, const std::string& source, const ImportOptions& options);

// The results of an .eval archive in memory, read one sample after another. Errors: also a damaged archive.
Result<ImportedResults> ResultsOfInspectArchive(std::string_view bytes, const std::string& source,
                                                const ImportOptions& options);

// aggregate-result.json of `claude plugin eval` (code.claude.com/docs/en/plugin-evals): cases[].arms.with[] and
// .without[] are generations, each with a score between 0 and 1 and its graders. Votes of a judge are inside a grader.

bool IsPluginEval(const Json& json);

// Errors: no case has an answer in an arm of a known name.
Result<ImportedResults> ResultsOfPluginEval(const Json& json, const std::string& source, const ImportOptions& options);

// The results that `promptfoo eval -o out.json` writes (OutputFile and EvaluateResult in promptfoo's src/types): one
// entry for each provider, prompt and test. The arms are labels of prompts or of providers. An answer passes if
// promptfoo says so (`success`), by the thresholds of its own assertions.

bool IsPromptfooResults(const Json& json);

// Errors: no results (only their table or counts), or no labels that are the arms; the message lists the labels.
Result<ImportedResults> ResultsOfPromptfoo(const Json& json, const std::string& source, const ImportOptions& options);

// The results of skill-creator and of the guide of agentskills.io: benchmark.json (references/schemas.md of
// skill-creator), and workspaces with a grading.json for each answer. An answer passes if all its expectations do, or
// with ImportOptions::pass_at below 1, if that share of them does.

bool IsBenchmark(const Json& json);

// Errors: no runs[], or none of them is of a known configuration; the message says why there is no verdict.
Result<ImportedResults> ResultsOfBenchmark(const Json& json, const std::string& source, const ImportOptions& options);

// A workspace: <eval>/<configuration>/[run-N/]grading.json below `folder`, with timing.json and eval_metadata.json
// beside. The evaluations of different iterations are different results. Links aren't followed. Errors: no grading.json
// in a folder of a known configuration, too many files, a file that can't be read.
Result<std::vector<ImportedResults>> ResultsOfWorkspace(const std::filesystem::path& folder,
                                                        const ImportOptions& options);

// Published results of SkillsBench: a file of its leaderboard (results[].results[] with task_id, condition and passed),
// or a folder of its trajectories, in which Harbor has written a result.json for each trial
// (MODEL/with_skills|no_skills/TASK__ID/result.json). A trial is one generation; it passes if its reward reaches
// --pass-at.

bool IsSkillsBench(const Json& json);

// Errors: no trial is of a known condition.
Result<ImportedResults> ResultsOfSkillsBench(const Json& json, const std::string& source, const ImportOptions& options);

// `files`: the result.json files below `folder`. Errors: a file that can't be read, no trial of a known condition.
Result<ImportedResults> ResultsOfTrials(const std::filesystem::path& folder,
                                        const std::vector<std::filesystem::path>& files, const ImportOptions& options);

// results.jsonl of Microsoft Vally: a line of the type `trial-result` for each generation, with its stimulus, variant,
// grades and trajectory. The arms are variants; `vally experiment run` writes a file for each. An answer passes if
// Vally says so (gradeResult.passed), else if its score reaches --pass-at.

// Whether a text is such a file, by its first line.
bool IsVallyResults(std::string_view text);

// The answers of one file. Error: none is with or without the skill; `folder` is the variant where the lines don't name
// one. A file usually has one arm only, so the results are a part (ImportedResults::is_part).
Result<ImportedResults> ResultsOfVally(std::string_view text, const std::string& source, const std::string& folder,
                                       const ImportOptions& options);

}  // namespace upskill
