// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "trace/read/archive.h"

namespace upskill {
namespace {

// Offsets and signatures: APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12, 4.3.14 to 4.3.16.
constexpr std::string_view kLocalMark = "PK\x03\x04";
constexpr std::string_view kEntryMark = "PK\x01\x02";
constexpr std::string_view kEndMark = "PK\x05\x06";
constexpr std::string_view kEnd64Mark = "PK\x06\x06";
constexpr std::string_view kLocator64Mark = "PK\x06\x07";
constexpr std::size_t kLocalBytes = 30;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kLocator64Bytes = 20;
constexpr std::size_t kMaxComment = 0xFFFF;
constexpr std::uint64_t kIn64 = 0xFFFFFFFF;  // the value is in a zip64 record

// A little-endian number; the caller has checked that it is inside.
std::uint64_t NumberIn(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t number = 0;
  for (std::size_t i = width; i > 0; --i) number = (number << 8U) | static_cast<unsigned char>(bytes[at + i - 1]);
  return number;
}

bool HasMark(std::string_view bytes, std::uint64_t at, std::string_view mark, std::size_t record_bytes) {
  return at <= bytes.size() && bytes.size() - at >= record_bytes && bytes.substr(at, mark.size()) == mark;
}

struct ZipDirectory {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t entries = 0;
  std::uint64_t base = 0;  // what precedes the archive in the file; offsets count from there
};

std::optional<std::size_t> FindEnd(std::string_view bytes) {
  if (bytes.size() < kEndBytes) return std::nullopt;
  const std::size_t last = bytes.size() - kEndBytes;
  const std::size_t first = last - std::min(last, kMaxComment);
  for (std::size_t at = last + 1; at-- > first;) {
    if (!HasMark(bytes, at, kEndMark, kEndBytes)) continue;
    if (at + kEndBytes + NumberIn(bytes, at + 20, 2) <= bytes.size()) return at;
  }
  return std::nullopt;
}

// Nothing: it lies outside the file.
std::optional<ZipDirectory> DirectoryAt(std::string_view bytes, std::size_t end) {
  ZipDirectory found;
  found.entries = NumberIn(bytes, end + 10, 2);
  std::uint64_t size = NumberIn(bytes, end + 12, 4);
  std::uint64_t offset = NumberIn(bytes, end + 16, 4);
  found.end = end;
  if (found.entries == 0xFFFF || size == kIn64 || offset == kIn64) {
    if (end >= kLocator64Bytes && HasMark(bytes, end - kLocator64Bytes, kLocator64Mark, kLocator64Bytes)) {
      const std::uint64_t end64 = NumberIn(bytes, end - kLocator64Bytes + 8, 8);
      if (!HasMark(bytes, end64, kEnd64Mark, kEnd64Bytes)) return std::nullopt;
      found.entries = NumberIn(bytes, end64 + 32, 8);
      size = NumberIn(bytes, end64 + 40, 8);
      offset = NumberIn(bytes, end64 + 48, 8);
      found.end = end64;
    }
  }
  if (size > found.end || offset > found.end - size) return std::nullopt;
  found.start = found.end - size;
  found.base = found.start - offset;
  return found;
}

// The entry that the directory lists at `at` lies inside the file, before the directory.
bool HasLocalEntry(std::string_view bytes, const ZipDirectory& directory, std::uint64_t at) {
  const std::uint64_t packed = NumberIn(bytes, at + 20, 4);
  const std::uint64_t offset = NumberIn(bytes, at + 42, 4);
  if (offset == kIn64) return true;  // only in archives of more than 4 GiB, which are too large anyway
  const std::uint64_t local = directory.base + offset;
  if (!HasMark(bytes.substr(0, directory.start), local, kLocalMark, kLocalBytes)) return false;
  return packed == kIn64 || packed <= directory.start - local - kLocalBytes;
}

std::string FaultIn(std::string_view bytes) {
  const std::optional<std::size_t> end = FindEnd(bytes);
  if (!end) return "its end, where its directory should be, is missing; the file is incomplete";
  const std::optional<ZipDirectory> directory = DirectoryAt(bytes, *end);
  if (!directory) return "its directory lies outside the file";
  std::uint64_t at = directory->start;
  for (std::uint64_t i = 0; i < directory->entries; ++i) {
    if (!HasMark(bytes.substr(0, directory->end), at, kEntryMark, kEntryBytes)) {
      return fmt::format("its directory ends after {} of {} entries", i, directory->entries);
    }
    if (!HasLocalEntry(bytes, *directory, at)) {
      return fmt::format("entry {} of its directory lies outside the file", i + 1);
    }
    at += kEntryBytes + NumberIn(bytes, at + 28, 2) + NumberIn(bytes, at + 30, 2) + NumberIn(bytes, at + 32, 2);
  }
  return "";
}

}  // namespace

Status CheckZipDirectory(std::string_view bytes, const std::string& source) {
  const std::string fault = FaultIn(bytes);
  if (fault.empty()) return {};
  return InputError(fmt::format("{}: damaged zip archive: {}", source, fault));
}

}  // namespace upskill
