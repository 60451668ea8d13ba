// SPDX-License-Identifier: Apache-2.0
#include "sandbox/file_bundle.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "util/text.h"

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
  const bool is_folder = name.ends_with('/');
  RETURN_IF_ERROR(ContainedPath("", is_folder ? name.substr(0, name.size() - 1) : name));
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(::archive_entry_new(), ::archive_entry_free);
  if (entry == nullptr) return Failed(tar);
  ::archive_entry_copy_pathname(entry.get(), name.c_str());
  ::archive_entry_set_filetype(entry.get(), is_folder ? AE_IFDIR : AE_IFREG);
  ::archive_entry_set_perm(entry.get(),
                           is_folder ? __LA_MODE_T{0755} : static_cast<__LA_MODE_T>(PermissionsOf(content)));
  ::archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  if (::archive_write_header(tar, entry.get()) < ARCHIVE_WARN) return Failed(tar);
  if (::archive_write_data(tar, content.data(), content.size()) != static_cast<la_ssize_t>(content.size()))
    return Failed(tar);
  return {};
}

// Takes the entries of a workspace one by one.
class BundleBuilder {
 public:
  explicit BundleBuilder(const CollectLimits& limits) : limits_(limits) {}

  // The plain name, or nothing for one that can't be stored.
  std::string NameOf(std::string_view name) {
    while (name.starts_with("./")) name.remove_prefix(2);
    while (name.ends_with('/')) name.remove_suffix(1);
    if (name.empty() || name == ".") return "";
    if (!ContainedPath("", std::string(name)) || FindInvalidUtf8(name)) {
      ++bundle_.left_out;
      return "";
    }
    return PlainFileName(std::string(name));
  }

  void LeaveOut() { ++bundle_.left_out; }
  void EndByLimit() { bundle_.too_much = true; }
  bool full() const { return bundle_.too_much; }
  std::size_t room() const { return limits_.bytes - bytes_; }

  void AddFolder(const std::string& name) {
    if (!name.empty() && CountOne()) folders_.insert(name);
  }
  void AddFile(const std::string& name, std::string content) {
    if (content.size() > room()) return EndByLimit();
    if (!CountOne()) return;
    bytes_ += content.size();
    bundle_.files[name] = std::move(content);
  }
  const std::string* Find(const std::string& name) const {
    const auto found = bundle_.files.find(name);
    return found == bundle_.files.end() ? nullptr : &found->second;
  }

  FileBundle Take() {
    for (const std::string& folder : folders_) {
      const std::string prefix = folder + "/";
      const auto inside = bundle_.files.lower_bound(prefix);
      const bool has_files = inside != bundle_.files.end() && inside->first.starts_with(prefix);
      const auto below = folders_.lower_bound(prefix);
      const bool has_folders = below != folders_.end() && below->starts_with(prefix);
      if (!has_files && !has_folders) bundle_.files[prefix] = "";
    }
    return std::move(bundle_);
  }

 private:
  bool CountOne() {
    if (count_ >= limits_.files) EndByLimit();
    ++count_;
    return !full();
  }

  const CollectLimits limits_;
  FileBundle bundle_;
  std::set<std::string> folders_;
  std::size_t bytes_ = 0;
  std::size_t count_ = 0;
};

using Reader = std::unique_ptr<struct archive, int (*)(struct archive*)>;

// The content of the entry; nothing if it is larger than `most`.
std::optional<std::string> ContentOf(struct archive* tar, std::size_t most) {
  std::string content;
  std::array<char, 65536> buffer{};
  while (true) {
    const la_ssize_t got = ::archive_read_data(tar, buffer.data(), buffer.size());
    if (got <= 0) return content;  // an error is one of the whole archive: the next header has it
    if (content.size() + static_cast<std::size_t>(got) > most) return std::nullopt;
    content.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

void TakeEntry(struct archive* tar, struct archive_entry* entry, BundleBuilder& builder) {
  const char* const raw = ::archive_entry_pathname(entry);
  const auto type = ::archive_entry_filetype(entry);
  const char* const linked = ::archive_entry_hardlink(entry);
  if (raw == nullptr || (type != AE_IFREG && type != AE_IFDIR && linked == nullptr)) return builder.LeaveOut();
  const std::string name = builder.NameOf(raw);
  if (name.empty()) return;
  if (type == AE_IFDIR) return builder.AddFolder(name);
  if (linked != nullptr) {
    const std::string* const same = builder.Find(builder.NameOf(linked));
    if (same == nullptr) return builder.LeaveOut();
    return builder.AddFile(name, *same);
  }
  std::optional<std::string> content = ContentOf(tar, builder.room());
  if (!content) return builder.EndByLimit();
  builder.AddFile(name, std::move(*content));
}

}  // namespace

std::filesystem::perms PermissionsOf(std::string_view content) {
  constexpr unsigned kScript = 0755;
  constexpr unsigned kOther = 0644;
  const bool runs = content.starts_with("#!") || content.starts_with(
                                                     "\x7F"
                                                     "ELF");
  return static_cast<std::filesystem::perms>(runs ? kScript : kOther);
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

std::size_t MostTarBytes(const CollectLimits& limits) {
  constexpr std::size_t kOfFile = 4'096;  // headers, one for a long name, and padding
  constexpr std::size_t kEnd = 20'480;    // two empty blocks, in records of 10 KiB
  return limits.bytes + (limits.files + 1) * kOfFile + kEnd;
}

FileBundle FilesOfTar(std::string_view tar, const CollectLimits& limits) {
  BundleBuilder builder(limits);
  if (tar.size() > MostTarBytes(limits)) builder.EndByLimit();
  const Reader reader(::archive_read_new(), ::archive_read_free);
  if (reader == nullptr) return builder.Take();
  ::archive_read_support_format_tar(reader.get());
  if (::archive_read_open_memory(reader.get(), tar.data(), tar.size()) != ARCHIVE_OK) return builder.Take();
  struct archive_entry* entry = nullptr;
  while (!builder.full()) {
    const int code = ::archive_read_next_header(reader.get(), &entry);
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) break;
    TakeEntry(reader.get(), entry, builder);
  }
  return builder.Take();
}

Result<FileBundle> FilesOfFolder(const std::filesystem::path& folder, const CollectLimits& limits) {
  namespace fs = std::filesystem;
  BundleBuilder builder(limits);
  std::error_code code;
  const auto options = fs::directory_options::skip_permission_denied;
  fs::recursive_directory_iterator at(folder, options, code);
  for (; !code && at != fs::recursive_directory_iterator() && !builder.full(); at.increment(code)) {
    const fs::file_status status = at->symlink_status(code);
    if (code) break;
    if (status.type() != fs::file_type::regular && status.type() != fs::file_type::directory) {
      builder.LeaveOut();
      continue;
    }
    const std::string name = builder.NameOf(at->path().lexically_relative(folder).string());
    if (name.empty()) continue;
    if (status.type() == fs::file_type::directory) {
      builder.AddFolder(name);
      continue;
    }
    const std::uintmax_t size = at->file_size(code);
    if (code) break;
    if (size > builder.room()) {
      builder.EndByLimit();
      break;
    }
    Result<std::string> content = ReadFile(at->path());
    if (content) {
      builder.AddFile(name, std::move(*content));
    } else {
      builder.LeaveOut();
    }
  }
  if (code) return ErrnoError("reading", folder, code.value());
  return builder.Take();
}

}  // namespace upskill
