// SPDX-License-Identifier: Apache-2.0
// What the user of Claude Code said, and what its program wrote in the form of the user's messages.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/load/read_trace.h"
#include "trace/trace.h"
#include "util/json.h"

namespace upskill {
namespace {

using Words = std::vector<std::string>;

Json UserMessage(const Json& content) {
  return {{"type", "user"}, {"message", {{"role", "user"}, {"content", content}}}};
}

// The user's words in a session of these records, "Build it" first.
Words WordsIn(std::vector<Json> records) {
  records.insert(records.begin(), UserMessage("Build it"));
  std::string text;
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i]["sessionId"] = "s";
    records[i]["uuid"] = fmt::format("u{}", i);
    text += DumpJson(records[i]) + "\n";
  }
  const Result<Trace> trace = ReadTrace(LineSource::FromText(text, "s.jsonl"), {});
  if (!trace.ok()) return {trace.error().message};
  Words words;
  for (const Event& event : trace->events) {
    if (event.kind == EventKind::kUser) words.push_back(event.text);
  }
  return words;
}

Json QueuedCommand(const Json& prompt, const Json& more = Json::object()) {
  Json attachment = {{"type", "queued_command"}, {"prompt", prompt}};
  attachment.update(more);
  return {{"type", "attachment"}, {"attachment", attachment}};
}

Json LocalCommand(const std::string& name, const std::string& arguments) {
  return UserMessage(
      fmt::format("<command-name>/{0}</command-name>\n            <command-message>{0}</command-message>\n"
                  "            <command-args>{1}</command-args>",
                  name, arguments));
}

Json CommandPrinted(const std::string& text) {
  return UserMessage(fmt::format("<local-command-stdout>{}</local-command-stdout>", text));
}

TEST(ClaudeWords, QueuedWhileTheAgentWorked) {
  const Words said = {"Build it", "No, use ninja"};
  EXPECT_EQ(WordsIn({QueuedCommand("No, use ninja", {{"commandMode", "prompt"}, {"origin", {{"kind", "human"}}}})}),
            said);
  EXPECT_EQ(WordsIn({QueuedCommand("No, use ninja", {{"commandMode", "prompt"}})}), said);
  EXPECT_EQ(WordsIn({QueuedCommand("No, use ninja")}), said);
  const Json blocks = {{{"type", "text"}, {"text", "No, use ninja"}}, {{"type", "image"}, {"source", {}}}};
  EXPECT_EQ(WordsIn({QueuedCommand(blocks, {{"commandMode", "prompt"}})}), said);
  EXPECT_EQ(WordsIn({QueuedCommand("ls", {{"commandMode", "bash"}})}), (Words{"Build it", "! ls"}));
  // Each is told once.
  const Json enqueued = {{"type", "queue-operation"}, {"operation", "enqueue"}, {"content", "No, use ninja"}};
  EXPECT_EQ(WordsIn({enqueued, QueuedCommand("No, use ninja")}), said);
}

TEST(ClaudeWords, TheQueueTellsWhatNoMessageHas) {
  const auto operation = [](const std::string& name, const std::string& text = "") {
    Json record = {{"type", "queue-operation"}, {"operation", name}};
    if (!text.empty()) record["content"] = text;
    return record;
  };
  const Json answer = {{"type", "assistant"}, {"message", {{"role", "assistant"}, {"content", "Done."}}}};
  const Words both = {"Build it", "Use ninja", "And test"};
  EXPECT_EQ(WordsIn({operation("enqueue", "Use ninja"), operation("remove"), answer, UserMessage("And test")}), both);
  EXPECT_EQ(WordsIn({operation("enqueue", "Use ninja"), operation("enqueue", "And test"), operation("remove")}), both);
  EXPECT_EQ(WordsIn({operation("enqueue", "Use ninja"), operation("enqueue", "And test"), operation("dequeue"),
                     operation("dequeue"), UserMessage("Use ninja\nAnd test")}),
            (Words{"Build it", "Use ninja\nAnd test"}));
  EXPECT_EQ(WordsIn({operation("enqueue", "Use"), operation("popAll", "Use"), UserMessage("Use ninja")}),
            (Words{"Build it", "Use ninja"}));
  // The same words twice are two messages.
  EXPECT_EQ(WordsIn({operation("enqueue", "Go on"), operation("remove"), QueuedCommand("Go on"), answer,
                     operation("enqueue", "Go on"), operation("remove"), QueuedCommand("Go on"), answer}),
            (Words{"Build it", "Go on", "Go on"}));
  EXPECT_EQ(WordsIn({operation("enqueue", "Use ninja"), operation("remove"), answer, QueuedCommand("Use ninja"),
                     UserMessage("And test")}),
            both)
      << "recorded after the answer that it was delivered with";
  EXPECT_EQ(WordsIn({operation("enqueue", "Use ninja"), operation("dequeue"), operation("enqueue", "Use ninja"),
                     operation("dequeue"), UserMessage("Use ninja"), UserMessage("And test")}),
            both)
      << "put back, then delivered";
  EXPECT_EQ(WordsIn({operation("enqueue", R"({"task_id":"b1","description":"Build","task_type":"local_bash"})")}),
            Words{"Build it"});
  EXPECT_EQ(WordsIn({operation("enqueue", "/compact"), operation("dequeue")}), Words{"Build it"});
}

