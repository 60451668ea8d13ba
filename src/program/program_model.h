// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "model/model.h"
#include "net/http_client.h"
#include "program/endpoint_request.h"
#include "program/program.h"
#include "program/program_place.h"
#include "sandbox/sandbox.h"
#include "util/clock.h"
#include "util/result.h"

namespace upskill {

struct ProgramModelOptions {
  AgentProgram program;
  ProgramPlace place;
  ModelEndpoint endpoint;
  std::string endpoint_identity;                  // provider, model and base URLs
  std::shared_ptr<HttpClient> client;             // of all network models of the process
  const Clock* clock = nullptr;                   // must outlive the model
  int parallel = 0;                               // programs that run at once; 0: the default
  SandboxOptions sandbox;                         // with the toolchains of commands; those of the program are added
  std::chrono::milliseconds time_limit{600'000};  // of a request without a task
};

// `agent:PROGRAM[:MODEL]`: a program that works on each request in a sandbox of its own, in the workspace and with the
// skill of its task, and asks a model by itself, through a ModelProxy. Sampling parameters and seeds don't reach that
// model. A request without a task is a question in an empty workspace; tools are an error.
//
// Owns the threads that wait for the programs, and the proxy. `done` is called on one of them. Error: there is no
// sandbox here, or the program can't be read in it.
Result<std::unique_ptr<Model>> MakeProgramModel(ProgramModelOptions options);

}  // namespace upskill
