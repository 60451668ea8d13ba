// SPDX-License-Identifier: Apache-2.0
#include "trace/fuzz_reader.h"

#include "trace/digest.h"
#include "trace/read_trace.h"
#include "trace/redact.h"
#include "trace/show.h"
#include "util/text.h"

namespace upskill {
namespace {

void CheckTrace(const Trace& trace) {
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    CHECK(event.partner == kNone || event.partner < trace.events.size());
    CHECK(event.message == kNone || event.message < trace.messages.size());
    CHECK(!FindInvalidUtf8(event.text));
    if (event.kind == EventKind::kToolResult && event.partner != kNone) {
      CHECK(trace.events[event.partner].kind == EventKind::kToolCall);
    }
  }
}

}  // namespace

void FuzzReader(TraceFormat format, std::string_view input) {
  Trace trace = ReadTraceAs(format, std::string(input));
  CheckTrace(trace);
  TraceReadOptions options;
  options.lenient = true;
  if (const Result<Trace> detected = ReadTrace(LineSource::FromText(std::string(input), "fuzz"), options)) {
    CheckTrace(*detected);
  } else {
    CHECK(!detected.error().message.empty());
  }
  Redactor redactor({true, true});
  RedactTrace(trace, redactor);
  CheckTrace(trace);
  CHECK(!TraceShowText(trace, RedactionSummary(redactor.redactions())).empty());
  CHECK(!FindInvalidUtf8(DumpJson(TraceShowJson(trace))));
  std::vector<Trace> traces;
  traces.push_back(std::move(trace));
  CHECK(MakeDigest(traces, {2000}).text.size() > 10);
}

}  // namespace upskill