TEST(ClaudeWords, QueuedByAProgram) {
  const Words said = {"Build it"};
  EXPECT_EQ(WordsIn({QueuedCommand("3 tests failed", {{"commandMode", "task-notification"}})}), said);
  EXPECT_EQ(WordsIn({QueuedCommand("3 tests failed",
                                   {{"commandMode", "prompt"}, {"origin", {{"kind", "task-notification"}}}})}),
            said);
  EXPECT_EQ(WordsIn({QueuedCommand("Go on", {{"commandMode", "prompt"}, {"origin", {{"kind", "coordinator"}}}})}),
            said);
  EXPECT_EQ(WordsIn({QueuedCommand("Go on", {{"commandMode", "prompt"}, {"isMeta", true}})}), said);
  EXPECT_EQ(WordsIn({QueuedCommand("<task-notification>\n<status>failed</status>\n</task-notification>")}), said);
  Json message = UserMessage("3 tests failed");
  message["origin"] = {{"kind", "task-notification"}};
  EXPECT_EQ(WordsIn({message}), said);
}

TEST(ClaudeWords, ElementsOfTheProgram) {
  const auto typed = [](const std::string& text) {
    const Words words = WordsIn({UserMessage(text)});
    return words.size() == 2 ? words[1] : fmt::format("{} messages", words.size());
  };
  const std::string notice = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>";
  const std::string nothing = "1 messages";
  EXPECT_EQ(typed(notice), nothing);
  EXPECT_EQ(typed(notice + "\nRead the output file to retrieve the result: /var/out/b1.output"), nothing);
  EXPECT_EQ(typed(notice + "\nFull transcript available at: C:\\out\\b1.output\n" + notice), nothing);
  EXPECT_EQ(typed("<bash-notification>\n<shell-id>1</shell-id>\n</bash-notification>"), nothing);
  EXPECT_EQ(typed("<teammate-message teammate_id=\"a\" summary=\"done\">\nI finished.\n</teammate-message>"), nothing);
  EXPECT_EQ(typed("<system-reminder source=\"hook\">Be brief.</system-reminder>"), nothing);
  EXPECT_EQ(typed("<channel source=\"mail\">Hello</channel>"), nothing);
  EXPECT_EQ(typed("Background Bash b1 (command: make) (status: completed) Has new output available."), nothing);
  EXPECT_EQ(typed(notice + "\nUse TaskOutput to read the result."), nothing);
  EXPECT_EQ(typed("<agent-message from=\"a\">\nHello\n</agent-message>\nReply with SendMessage."), nothing);
  EXPECT_EQ(typed("<tick>10:00</tick>"), nothing);
  EXPECT_EQ(typed("Fix the tests\n" + notice + "\nUse TaskOutput to read the result."), "Fix the tests\n");
  EXPECT_EQ(typed("Why does <task-notification> appear twice?"), "Why does <task-notification> appear twice?");
  const Json blocks = {{{"type", "text"}, {"text", notice}}, {{"type", "text"}, {"text", "Fix the tests"}}};
  EXPECT_EQ(WordsIn({UserMessage(blocks)}), (Words{"Build it", "Fix the tests\n"}));
  EXPECT_EQ(typed("Read <channel><title>a</title></channel>"), "Read <channel><title>a</title></channel>");
  EXPECT_EQ(typed("use <b>bold</b>, see: docs/a.md"), "use <b>bold</b>, see: docs/a.md");
}

