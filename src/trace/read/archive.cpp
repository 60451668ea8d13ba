// SPDX-License-Identifier: Apache-2.0
#include "trace/read/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <locale.h>

#include <algorithm>
#include <memory>

#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

struct CloseArchive {
  void operator()(struct archive* handle) const { archive_read_free(handle); }
};
using ArchivePtr = std::unique_ptr<struct archive, CloseArchive>;

std::string ReasonOf(struct archive* handle) {
  const char* const reason = archive_error_string(handle);
  return reason == nullptr ? "unknown error" : reason;
}

Error TooLarge(const std::string& place, const char* what, std::size_t most) {
  return InputError(fmt::format("{}: {} more than {} bytes; the archive is damaged or malicious", place, what,
                                WithThousands(static_cast<long long>(most))));
}

Result<std::string> ReadEntry(struct archive* handle, std::size_t most, const Error& too_large,
                              const std::string& place) {
  std::string content;
  std::string block(std::size_t{256} * 1024, '\0');
  while (true) {
    const la_ssize_t got = archive_read_data(handle, block.data(), block.size());
    if (got < 0) return InputError(fmt::format("{}: can't be unpacked: {}", place, ReasonOf(handle)));
    if (got == 0) return content;
    if (content.size() + static_cast<std::size_t>(got) > most) return too_large;
    content.append(block, 0, static_cast<std::size_t>(got));
  }
}

// Names in UTF-8 for this thread: libarchive can't convert them in the program's own locale, C.
class Utf8Names {
 public:
  Utf8Names() : locale_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{})) {
    if (locale_ != locale_t{}) before_ = ::uselocale(locale_);
  }
  ~Utf8Names() {
    if (locale_ == locale_t{}) return;
    ::uselocale(before_);
    ::freelocale(locale_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t locale_;
  locale_t before_{};
};

ZipEntry EntryOf(struct archive_entry* raw) {
  constexpr unsigned kOwnerMayExecute = 0100;
  const char* const name = archive_entry_pathname_utf8(raw);
  ZipEntry entry;
  entry.name = name == nullptr ? "" : name;
  entry.is_file = archive_entry_filetype(raw) == AE_IFREG && archive_entry_symlink(raw) == nullptr;
  entry.executable = (archive_entry_perm(raw) & kOwnerMayExecute) != 0;
  return entry;
}

}  // namespace

// Deflate reaches 1,032 times, JSON of real sessions up to about 50 times.
std::size_t MaxUnpackedBytes(std::size_t archive_bytes) {
  constexpr std::size_t kFree = std::size_t{4} << 20U;
  constexpr std::size_t kRatio = 200;
  return kFree + kRatio * archive_bytes;
}

Status VisitZipEntries(std::string_view bytes, const std::string& source, const ArchiveLimits& limits,
                       const std::function<Result<bool>(const ZipEntry&)>& wanted,
                       const std::function<Status(const ZipEntry&, std::string)>& use) {
  const Utf8Names names;
  const ArchivePtr handle(archive_read_new());
  CHECK(handle != nullptr);
  archive_read_support_format_zip(handle.get());
  if (archive_read_open_memory(handle.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) {
    return InputError(fmt::format("{}: not a readable zip archive: {}", source, ReasonOf(handle.get())));
  }
  std::size_t total = 0;
  const std::size_t most = std::min(limits.total_bytes, MaxUnpackedBytes(bytes.size()));
  while (true) {
    struct archive_entry* raw = nullptr;
    const int status = archive_read_next_header(handle.get(), &raw);
    if (status == ARCHIVE_EOF) return {};
    if (status < ARCHIVE_WARN) {
      return InputError(fmt::format("{}: damaged zip archive: {}", source, ReasonOf(handle.get())));
    }
    if (archive_entry_filetype(raw) == AE_IFDIR) continue;
    const ZipEntry entry = EntryOf(raw);
    ASSIGN_OR_RETURN(const bool is_wanted, wanted(entry));
    if (!is_wanted) continue;
    const std::string place = fmt::format("{}:{}", source, ExcerptLine(entry.name, 200));
    const std::size_t left = most - total;
    const bool by_entry = limits.entry_bytes <= left;
    const Error too_large =
        by_entry ? TooLarge(place, "unpacks to", limits.entry_bytes) : TooLarge(source, "its entries unpack to", most);
    ASSIGN_OR_RETURN(std::string content,
                     ReadEntry(handle.get(), std::min(limits.entry_bytes, left), too_large, place));
    total += content.size();
    RETURN_IF_ERROR(use(entry, std::move(content)));
  }
}

Result<std::size_t> ReadZipEntries(std::string_view bytes, const std::string& source, const ArchiveLimits& limits,
                                   const std::function<bool(const std::string&)>& wanted,
                                   const std::function<Status(const std::string&, std::string)>& use) {
  std::size_t skipped = 0;
  RETURN_IF_ERROR(VisitZipEntries(
      bytes, source, limits,
      [&](const ZipEntry& entry) -> Result<bool> {
        if (entry.is_file && ContainedPath(".", entry.name)) return wanted(entry.name);
        ++skipped;
        return false;
      },
      [&](const ZipEntry& entry, std::string content) { return use(entry.name, std::move(content)); }));
  return skipped;
}

}  // namespace upskill
