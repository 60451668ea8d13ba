// SPDX-License-Identifier: Apache-2.0
#include "sandbox/file_bundle.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>

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

// The content of the entry that was read last; nothing if it is damaged or larger than `most`.
std::optional<std::string> ContentOf(struct archive* tar, std::size_t most) {
  std::string content;
  while (true) {
    const void* block = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int got = ::archive_read_data_block(tar, &block, &size, &offset);
    if (got == ARCHIVE_EOF) return content;
    if (got < ARCHIVE_WARN || offset < 0) return std::nullopt;
    // A sparse file has holes between its blocks.
    const auto start = static_cast<std::uint64_t>(offset);
    if (start < content.size() || start > most || size > most - start) return std::nullopt;
    content.resize(start);
    content.append(static_cast<const char*>(block), size);
  }
}

}  // namespace

TarContent FilesOfTar(std::string_view tar_bytes, std::size_t most_files, std::size_t most_bytes) {
  TarContent content;
  const std::unique_ptr<struct archive, int (*)(struct archive*)> tar(::archive_read_new(), ::archive_read_free);
  if (tar == nullptr) return {{}, false};
  ::archive_read_support_format_tar(tar.get());
  if (::archive_read_open_memory(tar.get(), tar_bytes.data(), tar_bytes.size()) != ARCHIVE_OK) return {{}, false};
  std::size_t bytes = 0;
  archive_entry* entry = nullptr;
  while (true) {
    const int next = ::archive_read_next_header(tar.get(), &entry);
    if (next == ARCHIVE_EOF) return content;
    if (next < ARCHIVE_WARN) break;
    const char* const name = ::archive_entry_pathname(entry);
    if (name == nullptr || ::archive_entry_filetype(entry) != AE_IFREG || ::archive_entry_hardlink(entry) != nullptr ||
        !ContainedPath("", name))
      continue;
    const std::string plain = PlainFileName(name);
    if (content.files.size() >= most_files) break;
    std::optional<std::string> text = ContentOf(tar.get(), most_bytes - bytes);
    if (!text) break;
    bytes += text->size();
    content.files.insert_or_assign(plain, *std::move(text));
  }
  content.whole = false;
  return content;
}

std::filesystem::perms PermissionsOf(std::string_view content) {
  constexpr unsigned kScript = 0755;
  constexpr unsigned kOther = 0644;
  return static_cast<std::filesystem::perms>(content.starts_with("#!") ? kScript : kOther);
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
