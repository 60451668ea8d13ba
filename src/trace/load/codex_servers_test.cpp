// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "trace/load/read_trace.h"
#include "trace/trace.h"

namespace upskill {
namespace {

TEST(CodexServers, AreNamedApart) {
  const std::string begin =
      R"({"timestamp":"2026-11-25T10:00:00.000Z","type":"session_meta","payload":{"id":"1","cwd":"/p"}})";
  std::string text = begin + "\n";
  for (const char* space : {"mcp__units", "multi_agent_v1"}) {
    text +=
        R"({"timestamp":"2026-11-25T10:00:01.000Z","type":"response_item","payload":{"type":"function_call","name":"add",)";
    text += R"("namespace":")" + std::string(space) + R"(","arguments":"{}","call_id":")" + space + "\"}}\n";
  }
  const Result<Trace> trace = ReadTrace(LineSource::FromText(text, "rollout-1.jsonl"), {});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(CountTrace(*trace).tool_calls_by_name, (std::map<std::string, std::size_t>{{"add", 1}, {"units__add", 1}}));
}

}  // namespace
}  // namespace upskill
