// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/trace_text.h"

#include <gtest/gtest.h>

#include "support/planted_secrets.h"
#include "trace/digest/digest.h"
#include "trace/load/read_trace.h"
#include "trace/redact/redact.h"
#include "util/json.h"

namespace upskill {
namespace {

TEST(TraceTextTest, NoSecretLeavesATrace) {
  const std::vector<Planted> planted = PlantedSecrets();
  Result<Trace> trace = ReadTrace(LineSource::FromText(SessionWith(planted), "planted.jsonl"), {});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  Redactor redactor({});
  RedactTrace(*trace, redactor);
  std::string everything = DumpJson(TraceShowJson(*trace)) + RedactionSummary(redactor.redactions(), "redacted");
  for (std::size_t i = 0; i < trace->events.size(); ++i) everything += DumpJson(EventJson(*trace, i)) + "\n";
  std::vector<Trace> traces;
  traces.push_back(std::move(*trace));
  everything += MakeDigest(traces, {200'000}).text;
  for (const Planted& plant : planted) EXPECT_EQ(everything.find(plant.secret), std::string::npos) << plant.kind;
}

TEST(TraceTextTest, DamageNamesALineOnlyWhereThereIsOne) {
  Trace trace;
  trace.source = "a.eval";
  trace.problems = {{0, "an entry is damaged"}, {7, "not JSON"}};
  const std::string text = TraceShowText(trace, "").text();
  EXPECT_NE(text.find("damaged: a.eval: an entry is damaged\n"), std::string::npos) << text;
  EXPECT_NE(text.find("damaged: a.eval:7: not JSON\n"), std::string::npos) << text;
}

TEST(TraceTextTest, AbandonedEventsAreMarked) {
  Trace trace;
  trace.events.resize(2);
  trace.events[1].abandoned = true;
  EXPECT_EQ(EventLine(trace, 0, 80).text().find("abandoned"), std::string::npos);
  EXPECT_NE(EventLine(trace, 1, 80).text().find("abandoned"), std::string::npos);
}

}  // namespace
}  // namespace upskill
