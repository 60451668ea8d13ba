// SPDX-License-Identifier: Apache-2.0
// Damaged and malicious archives: bounded memory, nothing outside of them, and what is whole is read.
#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/peak_memory.h"
#include "support/trace_expectation.h"
#include "trace/load/read_trace.h"
#include "trace/read/archive.h"
#include "util/files.h"

namespace upskill {
namespace {

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
