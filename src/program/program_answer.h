// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/chat.h"
#include "model/workspace.h"
#include "program/model_proxy.h"
#include "program/program_run.h"
#include "trace/trace.h"
#include "util/result.h"

namespace upskill {

// The session that a run has left, the longest of several. Error: there is none, or it can't be read.
Result<Trace> SessionOf(const ProgramRun& run);

// What the program did, as its session tells it.
WorkRecord WorkOf(const Trace& session, const ProgramRun& run, const WorkspaceTask& task);

// The answer of a run: never by its exit code alone. Errors: none of its requests was answered, or the last ones were
// not; it asked nothing; it had no time left; the budget had no room for it.
Result<ChatResponse> AnswerOfRun(const ProgramJob& job, const ProgramRun& run, const ProxyRecord& record,
                                 const WorkspaceTask& task);

}  // namespace upskill
