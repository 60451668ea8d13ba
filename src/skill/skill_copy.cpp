// SPDX-License-Identifier: Apache-2.0
#include "skill/skill_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <string>
#include <system_error>

#include "skill/skill_tree.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxFileBytes = 1ULL << 30U;

Status CopyOne(const fs::path& from, const Folder& to, const fs::path& name) {
  if (::faccessat(to.fd().get(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) return {};
  std::error_code code;
  const fs::perms mode = fs::status(from / name, code).permissions();
  if (code) return ErrnoError("reading", from / name, code.value());
  ASSIGN_OR_RETURN(const std::string content, ReadFile(from / name, kMaxFileBytes));
  return to.WriteFile(name, content, {Durability::kSynced, static_cast<mode_t>(mode & fs::perms::all)});
}

}  // namespace

Status CopySkillFiles(const fs::path& from, const Folder& to) {
  std::error_code code;
  for (const char* file : {"skill_meta.json", "lineage.json"}) {
    if (fs::exists(from / file, code)) RETURN_IF_ERROR(CopyOne(from, to, file));
  }
  const SkillListing listing = ListSkillFolder(
      from, [](const std::string& name) { return !IsAtOrBelow(name, {"references", "scripts", "assets"}); });
  RETURN_IF_ERROR(listing.status);
  for (const auto& [name, type] : listing.entries) {
    if (type == fs::file_type::regular && name.find('/') != std::string::npos) RETURN_IF_ERROR(CopyOne(from, to, name));
  }
  return fs::exists(from / "SKILL.md", code) ? CopyOne(from, to, "SKILL.md") : Status();
}

Status CheckSkillFolders(const fs::path& folder) {
  for (const char* name : {"references", "scripts"}) {
    std::error_code code;
    if (!fs::is_symlink(folder / name, code)) continue;
    return InputError(fmt::format("{} is a symbolic link, and nothing is written through it; replace it with a folder",
                                  (folder / name).string()));
  }
  return {};
}

}  // namespace upskill
