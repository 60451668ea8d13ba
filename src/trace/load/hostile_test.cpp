// SPDX-License-Identifier: Apache-2.0
// Damaged and malicious input (archives: archive_hostile_test.cpp): bounded memory, an error with file and line; by
// default, the readable part is kept.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

#include "support/peak_memory.h"
#include "support/trace_expectation.h"
#include "trace/load/read_trace.h"
#include "util/append_file.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

std::string UserLine(const std::string& text, int number) {
  return fmt::format(R"({{"type":"user","uuid":"u{}","sessionId":"s","message":{{"role":"user","content":"{}"}}}})",
                     number, text) +
         "\n";
}

Result<Trace> ReadText(std::string text, bool lenient = false) {
  TraceReadOptions options;
  options.strict = !lenient;
  return ReadTrace(LineSource::FromText(std::move(text), "x.jsonl"), options);
}

std::string LastText(const Result<Trace>& trace) {
  return trace.ok() && !trace->events.empty() ? trace->events.back().text : std::string("(no event)");
}

TEST(HostileTest, TornLastLineIsTolerated) {
  for (const char* end : {"", "\n"}) {
    const Result<Trace> trace = ReadText(UserLine("one", 1) + R"({"type":"user","uuid":"u2","mess)" + end);
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_EQ(trace->events.size(), 1U);
    ASSERT_EQ(trace->problems.size(), 1U);
    EXPECT_EQ(trace->problems[0].line, 2U);
    EXPECT_NE(trace->problems[0].message.find("may still be running"), std::string::npos);
  }
}

TEST(HostileTest, DamagedLineInTheMiddle) {
  const std::string text = UserLine("one", 1) + "{\"type\":\"us\n" + UserLine("three", 3);
  const Result<Trace> strict = ReadText(text);
  ASSERT_FALSE(strict.ok());
  EXPECT_EQ(strict.error().message.find("x.jsonl:2: not JSON at byte 12"), 0U) << strict.error().message;
  const Result<Trace> lenient = ReadText(text, true);
  ASSERT_TRUE(lenient.ok());
  EXPECT_EQ(lenient->events.size(), 2U);
  EXPECT_EQ(lenient->events[1].line, 3U);
  EXPECT_EQ(lenient->problems.at(0).line, 2U);
}

