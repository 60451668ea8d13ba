// SPDX-License-Identifier: Apache-2.0
#include "util/output_pieces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include "util/files.h"
#include "util/folder.h"
#include "util/known_secrets.h"
#include "util/text.h"

namespace upskill {
namespace {

// Devices and pipes, and what the links of /dev and /proc lead to: those links are not to be replaced.
bool IsWrittenInPlace(const std::filesystem::path& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return false;
  if (S_ISCHR(info.st_mode) || S_ISFIFO(info.st_mode)) return true;
  const std::string normal = path.lexically_normal().string();
  return (normal.starts_with("/dev/") || normal.starts_with("/proc/")) && ::lstat(path.c_str(), &info) == 0 &&
         S_ISLNK(info.st_mode);
}

Status RefuseRecord(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 6> kRecords = {"samples.jsonl",   "plan.json",     "ledger.jsonl",
                                                        "generation.json", "batches.jsonl", "calls.jsonl"};
  std::error_code code;
  if (std::find(kRecords.begin(), kRecords.end(), path.filename().string()) != kRecords.end() &&
      std::filesystem::exists(path, code))
    return InputError(
        fmt::format("{}: a record of a run, which nothing else may replace; write to another file", path.string()));
  return {};
}

}  // namespace

Status WriteOutputInPieces(const std::filesystem::path& path,
                           const std::function<Status(const PieceWriter&)>& produce) {
  RETURN_IF_ERROR(RefuseRecord(path));
  if (IsWrittenInPlace(path)) {
    const Fd fd(Uninterrupted([&] { return ::open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC); }));
    if (!fd.valid()) return ErrnoError("writing", path, errno);
    return produce([&](std::string_view piece) {
      const std::string masked = MaskSecrets(std::string(piece));
      return WriteAll(fd, ::isatty(fd.get()) == 1 ? SafeForTerminal(masked) : masked, path);
    });
  }
  ASSIGN_OR_RETURN(TemporaryFile file, TemporaryFile::MakeFor(path));
  RETURN_IF_ERROR(
      produce([&](std::string_view piece) { return WriteAll(file.fd(), MaskSecrets(std::string(piece)), path); }));
  return file.Publish();
}

Status WriteOutputFile(const std::filesystem::path& path, std::string_view content) {
  RETURN_IF_ERROR(RefuseRecord(path));
  if (!IsWrittenInPlace(path)) return WriteFileAtomically(path, content);
  return WriteOutputInPieces(path, [&](const PieceWriter& write) { return write(content); });
}

}  // namespace upskill
