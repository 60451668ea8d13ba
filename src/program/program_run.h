// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "model/workspace.h"
#include "program/program.h"
#include "program/program_place.h"
#include "sandbox/sandbox.h"
#include "util/files.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// One run of a program.
struct ProgramJob {
  AgentProgram program;
  ProgramPlace place;
  std::string model;      // its name
  std::string protocol;   // the program's own name for it
  std::string base_path;  // of the URL of the model
  std::string prompt;
  WorkspaceFiles files;              // of the workspace
  std::optional<SkillFolder> skill;  // to be installed where the program looks for skills
  std::vector<SkillFolder> others;   // with it
  std::vector<ToolServer> servers;   // with commands, which the program starts
  std::chrono::milliseconds time_limit{600'000};
  const StopFlag* stop = nullptr;
  std::function<void(Fd)> serve;  // SandboxCommand::serve, for the model's URL
};

// What is left of a run.
struct ProgramRun {
  int exit_code = -1;
  bool timed_out = false;
  double seconds = 0.0;
  std::string output;                           // the end of what it printed
  std::string error;                            // the end of what it printed on standard error
  std::string answer;                           // of its file for the final answer
  std::map<std::string, std::string> sessions;  // by name
  WorkspaceFiles files;                         // of the workspace
  bool all_files = true;                        // some were left out: too large, or too many
};

// Runs the program in a sandbox, with a home folder of its own in memory, until it exits or its time is over; then ends
// all its processes. Errors: the sandbox's; a limit of the sandbox that ended the run before its files could be kept;
// servers that the program can't be given (kPermanent); kCancelled.
Result<ProgramRun> RunProgram(const Sandbox& sandbox, const ProgramJob& job);

}  // namespace upskill