TEST(HostileTest, DeepNesting) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const std::string record = R"({"type":"user","uuid":"u9","sessionId":"s","message":)" + deep + "}\n";
  const Result<Trace> strict = ReadText(UserLine("one", 1) + record + UserLine("three", 3));
  ASSERT_FALSE(strict.ok());
  EXPECT_EQ(strict.error().message, "x.jsonl:2: at byte 253: nested deeper than 200 levels");
  EXPECT_EQ(LastText(ReadText(UserLine("one", 1) + record + UserLine("three", 3), true)), "three");
  EXPECT_FALSE(ReadText(deep).ok());
  EXPECT_FALSE(ReadText(std::string(100'000, '{')).ok());
}

TEST(HostileTest, OddBytes) {
  // NUL, invalid UTF-8, lone and paired surrogates, raw control characters, an escape sequence, a byte order mark,
  // CRLF.
  const std::string nul("a\0b", 3);
  EXPECT_EQ(LastText(ReadText(UserLine(nul, 1))),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(LastText(ReadText(UserLine("a\xFF\xC3", 1))), "a\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(LastText(ReadText(UserLine("\\ud83d!\\ud83d\\ude00\\udc00", 1))),
            "\xEF\xBF\xBD!\xF0\x9F\x98\x80\xEF\xBF\xBD");
  EXPECT_EQ(LastText(ReadText(UserLine("a\tb\\u0000", 1))), "a\tb\xEF\xBF\xBD");
  EXPECT_EQ(LastText(ReadText(UserLine("\\u001b[31mred\\u001b[0m", 1))), "red");
  EXPECT_EQ(LastText(ReadText("\xEF\xBB\xBF" + UserLine("mark", 1))), "mark");
  std::string crlf = UserLine("crlf", 1);
  crlf.insert(crlf.size() - 1, "\r");
  EXPECT_EQ(LastText(ReadText("\n\r\n" + crlf)), "crlf");
}

TEST(HostileTest, EmptyAndStrange) {
  EXPECT_FALSE(ReadText("").ok());
  EXPECT_FALSE(ReadText(" \n\n").ok());
  EXPECT_FALSE(ReadTrace(fs::path("/dev/null"), {}).ok());
  EXPECT_FALSE(ReadTrace(fs::path("/"), {}).ok());
  EXPECT_EQ(ReadTrace(fs::path("/no/such/file"), {}).error().kind, ErrorKind::kNotFound);
  const Result<Trace> numbers = ReadText("[1, 2, 3]");
  ASSERT_FALSE(numbers.ok());
  EXPECT_EQ(numbers.error().message.find("x.jsonl: not a trace: it seems to be a JSON list"), 0U)
      << numbers.error().message;
}

TEST(HostileTest, BinaryIsNotText) {
  std::string bytes;
  for (int i = 0; i < 2000; ++i) bytes += static_cast<char>((i * 7919) % 256);
  const Result<Trace> rejected = ReadText(bytes);
  ASSERT_FALSE(rejected.ok());
  EXPECT_NE(rejected.error().message.find("the format 'notes'"), std::string::npos) << rejected.error().message;
  TraceReadOptions options;
  options.format = TraceFormat::kNotes;
  EXPECT_TRUE(ReadTrace(LineSource::FromText(bytes, "x"), options).ok());
  // A few odd bytes don't make a text binary.
  EXPECT_TRUE(ReadText("What we found: caf\xE9, a NUL " + std::string(1, '\0') + " and a \x1b[31mcolour\x1b[0m.").ok());
}

TEST(HostileTest, Yaml) {
  const std::string front = "history:\n- role: user\n  content: first\n- role: assistant\n  content: ";
  ASSERT_TRUE(ReadText(front + "answer\n").ok());
  EXPECT_EQ(ReadText(front + "answer\n")->format, TraceFormat::kSweAgent);
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 1; k < 10; ++k) bomb += ", " + before;
    bomb += "]\n";
  }
  const Result<Trace> unfolded = ReadText(bomb + front + "*a11\n");
  ASSERT_FALSE(unfolded.ok());
  EXPECT_NE(unfolded.error().message.find("aliases"), std::string::npos) << unfolded.error().message;
  EXPECT_FALSE(ReadText(front + std::string(100'000, '[') + "\n").ok());
  EXPECT_FALSE(ReadText(front + "&self [*self]\n").ok());
  const Result<Trace> broken = ReadText(front + "{a: b\n");
  ASSERT_FALSE(broken.ok());
  EXPECT_NE(broken.error().message.find(": not YAML: "), std::string::npos) << broken.error().message;
}

TEST(HostileTest, ManyAgentsAndModels) {
  std::string session;
  for (int i = 0; i < 30'000; ++i) {
    const std::string id = std::to_string(i);
    session += R"({"type":"assistant","isSidechain":)" + std::string(i % 2 == 0 ? "true" : "false") +
               R"(,"agentId":"g)" + id + R"(","uuid":"u)" + id + R"(","message":{"id":"m)" + id +
               R"(","model":"model-)" + id + R"(","content":[]}})" + "\n";
  }
  const Result<Trace> trace = ReadText(session);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->subagents.size(), 15'000U);
  EXPECT_EQ(trace->models.size(), 200U);
}

// A block of only this tag has neither a command nor arguments; it used to throw.
TEST(HostileTest, SpecStoryCommandWithoutName) {
  const Result<Trace> trace = ReadText(
      "<!-- Generated by SpecStory -->\n\n_**User (2026-01-02 10:00:00)**_\n\n<command-message></command-message>\n\n"
      "_**User (2026-01-02 10:01:00)**_\n\nFix the build\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(LastText(trace), "Fix the build");
}

TEST(HostileTest, TruncatedDocument) {
  const Result<std::string> whole = ReadFile(FixtureFolder() / "gemini-cli.json");
  ASSERT_TRUE(whole.ok());
  const std::string front = whole->substr(0, whole->size() * 9 / 10);
  const Result<Trace> strict = ReadText(front);
  ASSERT_FALSE(strict.ok());
  EXPECT_EQ(strict.error().message.find("x.jsonl:"), 0U);
  const Result<Trace> lenient = ReadText(front, true);
  ASSERT_TRUE(lenient.ok()) << lenient.error().message;
  EXPECT_EQ(lenient->format, TraceFormat::kGeminiCli);
  EXPECT_EQ(CountTrace(*lenient).human_turns, 1U);
  EXPECT_EQ(CountTrace(*lenient).tool_calls, 2U);
  EXPECT_EQ(lenient->problems.size(), 1U);
}

TEST(HostileTest, HugeLine) {
  const fs::path path = fs::path(testing::TempDir()) / "upskill-huge-line.jsonl";
  {
    Result<AppendFile> file = AppendFile::Open(path, false);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Append(UserLine("one", 1)).ok());
    ASSERT_TRUE(
        file->Append(R"({"type":"user","uuid":"u2","sessionId":"s","message":{"role":"user","content":")").ok());
    const std::string block(1'000'000, 'x');
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(file->Append(block).ok());
    ASSERT_TRUE(file->Append("\"}}\n" + UserLine("three", 3)).ok());
  }
  TraceReadOptions strictly;
  strictly.strict = true;
  const Result<Trace> strict = ReadTrace(path, strictly);
  ASSERT_FALSE(strict.ok());
  EXPECT_NE(strict.error().message.find("upskill-huge-line.jsonl:2: a record of more than 67,108,864 bytes"),
            std::string::npos)
      << strict.error().message;
  const std::size_t growth = PeakGrowth([&] {
    const Result<Trace> trace = ReadTrace(path, {});
    return trace.ok() && trace->events.size() == 2 && trace->events[1].text == "three" && trace->events[1].line == 3;
  });
#ifndef UPSKILL_SANITIZED
  EXPECT_LT(growth, 3 * TraceReadOptions().max_record_bytes);
#else
  EXPECT_LT(growth, std::size_t{400} << 20U);
#endif
  fs::remove(path);
}

TEST(HostileTest, LargestAllowedRecordIsHeldLessThanThreeTimes) {
#ifndef UPSKILL_SANITIZED
  const fs::path path = fs::path(testing::TempDir()) / "upskill-large-record.jsonl";
  constexpr std::size_t kRecord = 60'000'000;
  std::string text = UserLine("one", 1) + UserLine(std::string(kRecord, 'x'), 2) + UserLine("three", 3);
  ASSERT_TRUE(WriteFileAtomically(path, text).ok());
  text.clear();
  text.shrink_to_fit();
  const std::size_t growth = PeakGrowth([&] {
    const Result<Trace> trace = ReadTrace(path, {});
    return trace.ok() && trace->events.size() == 3;
  });
  // Three times the record, plus the event that is kept.
  EXPECT_LT(growth, 4 * kRecord);
  fs::remove(path);
#endif
}

TEST(HostileTest, RecordsOfCountlessValues) {
  std::string list = "[";
  for (int i = 0; i < 2'000'000; ++i) list += "[],";
  const std::string record = R"({"type":"user","uuid":"u9","sessionId":"s","message":)" + list + "0]}\n";
  const Result<Trace> strict = ReadText(UserLine("one", 1) + record + UserLine("three", 3));
  ASSERT_FALSE(strict.ok());
  EXPECT_NE(strict.error().message.find("x.jsonl:2: "), std::string::npos);
  EXPECT_NE(strict.error().message.find("too large: more than 2,000,000 values, the maximum"), std::string::npos)
      << strict.error().message;
  std::string yaml = "history:\n- role: user\n  content: first\n- role: assistant\n  content: x\nmore: [";
  for (int i = 0; i < 300'000; ++i) yaml += "a,";
  const Result<Trace> document = ReadText(yaml + "]\n");
  ASSERT_FALSE(document.ok());
  EXPECT_NE(document.error().message.find("more than 300,000 values, the maximum for YAML"), std::string::npos)
      << document.error().message;
}

TEST(HostileTest, LinkLoops) {
  const fs::path folder = fs::path(testing::TempDir()) / "upskill-link-loop";
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::create_symlink("b.jsonl", folder / "a.jsonl");
  fs::create_symlink("a.jsonl", folder / "b.jsonl");
  const Result<Trace> trace = ReadTrace(folder / "a.jsonl", {});
  ASSERT_FALSE(trace.ok());
  EXPECT_NE(trace.error().message.find("a.jsonl: Too many levels of symbolic links"), std::string::npos)
      << trace.error().message;
  fs::remove_all(folder);
}

}  // namespace
}  // namespace upskill
