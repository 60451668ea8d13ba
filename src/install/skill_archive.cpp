// SPDX-License-Identifier: Apache-2.0
#include "install/skill_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

#include "trace/read/archive.h"
#include "util/files.h"
#include "util/invariant.h"
#include "util/text.h"
#include "util/zip_writer.h"

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
  ZipWriter zip;
  for (const auto& [name, file] : skill.files) {
    const Status added = zip.Add(fmt::format("{}/{}", skill.name, name), file.content, file.executable);
    CHECK(added.ok());  // kMaxSkillFiles and kMaxSkillBytesTotal are less than an archive holds
  }
  return std::move(zip).Finish();
}

}  // namespace upskill
