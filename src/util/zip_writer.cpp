// SPDX-License-Identifier: Apache-2.0
#include "util/zip_writer.h"

#include <fmt/format.h>
#include <zlib.h>

#include <utility>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kHeaderBytes = 30;          // of a file, without its name
constexpr std::size_t kDirectoryEntryBytes = 46;  // without the name
constexpr std::size_t kEndBytes = 22;

// Appends little-endian numbers.
class RecordWriter {
 public:
  explicit RecordWriter(std::string& out) : out_(out) {}

  RecordWriter& Number(std::size_t width, std::uint64_t number) {
    for (std::size_t i = 0; i < width; ++i) out_ += static_cast<char>((number >> (8 * i)) & 0xFFU);
    return *this;
  }
  RecordWriter& Text(std::string_view text) {
    out_ += text;
    return *this;
  }

 private:
  std::string& out_;
};

// What the local header of a file and its entry in the directory have in common (APPNOTE.TXT 6.3.10, 4.3.7).
void WriteCommonFields(RecordWriter& out, std::string_view name, std::string_view content, std::uint32_t crc) {
  constexpr std::uint64_t kVersion = 20;
  constexpr std::uint64_t kNamesAreUtf8 = 1U << 11U;
  constexpr std::uint64_t kStored = 0;
  constexpr std::uint64_t kTime = 0;
  constexpr std::uint64_t kDate = (1U << 5U) | 1U;  // 1 January 1980, the first that the format knows
  out.Number(2, kVersion).Number(2, kNamesAreUtf8).Number(2, kStored).Number(2, kTime).Number(2, kDate);
  out.Number(4, crc).Number(4, content.size()).Number(4, content.size());
  out.Number(2, name.size()).Number(2, 0);  // no extra field
}

}  // namespace

Status ZipWriter::Add(std::string_view name, std::string_view content, bool executable) {
  constexpr std::size_t kMaxName = 0xFFFF;
  const std::uint64_t more = kHeaderBytes + kDirectoryEntryBytes + 2 * name.size() + content.size();
  if (name.size() > kMaxName)
    return InputError(fmt::format("'{}' is too long for the name of a file in a zip archive", ExcerptLine(name, 60)));
  if (files_ == kMaxFiles || bytes_.size() + directory_.size() + kEndBytes + more > kMaxBytes) {
    return InputError(fmt::format("a zip archive holds at most {} files and {}",
                                  WithThousands(static_cast<long long>(kMaxFiles)), BytesText(kMaxBytes)));
  }
  constexpr std::uint64_t kMadeOnUnix = (3U << 8U) | 20U;
  const std::uint64_t mode = executable ? 0100755U : 0100644U;
  const auto crc =
      static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  RecordWriter entry(directory_);
  entry.Text("PK\x01\x02").Number(2, kMadeOnUnix);
  WriteCommonFields(entry, name, content, crc);
  entry.Number(2, 0).Number(2, 0).Number(2, 0);  // comment, disk, internal attributes
  entry.Number(4, mode << 16U).Number(4, bytes_.size()).Text(name);
  RecordWriter file(bytes_);
  file.Text("PK\x03\x04");
  WriteCommonFields(file, name, content, crc);
  file.Text(name).Text(content);
  ++files_;
  return {};
}

std::string ZipWriter::Finish() && {
  const std::size_t start = bytes_.size();
  RecordWriter out(bytes_);
  out.Text(directory_).Text("PK\x05\x06").Number(2, 0).Number(2, 0);
  out.Number(2, files_).Number(2, files_);
  out.Number(4, directory_.size()).Number(4, start).Number(2, 0);
  return std::move(bytes_);
}

}  // namespace upskill
