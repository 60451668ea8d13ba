// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trace/load/find_traces.h"
#include "trace/load/read_trace.h"
#include "trace/redact/redact.h"
#include "trace/trace.h"
#include "util/result.h"

namespace upskill {

// Traces as the user names them on a command line, read and without their secrets.

struct TraceLoadOptions {
  TraceReadOptions read;
  RedactOptions redact;
  bool keep_secrets = false;  // only for what stays on this machine: AllowWithoutRedaction
};

// A trace that an argument stands for.
struct TraceName {
  std::string path;   // or `-`: standard input
  std::string shown;  // its file name, with as many folders in front as tell it from the others
};

// Each trace once, in the order of the arguments: files, folders, patterns, `-` for standard input, `latest` for the
// newest one of the agents' own folders.
Result<std::vector<TraceName>> ExpandTraceArguments(const std::vector<std::string>& arguments,
                                                    const VariableLookup& variable);

struct LoadedTrace {
  Trace trace;
  std::vector<Redaction> redactions;
};
// With the redactor's numbers, which are the same for all traces that go through it.
Result<LoadedTrace> LoadTrace(const TraceName& name, const TraceLoadOptions& options, Redactor& redactor);

struct LoadedTraces {
  std::vector<Trace> traces;  // not empty
  std::vector<Redaction> redactions;
  std::vector<Error> unread;  // of the others
};
// All of them; those that can't be read are left out. Errors: an argument that stands for nothing; none could be read.
Result<LoadedTraces> LoadTraces(const std::vector<std::string>& arguments, const VariableLookup& variable,
                                const TraceLoadOptions& options);

}  // namespace upskill
