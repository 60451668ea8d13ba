// SPDX-License-Identifier: Apache-2.0
// Real streams of several providers; the expected values are those that the recording client stored with them.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "model/wire/wire_replay_test.h"
#include "support/source_dir.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::StartsWith;

// The events of a recording as they are on the wire; none if the recordings are missing.
std::vector<std::string> Recording(const std::string& name) {
  std::ifstream in(SourceDir() / ".." / "shared" / "wire" / name / "stream.jsonl");
  std::vector<std::string> events;
  for (std::string line; std::getline(in, line);) events.push_back(line);
  return events;
}

TEST(Recordings, AnthropicThinkingThenATool) {
  const std::vector<std::string> events = Recording("anthropic/sonnet/tool_use_weather");
  if (events.empty()) return;
  const Result<ChatResponse> response = Replay(WireFormatOf(Wire::kAnthropic), events);
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->text, "");
  EXPECT_EQ(
      response->reasoning,
      "The user wants me to call the weather tool for Paris directly without any natural language introduction first.");
  ASSERT_EQ(response->tool_calls.size(), 1U);
  EXPECT_EQ(response->tool_calls[0].id, "toolu_1");
  EXPECT_EQ(response->tool_calls[0].name, "weather");
  EXPECT_EQ(Text(response->tool_calls[0].arguments), R"({"city":"Paris"})");
  EXPECT_EQ(response->stop, StopReason::kToolUse);
  EXPECT_EQ(response->usage.input, 626);
  EXPECT_EQ(response->usage.output, 85);  // message_start says 8
  EXPECT_EQ(response->served_model, "claude-sonnet-4-6");
  ASSERT_EQ(response->provider_blocks.size(), 2U);
  EXPECT_THAT(response->provider_blocks[0]["signature"].get<std::string>(),
              AllOf(StartsWith("EpYCCkYI"), EndsWith("mMYAQ==")));
  EXPECT_EQ(Text(response->provider_blocks[1]["input"]), R"({"city":"Paris"})");
}

TEST(Recordings, ResponsesPlainText) {
  const std::vector<std::string> events = Recording("responses/gpt-5-mini/plain_text");
  if (events.empty()) return;
  const Result<ChatResponse> response = Replay(WireFormatOf(Wire::kResponses), events);
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_THAT(response->text, AllOf(StartsWith("Tides change over the day because the Moon"),
                                    EndsWith("producing periodic high and low tides.")));
  EXPECT_THAT(response->reasoning, StartsWith("**Explaining tidal changes**"));
  EXPECT_EQ(response->stop, StopReason::kEnd);
  EXPECT_EQ(response->usage.input, 62);
  EXPECT_EQ(response->usage.output, 141);
  EXPECT_EQ(response->usage.reasoning, 64);
  EXPECT_EQ(response->served_model, "gpt-5-mini-2025-08-07");
}

struct ToolRecording {
  const char* name;
  const char* call_id;
  const char* raw_arguments;
  std::int64_t input;
  std::int64_t cache_read;
  std::int64_t output;
  std::int64_t reasoning;
};

TEST(Recordings, ResponsesTools) {
  for (const ToolRecording& expected : {
           ToolRecording{"responses/gpt-5-mini/tool_use_weather", "call_1", R"({"city":"Paris"})", 102, 0, 108, 64},
           // No output_index, the reasoning's end comes after the call has begun, the call's own id is null.
           ToolRecording{"openresponses/llamacpp-qwen3-5-9b-gguf/tool_use_weather", "fc_1", R"({"city":"Paris"})", 332,
                         0, 82, 0},
           // Ids differ between an item's events.
           ToolRecording{"openresponses/openai-gpt-oss-120b/tool_use_weather", "call_1", "{\n  \"city\": \"Paris\"\n}",
                         129, 48, 47, 31},
       }) {
    const std::vector<std::string> events = Recording(expected.name);
    if (events.empty()) return;
    const Result<ChatResponse> response = Replay(WireFormatOf(Wire::kResponses), events);
    ASSERT_TRUE(response.ok()) << expected.name << ": " << response.error().message;
    ASSERT_EQ(response->tool_calls.size(), 1U) << expected.name;
    EXPECT_EQ(response->tool_calls[0].id, expected.call_id) << expected.name;
    EXPECT_EQ(response->tool_calls[0].name, "weather");
    EXPECT_EQ(response->tool_calls[0].raw_arguments, expected.raw_arguments) << expected.name;
    EXPECT_EQ(Text(response->tool_calls[0].arguments), R"({"city":"Paris"})");
    EXPECT_EQ(response->stop, StopReason::kToolUse);
    EXPECT_EQ(response->usage.input, expected.input) << expected.name;
    EXPECT_EQ(response->usage.cache_read, expected.cache_read) << expected.name;
    EXPECT_EQ(response->usage.output, expected.output) << expected.name;
    EXPECT_EQ(response->usage.reasoning, expected.reasoning) << expected.name;
    ASSERT_EQ(response->provider_blocks.size(), 2U) << expected.name;
    EXPECT_EQ(response->provider_blocks[0]["type"], "reasoning");
  }
}

TEST(Recordings, ReasoningTextOfOpenModels) {
  const std::vector<std::string> events = Recording("openresponses/openai-gpt-oss-120b/tool_use_weather");
  if (events.empty()) return;
  EXPECT_EQ(Replay(WireFormatOf(Wire::kResponses), events)->reasoning,
            "We need to call the tool. No natural language answer. Use functions.weather with city \"Paris\".");
}

// Whatever is missing at the end, the result is an error and never a partial answer.
TEST(Recordings, CutStreamsAreErrors) {
  for (const auto& [name, wire] : {std::pair{"anthropic/sonnet/tool_use_weather", Wire::kAnthropic},
                                   {"responses/gpt-5-mini/plain_text", Wire::kResponses}}) {
    std::vector<std::string> events = Recording(name);
    while (!events.empty()) {
      events.pop_back();
      const Result<ChatResponse> response = Replay(WireFormatOf(wire), events);
      ASSERT_FALSE(response.ok()) << name << " " << events.size();
      EXPECT_EQ(response.error().kind, ErrorKind::kUnavailable);
    }
  }
}

}  // namespace
}  // namespace upskill