TEST(ClaudeWords, ArgumentsOfLocalCommands) {
  const auto local = [](const std::string& name, const std::string& arguments) {
    const Words words = WordsIn({LocalCommand(name, arguments), CommandPrinted("Done")});
    return words.size() == 2 ? words[1] : "";
  };
  EXPECT_EQ(local("goal", "Make all tests pass"), "/goal Make all tests pass");
  EXPECT_EQ(local("goal", "test"), "/goal test");
  EXPECT_EQ(local("compact", "keep the list of endpoints"), "");
  EXPECT_EQ(WordsIn({LocalCommand("compact", "keep the list")}), Words{"Build it"});
  EXPECT_EQ(local("plan", "テストを直す"), "/plan テストを直す");
  EXPECT_EQ(local("goal", "clear"), "");
  EXPECT_EQ(local("model", "opus"), "");
  EXPECT_EQ(local("rename", "my new session"), "");
  EXPECT_EQ(local("clear", ""), "");
  EXPECT_EQ(local("own", "--quiet --output a.log"), "");
  const Json record = {{"type", "system"},
                       {"subtype", "local_command"},
                       {"content", "<command-name>/goal</command-name><command-args>Make it fast</command-args>"}};
  EXPECT_EQ(WordsIn({record}), (Words{"Build it", "/goal Make it fast"}));
}

TEST(ClaudeWords, AttachmentsOfTheProject) {
  const auto events = [](const std::string& type) {
    const std::string text = DumpJson({{"type", "attachment"}, {"attachment", {{"type", type}, {"content", "words"}}}});
    const Result<Trace> trace =
        ReadTrace(LineSource::FromText(DumpJson(UserMessage("Build it")) + "\n" + text + "\n", "s.jsonl"),
                  {.format = TraceFormat::kClaudeCode});
    return trace.ok() ? trace->events.size() : 0;
  };
  for (const char* type : {"prompt_snapshot", "skill_listing", "agent_listing_delta", "deferred_tools_delta",
                           "mcp_instructions_delta", "todo_reminder", "plan_mode"})
    EXPECT_EQ(events(type), 1U) << type;
  for (const char* type : {"file", "edited_text_file", "nested_memory", "hook_success"})
    EXPECT_EQ(events(type), 2U) << type;
}

TEST(ClaudeWords, NoticesOfErrorsAreNoAnswers) {
  const std::string text =
      DumpJson({{"type", "assistant"},
                {"uuid", "a"},
                {"isApiErrorMessage", true},
                {"message", {{"model", "claude-9"}, {"content", {{{"type", "text"}, {"text", "API Error: 529"}}}}}}});
  const Result<Trace> trace =
      ReadTrace(LineSource::FromText(text + "\n", "s.jsonl"), {.format = TraceFormat::kClaudeCode});
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace->events.size(), 1U);
  EXPECT_EQ(trace->events[0].kind, EventKind::kSystem);
}

TEST(ClaudeWords, PrintModeHasTheTokensOfAllModels) {
  const std::string text =
      DumpJson({{"type", "result"},
                {"subtype", "success"},
                {"result", "It is 4."},
                {"session_id", "s"},
                {"usage", {{"input_tokens", 3}, {"output_tokens", 20}}},
                {"modelUsage",
                 {{"claude-a", {{"inputTokens", 3}, {"outputTokens", 20}, {"cacheReadInputTokens", 50}}},
                  {"claude-b", {{"inputTokens", 7}, {"outputTokens", 2}}}}}});
  const Result<Trace> trace = ReadTrace(LineSource::FromText(text + "\n", "s.json"), {});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const TokenUsage tokens = CountTrace(*trace).tokens;
  EXPECT_EQ(tokens.input, 10);
  EXPECT_EQ(tokens.cache_read, 50);
  EXPECT_EQ(tokens.output, 22);
  ASSERT_EQ(trace->events.size(), 1U);
  EXPECT_EQ(trace->events[0].text, "It is 4.");
}

}  // namespace
}  // namespace upskill
