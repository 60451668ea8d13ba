// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/model.h"
#include "util/result.h"

namespace upskill {

struct CommandModelOptions {
  std::string command;                            // a command line for /bin/sh
  std::vector<std::string> environment;           // NAME=VALUE (util/child_environment.h)
  int parallel = 0;                               // commands that run at once; 0: the default
  std::chrono::milliseconds time_limit{600'000};  // for one answer
  std::size_t output_limit = std::size_t{16} << 20U;
  std::optional<Price> price;
};

// `cmd:COMMAND`: a model behind a command that reads a prompt (model/request_text.h) on its standard input and prints
// the answer (model/command_output.h). Sampling parameters, seeds and token limits don't reach it; tools are an error.
//
// A command without shell syntax is executed without a shell in between. Each request starts the command once; a
// command that exceeds a limit, or whose request is cancelled, is ended with its whole process group. Errors name the
// command and quote the last line of its standard error: kPermanent if it can't be executed, else kUnavailable.
//
// Owns the threads that wait for the commands. `done` is called on one of them.
std::unique_ptr<Model> MakeCommandModel(CommandModelOptions options);

// Whether the program that the command starts is there to be executed, as far as that can be told without a shell: a
// command with shell syntax passes. `environment`: its PATH. Error: what is missing.
Status CheckCommandExists(const std::string& command, const std::vector<std::string>& environment);

// Exposed for tests: what /bin/sh is given.
std::string ShellCommandOf(const std::string& command);

}  // namespace upskill
