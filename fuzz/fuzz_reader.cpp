// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_reader.h"

#include "report/terminal/trace_text.h"
#include "trace/digest/digest.h"
#include "trace/load/read_trace.h"
#include "trace/redact/redact.h"
#include "util/text.h"

namespace upskill {
namespace {

void CheckTrace(const Trace& trace) {
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    CHECK(event.partner == kNoIndex || event.partner < trace.events.size());
    CHECK(event.message == kNoIndex || event.message < trace.messages.size());
    CHECK(!FindInvalidUtf8(event.text));
    if (event.kind == EventKind::kToolResult && event.partner != kNoIndex) {
      CHECK(trace.events[event.partner].kind == EventKind::kToolCall);
    }
  }
}

// What must work on every trace: counting, redaction, the commands' output.
void UseTrace(Trace trace) {
  CheckTrace(trace);
  Redactor redactor({true, true});
  RedactTrace(trace, redactor);
  CheckTrace(trace);
  CHECK(!TraceShowText(trace, RedactionSummary(redactor.redactions(), "redacted")).empty());
  CHECK(!FindInvalidUtf8(DumpJson(TraceShowJson(trace))));
  for (std::size_t i = 0; i < trace.events.size() && i < 50; ++i) {
    CHECK(!FindInvalidUtf8(DumpJson(EventJson(trace, i))));
    CHECK(!EventLine(trace, i, 80).empty());
  }
  std::vector<Trace> traces;
  traces.push_back(std::move(trace));
  CHECK(MakeDigest(traces, {2000}).text.size() > 10);
}

}  // namespace

void FuzzReader(TraceFormat format, std::string_view input) { UseTrace(ReadTraceAs(format, std::string(input))); }

void FuzzDetected(std::string_view input) {
  for (const bool strict : {false, true}) {
    TraceReadOptions options;
    options.strict = strict;
    options.max_document_bytes = std::size_t{4} << 20U;
    Result<Trace> trace = ReadTrace(LineSource::FromText(std::string(input), "fuzz"), options);
    if (trace) {
      UseTrace(std::move(*trace));
    } else {
      CHECK(!trace.error().message.empty());
    }
  }
}

void FuzzRedaction(std::string_view input) {
  constexpr std::string_view kToken = "AKIA3TQ7ZKX2PLM5NRWD";
  const std::string front(input.substr(0, input.size() / 2));
  const std::string text = front + '\n' + std::string(kToken) + '\n' + std::string(input.substr(front.size()));
  std::size_t end = 0;
  bool covered = false;
  for (const SecretSpan& span : FindSecrets(text, {true, true})) {
    CHECK(span.begin >= end && span.begin < span.end && span.end <= text.size() && !span.kind.empty());
    end = span.end;
    covered = covered || (span.begin <= front.size() + 1 && span.end >= front.size() + 1 + kToken.size());
  }
  CHECK(covered);
  Redactor redactor({true, true});
  const std::string redacted = redactor.Apply(text);
  CHECK(!redactor.redactions().empty());
  CHECK(FindInvalidUtf8(text) || !FindInvalidUtf8(redacted));
}

}  // namespace upskill
