// SPDX-License-Identifier: Apache-2.0
#include "sandbox/file_bundle.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

namespace upskill {
namespace {

constexpr const char* kWhat = "the files of an answer";

Result<Fd> NewMemoryFile() {
  Fd file(::memfd_create("upskill", MFD_CLOEXEC));
  if (!file.valid()) return ErrnoError("storing", kWhat, errno);
  return file;
}

Status Rewind(const Fd& file) {
  if (::lseek(file.get(), 0, SEEK_SET) < 0) return ErrnoError("storing", kWhat, errno);
  return {};
}

Status Failed(struct archive* tar) {
  const int number = ::archive_errno(tar);
  return ErrnoError("storing", kWhat, number == 0 ? EIO : number);
}

Status AddFile(struct archive* tar, const std::string& name, const std::string& content) {
  RETURN_IF_ERROR(ContainedPath("", name));
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(::archive_entry_new(), ::archive_entry_free);
  if (entry == nullptr) return Failed(tar);
  ::archive_entry_copy_pathname(entry.get(), name.c_str());
  ::archive_entry_set_filetype(entry.get(), AE_IFREG);
  ::archive_entry_set_perm(entry.get(), static_cast<__LA_MODE_T>(PermissionsOf(content)));
  ::archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  if (::archive_write_header(tar, entry.get()) < ARCHIVE_WARN) return Failed(tar);
  if (::archive_write_data(tar, content.data(), content.size()) != static_cast<la_ssize_t>(content.size()))
    return Failed(tar);
  return {};
}

}  // namespace

std::filesystem::perms PermissionsOf(std::string_view content) {
  constexpr unsigned kScript = 0755;
  constexpr unsigned kOther = 0644;
  return static_cast<std::filesystem::perms>(content.starts_with("#!") || content.starts_with("\x7f"
                                                                                              "ELF")
                                                 ? kScript
                                                 : kOther);
}

Result<Fd> MemoryFile(const std::string& content) {
  ASSIGN_OR_RETURN(Fd file, NewMemoryFile());
  RETURN_IF_ERROR(WriteAll(file, content, kWhat));
  RETURN_IF_ERROR(Rewind(file));
  return file;
}

Result<Fd> TarOfFiles(const std::map<std::string, std::string>& files) {
  ASSIGN_OR_RETURN(Fd file, NewMemoryFile());
  {
    const std::unique_ptr<struct archive, int (*)(struct archive*)> tar(::archive_write_new(), ::archive_write_free);
    if (tar == nullptr) return ErrnoError("storing", kWhat, ENOMEM);
    ::archive_write_set_format_gnutar(tar.get());  // names of any length, as they are
    if (::archive_write_open_fd(tar.get(), file.get()) != ARCHIVE_OK) return Failed(tar.get()).error();
    for (const auto& [name, content] : files) RETURN_IF_ERROR(AddFile(tar.get(), name, content));
    if (::archive_write_close(tar.get()) != ARCHIVE_OK) return Failed(tar.get()).error();
  }
  RETURN_IF_ERROR(Rewind(file));
  return file;
}

}  // namespace upskill
