// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "eval/verdict/judged_run.h"
#include "report/terminal/runs_text.h"
#include "util/folder.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// The evaluation files of agentskills.io and of skill-creator (docs/reports.md).

// grading.json of one answer, with its assertions under both names (assertion_results and expectations).
Json GradingToJson(const Sample& sample);

// benchmark.json of one student: run_summary as agentskills.io has it (numbers), and metadata and runs[] as
// skill-creator's viewer wants them. Errors are not listed in runs[]; `notes` counts them. Without runs[] the file
// stays small however many answers there are.
Json BenchmarkToJson(const JudgedRun& run, std::size_t student, bool with_runs = true);

// The name of an arm there: with_skill, without_skill, old_skill (a previous version) or placebo.
const char* ConfigurationName(Arm arm);

// The folder of a case: eval-N-<case>, numbered from 1, where <case> may be missing.
std::string EvalFolderName(std::size_t case_index, const std::string& case_id);

// Whether an answer's files are in a folder run-K below that of its configuration.
enum class RoundFolders { kIfSeveral, kAlways };

// Writes grading.json, timing.json and outputs/answer.md of each answer of one student into `folder`.
Status WriteAnswerFolders(const JudgedRun& run, std::size_t student, const Folder& folder, RoundFolders run_folders);

// Writes the tree of an iteration for one student into `folder`: benchmark.json, and for each case and arm
// eval-N-<case>/<configuration>/[run-K/]grading.json, timing.json and outputs/answer.md (run-K with several rounds).
Status WriteBenchmarkFolder(const JudgedRun& run, std::size_t student, const Folder& folder);

// A name reduced to the characters allowed in a file name: letters, digits and single dashes, at most 40. May be empty.
std::string FileNamePart(const std::string& id);

// The folder of one of several models: N-<name>, numbered from 1, where <name> may be missing.
std::string StudentFolderName(std::size_t student, const std::string& name);

struct MeanAndDeviation {
  double mean = 0.0;
  double stddev = 0.0;  // of a sample (n − 1)
};
struct BenchmarkSummary {
  std::string skill;
  std::string model;
  std::string timestamp;
  // By configuration: with_skill, without_skill, new_skill, old_skill, …
  std::map<std::string, std::map<std::string, MeanAndDeviation>> configurations;  // by pass_rate, time_seconds, tokens
  std::optional<double> pass_rate_delta;                                          // a number, or text such as "+0.50"
  std::vector<RunRow> rows;                                                       // from runs[]; empty without it
};
// benchmark.json in either spelling.
Result<BenchmarkSummary> BenchmarkFromJson(const Json& json, const std::string& source);

// The benchmark's configurations as a table: mean ± standard deviation.
TerminalText BenchmarkText(const BenchmarkSummary& benchmark, const Style& style);

}  // namespace upskill
