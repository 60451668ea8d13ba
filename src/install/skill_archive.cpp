// SPDX-License-Identifier: Apache-2.0
#include "install/skill_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

#include "trace/read/archive.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxArchiveBytes = kMaxSkillBytesTotal + (std::uint64_t{16} << 20U);

// The folder that all files are in, with its slash; empty if SKILL.md is at the top, or there is no such folder.
std::string OnlyFolder(const FileMap& files) {
  if (files.empty() || files.contains("SKILL.md")) return "";
  const std::string& first = files.begin()->first;
  const std::size_t slash = first.find('/');
  if (slash == std::string::npos) return "";
  const std::string folder = first.substr(0, slash + 1);
  const bool is_only =
      std::all_of(files.begin(), files.end(), [&](const auto& file) { return file.first.starts_with(folder); });
  return is_only ? folder : "";
}

Result<FileMap> FilesIn(std::string_view bytes, const std::string& source) {
  FileMap files;
  const auto refused = [&](const ZipEntry& entry, const char* why) {
    return InputError(fmt::format("{}: '{}' {}", source, ExcerptLine(entry.name, 200), why));
  };
  const auto wanted = [&](const ZipEntry& entry) -> Result<bool> {
    if (entry.name.starts_with("__MACOSX/")) return false;
    if (entry.name.empty())
      return InputError(
          fmt::format("{}: a file's name isn't UTF-8; pack it with a program that writes such names", source));
    RETURN_IF_ERROR(ContainedPath(".", entry.name).With(source));
    if (!entry.is_file) return refused(entry, "is a link or a device; a skill's archive has only files and folders");
    if (files.contains(PlainFileName(entry.name))) return refused(entry, "is there twice; pack the skill again");
    if (files.size() == kMaxSkillFiles)
      return refused(entry, "is one file too many; this isn't the archive of a skill");
    return true;
  };
  const auto use = [&](const ZipEntry& entry, std::string content) -> Status {
    files[PlainFileName(entry.name)] = {std::move(content), entry.executable};
    return {};
  };
  const ArchiveLimits limits{kMaxSkillFileBytes, kMaxSkillBytesTotal};
  RETURN_IF_ERROR(VisitZipEntries(bytes, source, limits, wanted, use));
  return files;
}

// CRC-32 (ISO 3309), as zip archives have it.
std::uint32_t Crc32(std::string_view bytes) {
  static const auto table = [] {
    constexpr std::uint32_t kPolynomial = 0xEDB88320;
    std::array<std::uint32_t, 256> remainders{};
    for (std::uint32_t i = 0; i < remainders.size(); ++i) {
      std::uint32_t rest = i;
      for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? kPolynomial : 0U);
      remainders[i] = rest;
    }
    return remainders;
  }();
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) crc = (crc >> 8U) ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xFFU];
  return ~crc;
}

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
void WriteCommonFields(RecordWriter& out, const std::string& name, const SkillFile& file) {
  constexpr std::uint64_t kVersion = 20;
  constexpr std::uint64_t kNamesAreUtf8 = 1U << 11U;
  constexpr std::uint64_t kStored = 0;
  constexpr std::uint64_t kTime = 0;
  constexpr std::uint64_t kDate = (1U << 5U) | 1U;  // 1 January 1980, the first that the format knows
  out.Number(2, kVersion).Number(2, kNamesAreUtf8).Number(2, kStored).Number(2, kTime).Number(2, kDate);
  out.Number(4, Crc32(file.content)).Number(4, file.content.size()).Number(4, file.content.size());
  out.Number(2, name.size()).Number(2, 0);  // no extra field
}

void WriteDirectoryEntry(std::string& to, const std::string& name, const SkillFile& file, std::size_t offset) {
  constexpr std::uint64_t kMadeOnUnix = (3U << 8U) | 20U;
  const std::uint64_t mode = file.executable ? 0100755U : 0100644U;
  RecordWriter out(to);
  out.Text("PK\x01\x02").Number(2, kMadeOnUnix);
  WriteCommonFields(out, name, file);
  out.Number(2, 0).Number(2, 0).Number(2, 0);  // comment, disk, internal attributes
  out.Number(4, mode << 16U).Number(4, offset).Text(name);
}

}  // namespace

bool IsSkillArchive(const fs::path& file) {
  const std::string extension = ToLowerAscii(file.extension().string());
  return extension == ".skill" || extension == ".zip";
}

Result<SkillFiles> ParseSkillArchive(std::string_view bytes, const std::string& source, const std::string& name,
                                     EvaluationFiles evaluation) {
  RETURN_IF_ERROR(CheckZipDirectory(bytes, source));
  ASSIGN_OR_RETURN(FileMap packed, FilesIn(bytes, source));
  const std::string folder = OnlyFolder(packed);
  FileMap files;
  for (auto& [packed_name, file] : packed) {
    std::string inside = packed_name.substr(folder.size());
    if (!IsLeftBehind(inside, evaluation)) files[std::move(inside)] = std::move(file);
  }
  return CheckedSkill(std::move(files), source, folder.empty() ? name : folder.substr(0, folder.size() - 1));
}

Result<SkillFiles> ReadSkillArchive(const fs::path& file, EvaluationFiles evaluation) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file, kMaxArchiveBytes));
  return ParseSkillArchive(bytes, file.string(), file.stem().string(), evaluation);
}

Result<SkillFiles> ReadSkillSource(const fs::path& source, EvaluationFiles evaluation) {
  std::error_code code;
  const fs::file_status status = fs::status(source, code);
  if (!fs::exists(status)) {
    return Error{ErrorKind::kNotFound,
                 fmt::format("{}: there is no such skill; give a folder or a .skill archive", source.string())};
  }
  if (fs::is_directory(status)) return ReadSkillFolder(source, evaluation);
  if (source.filename() == "SKILL.md") return ReadSkillFolder(FolderOf(source), evaluation);
  if (fs::is_regular_file(status) && IsSkillArchive(source)) return ReadSkillArchive(source, evaluation);
  return InputError(
      fmt::format("{}: not a skill; give the skill's folder, or an archive ending in .skill or .zip", source.string()));
}

std::string SkillArchive(const SkillFiles& skill) {
  std::string bytes;
  std::string directory;
  for (const auto& [file_name, file] : skill.files) {
    const std::string name = fmt::format("{}/{}", skill.name, file_name);
    WriteDirectoryEntry(directory, name, file, bytes.size());
    RecordWriter out(bytes);
    out.Text("PK\x03\x04");
    WriteCommonFields(out, name, file);
    out.Text(name).Text(file.content);
  }
  const std::size_t start = bytes.size();
  RecordWriter out(bytes);
  out.Text(directory).Text("PK\x05\x06").Number(2, 0).Number(2, 0);
  out.Number(2, skill.files.size()).Number(2, skill.files.size());
  out.Number(4, directory.size()).Number(4, start).Number(2, 0);
  return bytes;
}

}  // namespace upskill
