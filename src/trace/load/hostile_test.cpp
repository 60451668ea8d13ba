// SPDX-License-Identifier: Apache-2.0
// Damaged and malicious input: bounded memory, an error with file and line; by default, the readable part is kept.
#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>

#include "support/trace_expectation.h"
#include "trace/load/read_trace.h"
#include "trace/read/archive.h"
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
  EXPECT_NE(strict.error().message.find("x.jsonl:2: "), std::string::npos);
  EXPECT_NE(strict.error().message.find("nested deeper than 200 levels"), std::string::npos);
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

// Peak memory of this process so far, in bytes.
std::size_t PeakBytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

// The growth of the peak memory while `work` runs, in a separate process.
std::size_t PeakGrowth(const std::function<bool()>& work) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::size_t before = PeakBytes();
    std::size_t growth = work() ? PeakBytes() - before : ~std::size_t{0};
    const ssize_t written = ::write(ends[1], &growth, sizeof growth);
    ::_exit(written == sizeof growth ? 0 : 1);
  }
  ::close(ends[1]);
  std::size_t growth = ~std::size_t{0};
  EXPECT_EQ(::read(ends[0], &growth, sizeof growth), static_cast<ssize_t>(sizeof growth));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return growth;
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

// A zip archive with stored entries.
class ZipWriter {
 public:
  void Add(const std::string& name, std::string_view packed, std::uint16_t method, std::uint32_t size,
           std::uint32_t crc) {
    const auto offset = static_cast<std::uint32_t>(bytes_.size());
    const auto common = [&](std::string& out) {
      Put16(out, 0);
      Put16(out, method);
      Put16(out, 0);
      Put16(out, 0x5C61);
      Put32(out, crc);
      Put32(out, static_cast<std::uint32_t>(packed.size()));
      Put32(out, size);
      Put16(out, static_cast<std::uint16_t>(name.size()));
      Put16(out, 0);
    };
    Put32(bytes_, 0x04034b50);
    Put16(bytes_, 20);
    common(bytes_);
    bytes_ += name;
    bytes_ += packed;
    Put32(directory_, 0x02014b50);
    Put16(directory_, 20);
    Put16(directory_, 20);
    common(directory_);
    Put16(directory_, 0);
    Put16(directory_, 0);
    Put16(directory_, 0);
    Put32(directory_, 0);
    Put32(directory_, offset);
    directory_ += name;
    ++count_;
  }
  std::string Finish() {
    std::string end;
    Put32(end, 0x06054b50);
    Put32(end, 0);
    Put16(end, count_);
    Put16(end, count_);
    Put32(end, static_cast<std::uint32_t>(directory_.size()));
    Put32(end, static_cast<std::uint32_t>(bytes_.size()));
    Put16(end, 0);
    return bytes_ + directory_ + end;
  }

 private:
  static void Put16(std::string& out, std::uint16_t value) {
    out += static_cast<char>(value & 0xFFU);
    out += static_cast<char>(value >> 8U);
  }
  static void Put32(std::string& out, std::uint32_t value) {
    Put16(out, static_cast<std::uint16_t>(value & 0xFFFFU));
    Put16(out, static_cast<std::uint16_t>(value >> 16U));
  }
  std::string bytes_;
  std::string directory_;
  std::uint16_t count_ = 0;
};

TEST(HostileTest, ZipNamesThatLeaveTheArchive) {
  ZipWriter zip;
  zip.Add("header.json", R"({"eval":{"model":"m"},"status":"success"})", 0, 41, 0x0d0bd32a);
  zip.Add("../../etc/passwd", "x", 0, 1, 0x8cdc1683);
  zip.Add("/samples/1.json", "x", 0, 1, 0x8cdc1683);
  std::vector<std::string> asked;
  const Result<std::size_t> skipped = ReadZipEntries(
      zip.Finish(), "z.eval", {1000, 1000},
      [&](const std::string& name) {
        asked.push_back(name);
        return false;
      },
      [](const std::string&, const std::string&) -> Status { return {}; });
  ASSERT_TRUE(skipped.ok()) << skipped.error().message;
  EXPECT_EQ(*skipped, 2U);
  EXPECT_EQ(asked, (std::vector<std::string>{"header.json"}));
}

TEST(HostileTest, ZipDirectoriesThatLie) {
  ZipWriter zip;
  zip.Add("header.json", R"({"eval":{"model":"m"},"status":"success"})", 0, 41, 0x0d0bd32a);
  zip.Add("notes.txt", "x", 0, 1, 0x8cdc1683);
  const std::string bytes = zip.Finish();
  const std::size_t end = bytes.size() - 22;
  const auto error_with = [&](std::size_t at, const std::string& changed) {
    std::string damaged = bytes;
    damaged.replace(at, changed.size(), changed);
    TraceReadOptions strictly;
    strictly.strict = true;
    const Result<Trace> trace = ReadTrace(LineSource::FromText(damaged, "z.eval"), strictly);
    return trace ? "" : trace.error().message;
  };
  EXPECT_TRUE(CheckZipDirectory(bytes, "z.eval").ok());
  EXPECT_TRUE(CheckZipDirectory("#!/bin/sh\n" + bytes, "z.eval").ok());  // offsets count from the archive's start
  EXPECT_NE(error_with(end + 16, "\xFF\xFF\xFF\x7F").find("its directory lies outside the file"), std::string::npos);
  EXPECT_NE(error_with(end + 12, "\xFF\xFF\xFF\x7F").find("its directory lies outside the file"), std::string::npos);
  EXPECT_NE(error_with(end + 10, "\x09").find("its directory ends after 2 of 9 entries"), std::string::npos);
  const std::size_t first = bytes.find("PK\x01\x02");
  EXPECT_NE(error_with(first + 42, "\xFF\xFF\x01").find("entry 1 of its directory lies outside the file"),
            std::string::npos);
  EXPECT_NE(error_with(first + 20, "\xFF\xFF\x01").find("entry 1 of its directory lies outside the file"),
            std::string::npos);
}

