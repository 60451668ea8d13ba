// SPDX-License-Identifier: Apache-2.0
// Reading a trace takes time in step with its size.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "support/work_meter.h"
#include "trace/load/read_trace.h"

namespace upskill {
namespace {

using TextOf = std::function<std::string(std::size_t count)>;

std::string Record(std::size_t number, const std::string& content) {
  const std::string id = std::to_string(number);
  return R"({"type":"assistant","uuid":"u)" + id + R"(","sessionId":"s","message":{"id":"m)" + id +
         R"(","role":"assistant","content":)" + content + "}}\n";
}

double GrowthOfReading(std::size_t size, const TextOf& text_of) {
  return GrowthPerDoubling(size, [&](std::size_t count) {
    return [text = text_of(count)] {
      const Result<Trace> trace = ReadTrace(LineSource::FromText(text, "t.jsonl"), {});
      ASSERT_TRUE(trace.ok()) << trace.error().message;
    };
  });
}

std::string Repeated(std::size_t count, const std::function<std::string(std::size_t)>& make, const char* between) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : between) + make(i);
  return text;
}

std::string Members(std::size_t count) {
  return Repeated(count, [](std::size_t i) { return "\"key " + std::to_string(i) + "\":[]"; }, ",");
}

TEST(ReadTrace, WorkGrowsInStepWithTheSize) {
  const std::vector<std::pair<const char*, TextOf>> inputs = {
      {"records",
       [](std::size_t count) {
         return Repeated(
             count,
             [](std::size_t i) {
               return Record(i, R"([{"type":"tool_use","id":"c)" + std::to_string(i) +
                                    R"(","name":"Bash","input":{"command":"ls"}}])");
             },
             "");
       }},
      {"keys of a record's arguments",
       [](std::size_t count) {
         return Record(0, R"([{"type":"tool_use","id":"c","name":"Bash","input":{)" + Members(count) + "}}]");
       }},
      {"keys of an unknown record",
       [](std::size_t count) { return Record(0, "\"x\"") + R"({"type":"unheard-of",)" + Members(count) + "}\n"; }},
      {"content blocks",
       [](std::size_t count) {
         return Record(0,
                       "[" + Repeated(count, [](std::size_t) { return R"({"type":"text","text":"t"})"; }, ",") + "]");
       }},
      {"keys of a document",
       [](std::size_t count) { return R"({"messages":[{"role":"user","content":"hi"}],)" + Members(count) + "}"; }},
      {"messages that are queued and removed",
       [](std::size_t count) {
         const auto operation = [](const char* name) {
           return R"({"type":"queue-operation","sessionId":"s","operation":")" + std::string(name) + "\"";
         };
         const std::string enqueue = operation("enqueue") + R"(,"content":"m"})" + "\n";
         const std::string remove = operation("remove") + "}\n";
         return Record(0, "\"x\"") +
                Repeated(
                    count, [&](std::size_t) { return enqueue; }, "") +
                Repeated(count, [&](std::size_t) { return remove; }, "");
       }},
      {"messages of a document", [](std::size_t count) {
         return "[" + Repeated(count, [](std::size_t) { return R"({"role":"user","content":"hi"})"; }, ",\n") + "]";
       }}};
  for (const auto& [name, text_of] : inputs) EXPECT_LT(GrowthOfReading(500, text_of), kMaxGrowthPerDoubling) << name;
}

TEST(ReadTrace, WorkGrowsInStepWithTheSizeOfYaml) {
  const std::string front = "history:\n- role: user\n  content: first\n- role: assistant\n  content: answer\n";
  const std::vector<std::pair<const char*, TextOf>> inputs = {
      {"messages",
       [&](std::size_t count) {
         return front + Repeated(count, [](std::size_t) { return "- role: user\n  content: next\n"; }, "");
       }},
      {"keys",
       [&](std::size_t count) {
         return front + Repeated(count, [](std::size_t i) { return "key-" + std::to_string(i) + ": text\n"; }, "");
       }},
      {"aliases",
       [&](std::size_t count) {
         return front + "some: &some x\nothers: [" + Repeated(count, [](std::size_t) { return "*some"; }, ", ") + "]\n";
       }},
      {"anchors", [&](std::size_t count) {
         return front + "others: [" +
                Repeated(
                    count, [](std::size_t i) { return "&a" + std::to_string(i) + " x, *a" + std::to_string(i); },
                    ", ") +
                "]\n";
       }}};
  for (const auto& [name, text_of] : inputs) EXPECT_LT(GrowthOfReading(250, text_of), kMaxGrowthPerDoubling) << name;
}

TEST(ReadTrace, StopsWhenAsked) {
  const StopFlag stop = 1;
  TraceReadOptions options;
  options.stop = &stop;
  const Result<Trace> trace = ReadTrace(LineSource::FromText(Record(0, "\"x\""), "t.jsonl"), options);
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().kind, ErrorKind::kCancelled);
}

}  // namespace
}  // namespace upskill
