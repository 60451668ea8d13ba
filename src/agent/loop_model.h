// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "agent/tool_server.h"
#include "agent/turn_journal.h"
#include "model/model.h"
#include "sandbox/sandbox.h"
#include "util/result.h"

namespace upskill {

struct LoopOptions {
  const Sandbox* sandbox = nullptr;      // where `bash` runs; outlives the model
  std::shared_ptr<TurnJournal> journal;  // null: nothing is stored
  std::size_t workers = 0;               // threads that run tools; 0: as many as there are processors, at least 4
  McpAccess access = {};                 // to servers at URLs
};

// A model that acts, made of one that takes tools: carries out requests with a task by asking the model, running the
// tools that it calls in the task's workspace, in order, and asking again with their results, until it calls none or a
// limit is reached. A tool's error is told to the model; only what keeps tools from running at all is an error of the
// request. Requests without a task are passed on.
//
// Each turn is approved by ChatRequest::meter, and stored before it is used. Cancel(kWaiting) ends tasks before their
// next turn. Error: the model takes no tools.
Result<std::unique_ptr<Model>> MakeLoopModel(std::unique_ptr<Model> model, const LoopOptions& options);

}  // namespace upskill
