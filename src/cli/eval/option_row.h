// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cli/models/sandbox_option.h"
#include "cli/options/mcp_access.h"

namespace upskill {

struct EvalOptions;

// Where an option's value is kept: how CLI11 is told, and the value in words, as they would be typed. A flag that is
// set has one word, which is empty.
struct OptionValue {
  std::function<CLI::Option*(CLI::App&, EvalOptions&, const std::string& names, const std::string& help)> declare;
  std::function<std::vector<std::string>(const EvalOptions&)> words;
};

enum OptionTrait : unsigned {
  kOnlyEval = 1,       // `benchmark` doesn't have it
  kOnlyBenchmark = 2,  // `eval` doesn't have it
  kInPlan = 4,      // the run's plan has it, so it can't be another one with --resume; all others are given again, or
                    // remembered if they aren't (RunTerms)
  kOfWholeRun = 8,  // the shards of --on don't get it
  kShowsDefault = 16,  // the help shows the value that the struct has
  kInResumeLine = 32,  // the printed command that resumes a run has it, under its first name
};

// One option or argument of `eval` and `benchmark`: a row of the table from which follow what the parser accepts, the
// help (and so completion, manual page and docs/commands.md), the printed command that resumes a run, what the jobs of
// --on get, and what can't be given together.
struct EvalOption {
  std::string names;  // as CLI11 takes them; the first long one is the name in messages and jobs
  std::string value;  // what the help calls the value; empty: a flag
  std::string help;
  OptionValue at;
  unsigned traits = 0;
  // NOLINTBEGIN(readability-redundant-member-init): without them GCC warns of rows that end earlier
  std::function<void(CLI::Option&)> parser = {};  // checks and changes the text
  std::string default_text = {};                  // of the help
  std::vector<std::string> needs = {};
  std::vector<std::string> excludes = {};
  std::string group = {};  // of the help; the table fills it in
  // NOLINTEND(readability-redundant-member-init)
};

// All rows, in the order of the help.
const std::vector<EvalOption>& EvalOptionRows();

// The row of an option, by its first long name with the hyphens; null: there is none.
const EvalOption* FindEvalOption(std::string_view name);

// "--model" for "-m,--model,--m"; empty for an argument.
std::string LongNameOf(const EvalOption& row);

// Gives the option what its row says, apart from names and help.
CLI::Option* LikeRow(CLI::Option* option, const EvalOption& row);

// An option of another command that is the same as one of `eval`. `help`: other words for it; empty: the row's.
template <typename T>
CLI::Option* AddOptionOfEval(CLI::App& command, std::string_view name, T& value, const std::string& help = "") {
  const EvalOption& row = *FindEvalOption(name);
  const std::string& text = help.empty() ? row.help : help;
  if constexpr (std::is_same_v<T, bool>) {
    return LikeRow(command.add_flag(row.names, value, text), row);
  } else {
    return LikeRow(command.add_option(row.names, value, text), row);
  }
}

// Declares -j, with the names that the command has for it. `of`: what the number is a limit for. 0: the default.
void AddParallelOption(CLI::App& command, int& parallel, const std::string& names = "-j,--jobs",
                       const std::string& of = "model");

// --no-sandbox and --toolchain. `what` runs there, `trusted` is what it comes from.
void AddSandboxOptions(CLI::App& command, SandboxChoice& choice, const std::string& what = "the suite's commands",
                       const std::string& trusted = "answers and suites");

// --mcp-url and --mcp-env. Neither is part of a run's plan: they are given again with --resume.
void AddMcpOptions(CLI::App& command, McpChoice& choice);

// --judge-model. `without`: what happens without one.
void AddJudgeOption(CLI::App& command, std::string& judge_model,
                    const std::string& without = "their cases are left out");

}  // namespace upskill
