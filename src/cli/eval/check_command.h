// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"
#include "cli/eval/check_judge.h"
#include "cli/models/sandbox_option.h"

namespace CLI {
class App;
}

namespace upskill {

struct CheckCommandOptions {
  std::string suite;               // a file of cases, or a skill
  std::string answers;             // empty: the folder `answers` beside the cases, if there is one
  std::vector<std::string> cases;  // ids; empty: all
  std::string output;              // a file for the report, .xml or .json; may be empty
  bool lint = false;
  bool strict = false;
  bool verbose = false;
  bool json = false;
  int jobs = 0;  // 0: one for each processor
  SandboxChoice sandbox;
  CheckJudgeOptions judge;
  ColorMode color = ColorMode::kAuto;
};

void AddCheckCommand(CLI::App& app, CheckCommandOptions& options);

// Tries a suite's checks on its author's answers, without a student. Exit code 1 if one isn't judged as it should be,
// or, with `lint`, a weakness is found; 3 if no answer could be judged.
ExitCode RunCheck(const CheckCommandOptions& options, Env& env);

}  // namespace upskill
