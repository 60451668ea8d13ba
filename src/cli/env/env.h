// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/terminal/style.h"
#include "util/clock.h"
#include "util/result.h"
#include "util/stop_flag.h"
#include "util/terminal_text.h"

namespace upskill {

// Exit codes of the program; scripts rely on them, never renumber.
enum class ExitCode {
  kSuccess = 0,
  // A gate or threshold failed, traces could not be read or have too little, a folder is missing, or a skill isn't
  // current after an update.
  kFailed = 1,
  kUsage = 2,       // usage or configuration error
  kIncomplete = 3,  // unanswered cells, or a limit reached
  kInterrupted = 130,
};

// What was found in the file `.env` of the current folder (cli/models/env_file.h). Names only.
struct EnvFileKeys {
  std::vector<std::string> keys;    // variables whose values are used
  std::vector<std::string> unused;  // of providers that the user has another key for
  std::string problem;              // why nothing was read, if there is a file
};

// What the program sees of the world, so that tests run whole commands in process.
struct Env {
  std::function<void(const TerminalText&)> out;    // standard output; an error of it is reported at the end
  std::function<void(const TerminalText&)> error;  // standard error
  bool out_is_terminal = false;
  bool error_is_terminal = false;
  std::size_t columns = 100;
  std::function<std::optional<std::string>(const std::string&)> variable;  // environment variables
  std::filesystem::path data_dir;                                          // share/upskill beside the program
  std::filesystem::path program;                                           // this one, for jobs elsewhere
  std::filesystem::path set_up_model;    // where scripts/setup puts the default model; empty in packages
  std::filesystem::path worker_program;  // runs models in process as a worker (RunEngineWorker); empty: no worker
  bool trust_config = false;             // --trust-config: use a project's configuration file whatever it names
  EnvFileKeys env_file;
  const Clock* clock = nullptr;
  const StopFlag* stop = nullptr;
};

// Runs one command line (without the program's name) and returns its exit code.
ExitCode RunCommandLine(const std::vector<std::string>& arguments, Env& env);

// Prints "error: …" and returns the exit code that fits the kind of error.
ExitCode PrintError(Env& env, const Error& error);

// Prints "warning: …".
void PrintWarning(const Env& env, std::string_view warning);

// Prints JSON, CSV or another document for programs as it is; on a terminal its control characters are escaped.
void PrintDocument(const Env& env, const std::string& document);

enum class ColorMode { kAuto, kAlways, kNever };

// The layout for standard output or error: colours on a terminal unless NO_COLOR is set or --color says otherwise.
Style StyleFor(const Env& env, bool is_terminal, ColorMode mode);

}  // namespace upskill
