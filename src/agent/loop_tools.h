// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "model/chat.h"
#include "model/workspace.h"
#include "sandbox/sandbox.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// The workspace between two calls: a value. A name that ends in `/` is an empty folder.
struct WorkspaceState {
  WorkspaceFiles files;
  // The files of a skill that is loaded on demand, by their place in the workspace: they can be read and run, and what
  // is done to them doesn't last.
  WorkspaceFiles fixed;
};

struct ToolLimits {
  std::size_t text_bytes = 30'000;            // of a result, for the model
  std::chrono::milliseconds time{1'800'000};  // that is left
};

struct ToolOutcome {
  std::string text;  // for the model
  bool is_error = false;
  WorkspaceFiles files;  // WorkspaceState::files afterwards
  double seconds = 0.0;
};

// Carries out a call of one of WorkspaceTools. What is wrong with the call, or goes wrong in a command, is told to the
// model. Errors: the sandbox can't be made (kPermanent, kUnavailable), or `stop` was 2 or more (kCancelled).
Result<ToolOutcome> RunTool(const ToolCall& call, const WorkspaceState& state, const Sandbox& sandbox,
                            const ToolLimits& limits, const StopFlag* stop);

}  // namespace upskill
