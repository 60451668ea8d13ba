// SPDX-License-Identifier: Apache-2.0
// What agent programs print instead of a session file, and how they tell that a call failed or was taken back.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/load/read_trace.h"
#include "trace/trace.h"

namespace upskill {
namespace {

Trace Read(const std::string& text) {
  Result<Trace> trace = ReadTrace(LineSource::FromText(text, "s.jsonl"), {});
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return trace.ok() ? std::move(*trace) : Trace();
}

std::vector<std::string> TextsOf(const Trace& trace, EventKind kind, bool abandoned = false) {
  std::vector<std::string> texts;
  for (const Event& event : trace.events) {
    if (event.kind == kind && event.abandoned == abandoned) texts.push_back(event.text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(PrintedOutput, OpenCodeMessagesThatAreNoObjects) {
  for (const char* info : {R"("x")", "[1]", "3"}) {
    const Trace trace = Read(std::string(R"({"type":"session.updated","properties":{"info":{"id":"s"}}}
{"type":"message.updated","properties":{"info":)") +
                             info + R"(}}
{"type":"error","sessionID":"s","error":{"name":"E"}}
{"type":"step_finish","sessionID":"s","part":{"id":"p4","messageID":"","type":"step-finish","cost":0.5,"tokens":{"input":6}}}
)");
    EXPECT_FALSE(trace.unknown_records.empty()) << info;
  }
}

TEST(PrintedOutput, OpenCodeRun) {
  const Trace trace = Read(
      R"({"type":"step_start","timestamp":1767036059338,"sessionID":"s","part":{"id":"p1","messageID":"m1","type":"step-start"}}
{"type":"tool_use","timestamp":1767036061199,"sessionID":"s","part":{"id":"p2","messageID":"m1","type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{"command":"false"},"output":"","metadata":{"exit":1}}}}
{"type":"tool_use","timestamp":1767036061299,"sessionID":"s","part":{"id":"p3","messageID":"m1","type":"tool","callID":"c2","tool":"invalid","state":{"status":"completed","input":{"tool":"bsh"},"output":"unknown tool","metadata":{}}}}
{"type":"step_finish","timestamp":1767036064273,"sessionID":"s","part":{"id":"p4","messageID":"m1","type":"step-finish","cost":0.5,"tokens":{"input":671,"output":8,"reasoning":2,"cache":{"read":15,"write":0}}}}
{"type":"text","timestamp":1767036064268,"sessionID":"s","part":{"id":"p5","messageID":"m2","type":"text","text":"It failed."}}
{"type":"error","timestamp":1767036065000,"sessionID":"s","error":{"name":"APIError","data":{"message":"Rate limit"}}}
)");
  EXPECT_EQ(trace.format, TraceFormat::kOpenCode);
  EXPECT_TRUE(trace.unknown_records.empty());
  const TraceCounts counts = CountTrace(trace);
  EXPECT_EQ(counts.tool_errors, 2U);
  EXPECT_EQ(counts.tokens.input, 671);
  EXPECT_EQ(counts.tokens.output, 10);
  EXPECT_EQ(TextsOf(trace, EventKind::kAssistant), Texts{"It failed."});
  EXPECT_EQ(TextsOf(trace, EventKind::kSystem), Texts{"error: APIError: Rate limit"});
}

TEST(PrintedOutput, PiTellsAMessageOnce) {
  const std::string front = R"({"type":"session","version":3,"id":"u","timestamp":"2026-08-01T10:00:00.000Z","cwd":"/w"}
)";
  const std::string rest = R"({"type":"agent_start"}
{"type":"message_start","message":{"role":"user","content":[{"type":"text","text":"Test it"}]}}
{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"Test it"}]}}
{"type":"message_update","message":{"role":"assistant","content":[{"type":"text","text":"I"}]}}
{"type":"message_end","message":{"role":"assistant","model":"m","content":[{"type":"text","text":"I will."},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"make test"}}],"usage":{"input":10,"output":5}}}
{"type":"tool_execution_end","toolCallId":"c1","toolName":"bash","isError":true}
{"type":"message_end","message":{"role":"toolResult","toolCallId":"c1","content":[{"type":"text","text":"1 failed"}],"isError":true}}
{"type":"agent_end","messages":[]}
)";
  for (const std::string& text : {front + rest, rest}) {
    const Trace trace = Read(text);
    EXPECT_EQ(trace.format, TraceFormat::kPi);
    EXPECT_TRUE(trace.unknown_records.empty());
    EXPECT_EQ(TextsOf(trace, EventKind::kUser), Texts{"Test it"});
    EXPECT_EQ(TextsOf(trace, EventKind::kAssistant), Texts{"I will."});
    EXPECT_EQ(CountTrace(trace).tool_errors, 1U);
  }
}

TEST(PrintedOutput, PiWithALeafThatWentBack) {
  const auto session = [](const std::string& leaf) {
    return Read(R"({"type":"session","version":3,"id":"s","timestamp":"2026-08-01T10:00:00.000Z","cwd":"/w"}
{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"Test it"}}
{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nx"}}
{"type":"message","id":"c","parentId":"b","message":{"role":"assistant","content":[{"type":"text","text":"No."}]}}
{"type":"leaf","id":"d","parentId":"c","targetId":"a")" +
                leaf + "}\n");
  };
  EXPECT_EQ(TextsOf(session(""), EventKind::kUser), Texts{"Test it"});
  EXPECT_EQ(TextsOf(session(""), EventKind::kAssistant, true), Texts{"No."});
  EXPECT_EQ(TextsOf(session(R"(,"appendMode":"side")"), EventKind::kAssistant), Texts{"No."});
  EXPECT_TRUE(session("").unknown_records.empty());
}

TEST(PrintedOutput, FilesThatOnlyBeginLikeAKnownOne) {
  const std::string step = R"({"type":"step/start","seq":1,"data":{}})"
                           "\n";
  for (const std::string& text : {R"({"type":"session","version":0,"id":"s","cwd":"/w"})"
                                  "\n" +
                                      step + step + step,
                                  std::string(R"({"test":"a","attempts":[{"attempt":0,"score":1}]})")}) {
    EXPECT_FALSE(ReadTrace(LineSource::FromText(text, "s.jsonl"), {}).ok()) << text;
  }
}

TEST(PrintedOutput, CodexForksDoNotCountCopiedTokens) {
  const auto turn = [](const char* id, int tokens) {
    return R"({"type":"turn_context","payload":{"turn_id":")" + std::string(id) + R"("}}
{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":)" +
           std::to_string(tokens) + R"(},"last_token_usage":{"input_tokens":)" + std::to_string(tokens) + "}}}}\n";
  };
  const std::string own = turn("019f0000-0001-7000-8000-000000000003", 20);
  const auto input = [&](const std::string& of, const std::string& rest) {
    return CountTrace(Read(R"({"type":"session_meta","payload":{"id":"019f0000-0000-7000-8000-000000000002")" + of +
                           "}}\n" + rest))
        .tokens.input;
  };
  const std::string copied = turn("019ef000-0000-7000-8000-000000000001", 100);
  EXPECT_EQ(input(R"(,"forked_from_id":"019ee000")", copied + own), 20);
  EXPECT_EQ(input("", copied + own), 120) << "a session that is only resumed";
}

TEST(PrintedOutput, GeminiAsOneObject) {
  const Trace trace = Read(
      R"({"session_id":"a","response":"It is 4.","stats":{"models":{"gemini-9":{"tokens":{"input":40,"prompt":100,"candidates":20,"cached":60,"thoughts":5,"tool":0}}},"tools":{"totalCalls":0}}})");
  EXPECT_EQ(trace.format, TraceFormat::kGeminiCli);
  EXPECT_EQ(TextsOf(trace, EventKind::kAssistant), Texts{"It is 4."});
  const TokenUsage tokens = CountTrace(trace).tokens;
  EXPECT_EQ(tokens.input, 40);
  EXPECT_EQ(tokens.cache_read, 60);
  EXPECT_EQ(tokens.output, 25);
  const Trace failed =
      Read(R"({"session_id":"a","error":{"type":"FatalTurnLimitedError","message":"too long","code":53}})");
  EXPECT_EQ(failed.succeeded, false);
}

TEST(PrintedOutput, ExitCodesInTheOutputOfGeminisCommands) {
  const auto errors = [](const std::string& tool, const std::string& output) {
    return CountTrace(Read(R"({"sessionId":"a","projectHash":"b"}
{"id":"m","type":"gemini","content":"","toolCalls":[{"id":"t","name":")" +
                           tool +
                           R"(","args":{},"status":"success","result":[{"functionResponse":{"response":{"output":")" +
                           output + R"("}}}]}]}
)"))
        .tool_errors;
  };
  EXPECT_EQ(errors("run_shell_command", R"(Output: no\nExit Code: 3\nSignal: (none))"), 1U);
  EXPECT_EQ(errors("run_shell_command", R"(Output: no\nExit Code: 127)"), 1U);
  EXPECT_EQ(errors("run_shell_command", R"(Output: Exit Code: 3\nExit Code: 0\nSignal: (none))"), 0U);
  EXPECT_EQ(errors("run_shell_command", R"(Output: yes\nExit Code: (none))"), 0U);
  EXPECT_EQ(errors("read_file", R"(Exit Code: 3)"), 0U);
}

TEST(PrintedOutput, QwenCodeSessions) {
  const Trace trace = Read(
      R"({"uuid":"u1","parentUuid":null,"sessionId":"q","type":"user","cwd":"/w","version":"0.14.0","message":{"role":"user","parts":[{"text":"Test it"}]}}
{"uuid":"u2","parentUuid":"u1","sessionId":"q","type":"assistant","model":"qwen-9","message":{"role":"model","parts":[{"text":"Hm.","thought":true},{"text":"I will."},{"functionCall":{"id":"c1","name":"run_shell_command","args":{"command":"make test"}}}]},"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":20,"cachedContentTokenCount":30,"totalTokenCount":125}}
{"uuid":"u3","parentUuid":"u2","sessionId":"q","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"1 failed\nExit Code: 2"}}}]},"toolCallResult":{"callId":"c1","status":"success"}}
{"uuid":"u3b","parentUuid":"u3","sessionId":"q","type":"assistant","model":"qwen-9","message":{"role":"model","parts":[{"functionCall":{"id":"c2","name":"tool_call","args":{"name":"mcp__sums__add","arguments":{"numbers":[1]}}}}]}}
{"uuid":"u4","parentUuid":"u3b","sessionId":"q","type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{}}}
)");
  EXPECT_EQ(trace.agent_name, "Qwen Code");
  EXPECT_TRUE(trace.unknown_records.empty());
  EXPECT_EQ(TextsOf(trace, EventKind::kUser), Texts{"Test it"});
  EXPECT_EQ(TextsOf(trace, EventKind::kReasoning), Texts{"Hm."});
  EXPECT_EQ(TextsOf(trace, EventKind::kAssistant), Texts{"I will."});
  const TraceCounts counts = CountTrace(trace);
  EXPECT_EQ(counts.tool_errors, 1U);
  EXPECT_EQ(counts.tool_calls_by_name.count("mcp__sums__add"), 1U) << "a call through another tool";
  EXPECT_EQ(counts.tokens.input, 70);
  EXPECT_EQ(counts.tokens.output, 25);
}

TEST(PrintedOutput, WhatWasRevertedInOpenCode) {
  const auto session = [](const std::string& revert) {
    return Read(R"({"info":{"id":"s","revert":)" + revert + R"(},"messages":[
      {"info":{"id":"m1","sessionID":"s","role":"user"},"parts":[{"id":"p1","type":"text","text":"One"}]},
      {"info":{"id":"m2","sessionID":"s","role":"assistant"},"parts":[{"id":"p2","type":"text","text":"Two"},{"id":"p3","type":"text","text":"Three"}]},
      {"info":{"id":"m3","sessionID":"s","role":"user"},"parts":[{"id":"p4","type":"text","text":"Four"}]}]})");
  };
  const Trace whole = session(R"({"messageID":"m2"})");
  EXPECT_EQ(TextsOf(whole, EventKind::kAssistant, true), (Texts{"Two", "Three"}));
  EXPECT_EQ(TextsOf(whole, EventKind::kUser, true), Texts{"Four"});
  EXPECT_EQ(TextsOf(whole, EventKind::kUser), Texts{"One"});
  EXPECT_EQ(TextsOf(session(R"({"messageID":"m2","partID":"p3"})"), EventKind::kAssistant), Texts{"Two"});
  EXPECT_EQ(TextsOf(session("null"), EventKind::kUser, true), Texts{});
}

TEST(PrintedOutput, WhatGeminiTellsTheModelIsNotTyped) {
  const Trace trace = Read(
      R"({"sessionId":"a","projectHash":"b"}
{"$set":{"messages":[{"id":"0","type":"user","content":[{"text":"<session_context>\nToday\n</session_context>"}]},{"id":"1","type":"user","content":[{"text":"Test it"}]}]}}
{"id":"2","type":"gemini","content":"It works."}
{"$set":{"messages":[{"id":"1","type":"user","content":[{"text":"Te…"}]},{"id":"3","type":"user","content":[{"functionResponse":{"response":{"output":"x"}}}]}]}}
)");
  EXPECT_EQ(TextsOf(trace, EventKind::kUser), Texts{"Test it"});
  EXPECT_EQ(TextsOf(trace, EventKind::kAssistant), Texts{"It works."});
  EXPECT_TRUE(trace.unknown_records.empty());
}

TEST(PrintedOutput, CopilotsSubagentsAndExitCodes) {
  const auto run = [](const std::string& id, const std::string& last_line) {
    return R"({"type":"tool.execution_start","timestamp":"2026-08-01T10:00:00.000Z","data":{"toolCallId":")" + id +
           R"(","toolName":"bash"}}
{"type":"tool.execution_complete","timestamp":"2026-08-01T10:00:00.000Z","data":{"toolCallId":")" +
           id + R"(","success":true,"result":{"content":"2 tests\n)" + last_line + "\"}}}\n";
  };
  const Trace trace = Read(R"({"type":"session.start","timestamp":"2026-08-01T10:00:00.000Z","data":{"sessionId":"s"}}
{"type":"user.message","timestamp":"2026-08-01T10:00:00.000Z","data":{"content":"Test it"}}
{"type":"user.message","timestamp":"2026-08-01T10:00:00.000Z","data":{"content":"<system_reminder>tools</system_reminder>","source":"system"}}
{"type":"user.message","agentId":"c0","timestamp":"2026-08-01T10:00:00.000Z","data":{"content":"You are a reviewer","source":"agent-1"}}
)" + run("c1", "<shellId: 6 completed with exit code 1>") +
                           run("c2", "<exited with exit code 0>") + run("c3", "with exit code 1"));
  EXPECT_EQ(TextsOf(trace, EventKind::kUser), Texts{"Test it"});
  const TraceCounts counts = CountTrace(trace);
  EXPECT_EQ(counts.tool_calls, 3U);
  EXPECT_EQ(counts.tool_errors, 1U);
}

// Programs that hide secrets may replace ids.
TEST(PrintedOutput, OpenCodeExportsWithTheSameIdEverywhere) {
  const std::string messages =
      R"({"info":{"id":"R","sessionID":"s","role":"user"},"parts":[{"id":"R","type":"text","text":"One"},{"id":"R","type":"text","text":"Shortened","ignored":true}]},
{"info":{"id":"R","sessionID":"s","role":"assistant"},"parts":[{"id":"R","type":"tool","tool":"read","callID":"R","state":{"status":"completed"}},{"id":"R","type":"tool","tool":"bash","callID":"R","state":{"status":"error","error":"no"}}]},
{"info":{"id":"R","sessionID":"s","role":"user"},"parts":[{"id":"R","type":"text","text":"Two"}]})";
  std::string lines = messages;
  for (std::size_t at = lines.find("},\n"); at != std::string::npos; at = lines.find("},\n")) lines.erase(at + 1, 1);
  const std::string document = R"({"info":{"id":"s"},"messages":[)" + messages + "]}";
  for (const std::string& text : {document, "Exporting session: s" + document, lines}) {
    const Trace trace = Read(text);
    EXPECT_EQ(trace.format, TraceFormat::kOpenCode);
    EXPECT_EQ(TextsOf(trace, EventKind::kUser), (Texts{"One", "Two"}));
    const TraceCounts counts = CountTrace(trace);
    EXPECT_EQ(counts.tool_calls, 2U);
    EXPECT_EQ(counts.tool_errors, 1U);
  }
}

}  // namespace
}  // namespace upskill