TEST(HostileTest, ZipBomb) {
  // The deflated fixture, read with limits below what its entries unpack to.
  const Result<std::string> bytes = ReadFile(FixtureFolder() / "inspect-deflate.eval");
  ASSERT_TRUE(bytes.ok());
  TraceReadOptions options;
  options.max_document_bytes = bytes->size();
  const Result<Trace> trace = ReadTrace(LineSource::FromText(*bytes, "bomb.eval"), options);
  if (trace.ok()) {
    options.max_document_bytes = 200;
    ASSERT_FALSE(ReadTrace(LineSource::FromText(*bytes, "bomb.eval"), options).ok());
  }
  const Result<std::size_t> read = ReadZipEntries(
      *bytes, "bomb.eval", {100, 1000}, [](const std::string&) { return true; },
      [](const std::string&, const std::string&) -> Status { return {}; });
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("unpacks to more than 100 bytes"), std::string::npos) << read.error().message;
}

struct ArchiveText {
  std::string block;
  std::size_t block_repeats = 1;
  std::size_t blocks = 1;
};

// An archive that looks like a log, with one sample, which consists of this text.
std::string MakeArchive(const ArchiveText& text) {
  std::string bytes(std::size_t{4} << 20U, '\0');
  std::size_t used = 0;
  struct archive* const writer = archive_write_new();
  EXPECT_EQ(archive_write_set_format_zip(writer), ARCHIVE_OK);
  EXPECT_EQ(archive_write_open_memory(writer, bytes.data(), bytes.size(), &used), ARCHIVE_OK);
  const auto put = [&](const char* name, std::string_view block, std::size_t blocks) {
    struct archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_size(entry, static_cast<la_int64_t>(block.size() * blocks));
    EXPECT_EQ(archive_write_header(writer, entry), ARCHIVE_OK);
    for (std::size_t i = 0; i < blocks; ++i) EXPECT_GE(archive_write_data(writer, block.data(), block.size()), 0);
    archive_entry_free(entry);
  };
  put("header.json", R"({"eval":{"model":"m"},"status":"success"})", 1);
  std::string block;
  for (std::size_t i = 0; i < text.block_repeats; ++i) block += text.block;
  put("samples/1_epoch_1.json", block, text.blocks);
  EXPECT_EQ(archive_write_close(writer), ARCHIVE_OK);
  archive_write_free(writer);
  bytes.resize(used);
  return bytes;
}

TEST(HostileTest, ZipBombIsNotUnpacked) {
  // A few hundred kB that unpack to 300 MB.
  const std::string bytes = MakeArchive({std::string(1'000'000, ' '), 1, 300});
  EXPECT_LT(bytes.size(), 1'000'000U);
  const std::size_t growth = PeakGrowth([&] {
    TraceReadOptions options;
    options.max_document_bytes = 20'000'000;
    const Result<Trace> trace = ReadTrace(LineSource::FromText(bytes, "bomb.eval"), options);
    return !trace.ok() &&
           trace.error().message.find("bomb.eval:samples/1_epoch_1.json: unpacks to more than 20,000,000 bytes") == 0;
  });
  EXPECT_LT(growth, std::size_t{150} << 20U);
}

// The limits for files of a known size don't help with a small one: it must not unpack to hundreds of times its size.
TEST(HostileTest, SmallArchivesUnpackToLittle) {
  ArchiveText text;
  text.block = "[],";
  text.blocks = 20'000;
  text.block_repeats = 1000;  // 60 MB, and as JSON some gigabytes
  const std::string bytes = MakeArchive(text);
  EXPECT_LT(bytes.size(), 100'000U);
  for (const bool strict : {false, true}) {
    const std::size_t growth = PeakGrowth([&] {
      TraceReadOptions options;
      options.strict = strict;
      const Result<Trace> trace = ReadTrace(LineSource::FromText(bytes, "bomb.eval"), options);
      return !trace && trace.error().message.find("bomb.eval: its entries unpack to more than ") == 0;
    });
    EXPECT_LT(growth, std::size_t{100} << 20U);
  }
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

TEST(HostileTest, DamagedArchives) {
  TraceReadOptions strictly;
  strictly.strict = true;
  for (const char* file : {"inspect-deflate.eval", "inspect-zstd.eval"}) {
    const Result<std::string> bytes = ReadFile(FixtureFolder() / file);
    ASSERT_TRUE(bytes.ok());
    for (std::size_t size = 4; size < bytes->size(); size += 37) {
      const Result<Trace> trace = ReadTrace(LineSource::FromText(bytes->substr(0, size), "cut.eval"), strictly);
      ASSERT_FALSE(trace.ok()) << size;
      EXPECT_EQ(trace.error().message.find("cut.eval: damaged zip archive: its end, where its directory should be, is "
                                           "missing; the file is incomplete"),
                0U)
          << trace.error().message;
    }
    // What is whole is read, and the trace says that the rest is missing.
    const std::string cut = bytes->substr(0, bytes->size() - 30);
    const Result<Trace> trace = ReadTrace(LineSource::FromText(cut, "cut.eval"), {});
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_FALSE(trace->events.empty());
    ASSERT_FALSE(trace->problems.empty());
    EXPECT_NE(trace->problems.front().message.find("the file is incomplete"), std::string::npos);
  }
  const Result<Trace> other = ReadTrace(LineSource::FromText("PK\x03\x04nonsense", "n.zip"), {});
  ASSERT_FALSE(other.ok());
}

}  // namespace
}  // namespace upskill
