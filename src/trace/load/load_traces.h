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

// Reads the traces named on a command line and removes their secrets.

struct TraceLoadOptions {
  TraceReadOptions read;
  RedactOptions redact;
  bool keep_secrets = false;  // only for use on this machine: AllowWithoutRedaction
};

// A trace that an argument refers to.
struct TraceName {
  std::string path;   // or `-`: standard input
  std::string shown;  // its file name, with as many folders as distinguish it from the others
};

// Each trace once, in the order of the arguments: files, folders, patterns, `-` for standard input, `latest` for the
// newest one of the agents' own folders.
Result<std::vector<TraceName>> ExpandTraceArguments(const std::vector<std::string>& arguments,
                                                    const VariableLookup& variable);

struct LoadedTrace {
  Trace trace;
  std::vector<Redaction> redactions;
};
// The redactor numbers secrets consistently over all traces it sees.
Result<LoadedTrace> LoadTrace(const TraceName& name, const TraceLoadOptions& options, Redactor& redactor);

struct LoadedTraces {
  std::vector<Trace> traces;  // not empty
  std::vector<Redaction> redactions;
  std::vector<Error> unread;  // of the others
};
// Reads all traces; unreadable ones are listed in `unread`. Errors: an argument without traces; none could be read. The
// redactor may be used for other texts as well, so that all labels are consistent; `redactions` are those of the
// traces.
Result<LoadedTraces> LoadTraces(const std::vector<std::string>& arguments, const VariableLookup& variable,
                                const TraceLoadOptions& options, Redactor& redactor);
// LoadTraces with a redactor of its own.
Result<LoadedTraces> LoadTraces(const std::vector<std::string>& arguments, const VariableLookup& variable,
                                const TraceLoadOptions& options);

// Why there is nothing to read: the error of a single trace, or the first few of several. `errors` isn't empty.
Error NoTraceRead(const std::vector<Error>& errors);

// What was skipped of a trace because it is damaged, with lines: the first few records and the number of the others.
std::vector<std::string> DamageWarnings(const Trace& trace);

}  // namespace upskill
