// SPDX-License-Identifier: Apache-2.0
#include "install/placement.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <system_error>

#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// No name of a skill has a dot.
std::string HiddenPrefix(const std::string& name, const char* kind) {
  return fmt::format(".upskill-{}.{}", name, kind);
}

std::string HiddenName(const std::string& name, const char* kind = "new") {
  std::random_device random;
  return fmt::format("{}{:08x}{:08x}", HiddenPrefix(name, kind), random(), random());
}

// Not through links: fs::remove_all removes those themselves.
Status RemoveTree(const Folder& skills, const std::string& name) {
  std::error_code code;
  fs::remove_all(skills.path() / name, code);
  return code ? ErrnoError("removing", skills.path() / name, code.value()) : Status();
}

// What interrupted calls have left, except for an old skill that nothing has replaced. Errors don't matter: the next
// call tries again.
void RemoveLeftovers(const Folder& skills, const std::string& name) {
  std::error_code code;
  const bool is_there = fs::exists(fs::symlink_status(skills.path() / name, code));
  for (fs::directory_iterator entry(skills.path(), code), end; !code && entry != end; entry.increment(code)) {
    std::error_code ignored;
    const std::string hidden = entry->path().filename().string();
    const bool is_leftover =
        hidden.starts_with(HiddenPrefix(name, "new")) || (is_there && hidden.starts_with(HiddenPrefix(name, "old")));
    if (is_leftover) fs::remove_all(entry->path(), ignored);
  }
}

int RenameInside(const Folder& skills, const std::string& from, const std::string& to, unsigned flags) {
  return Uninterrupted(
      [&] { return ::renameat2(skills.fd().get(), from.c_str(), skills.fd().get(), to.c_str(), flags); });
}

// For file systems that can't exchange two names: a crash between the first two calls leaves the old skill under a
// hidden name only.
int ExchangeStepwise(const Folder& skills, const std::string& hidden, const std::string& name) {
  const std::string old = HiddenName(name, "old");
  if (RenameInside(skills, name, old, 0) != 0) return -1;
  if (RenameInside(skills, hidden, name, 0) != 0) {
    const int reason = errno;
    RenameInside(skills, old, name, 0);
    errno = reason;
    return -1;
  }
  return RenameInside(skills, old, hidden, 0);
}

bool LacksFlags(int error_number) {
  return error_number == EINVAL || error_number == ENOSYS || error_number == ENOTSUP;
}

// Gives what was made under a hidden name its own name. What had that name is removed.
Status Publish(const Folder& skills, const std::string& hidden, const std::string& name, Replace replace) {
  const bool exchange = replace == Replace::kYes;
  int result = RenameInside(skills, hidden, name, exchange ? RENAME_EXCHANGE : RENAME_NOREPLACE);
  if (result != 0 && LacksFlags(errno))
    result = exchange ? ExchangeStepwise(skills, hidden, name) : RenameInside(skills, hidden, name, 0);
  if (result != 0) {
    const Error error = ErrnoError("writing", skills.path() / name, errno);
    RETURN_IF_ERROR(RemoveTree(skills, hidden));
    return error;
  }
  RETURN_IF_ERROR(skills.Sync());
  return exchange ? RemoveTree(skills, hidden) : Status();
}

Status WriteFiles(const Folder& skills, const std::string& hidden, const FileMap& files) {
  ASSIGN_OR_RETURN(const Folder folder, skills.MakeBelow(hidden));
  for (const auto& [name, file] : files) {
    const mode_t mode = file.executable ? 0777 : 0666;
    RETURN_IF_ERROR(folder.WriteFile(name, file.content, {Durability::kSynced, mode}));
  }
  return {};
}

}  // namespace

Status PlaceCopy(const Folder& skills, const std::string& name, const FileMap& files, Replace replace) {
  RemoveLeftovers(skills, name);
  const std::string hidden = HiddenName(name);
  if (Status written = WriteFiles(skills, hidden, files); !written) {
    RETURN_IF_ERROR(RemoveTree(skills, hidden));
    return written;
  }
  return Publish(skills, hidden, name, replace);
}

Status PlaceLink(const Folder& skills, const std::string& name, const fs::path& target, Replace replace) {
  RemoveLeftovers(skills, name);
  const std::string hidden = HiddenName(name);
  if (::symlinkat(target.c_str(), skills.fd().get(), hidden.c_str()) != 0)
    return ErrnoError("writing", skills.path() / name, errno);
  return Publish(skills, hidden, name, replace);
}

Status RemovePlaced(const Folder& skills, const std::string& name) {
  RemoveLeftovers(skills, name);
  const std::string hidden = HiddenName(name);
  if (RenameInside(skills, name, hidden, 0) != 0) return ErrnoError("removing", skills.path() / name, errno);
  RETURN_IF_ERROR(skills.Sync());
  return RemoveTree(skills, hidden);
}

}  // namespace upskill
