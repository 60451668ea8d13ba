// SPDX-License-Identifier: Apache-2.0
#include "util/record_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace upskill {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30U;

std::string KeyOfRecord(const Json& record) { return record.is_object() ? StringAt(record, "key") : ""; }

}  // namespace

Result<RecordStore> RecordStore::Open(const std::filesystem::path& path,
                                      const std::function<void(const Json& record)>& visit) {
  // Opening it locks it: another process may have written to it until then.
  ASSIGN_OR_RETURN(AppendFile file, AppendFile::Open(path, true));
  ASSIGN_OR_RETURN(Fd reader, OpenRegularFile(path));
  ASSIGN_OR_RETURN(const std::string stored, ReadFile(path, kMostBytes));
  RecordStore store(path, std::move(file), std::move(reader));
  for (std::size_t begin = 0; begin < stored.size();) {
    const std::size_t end = std::min(stored.find('\n', begin), stored.size());
    const Result<Json> record = ParseJson(std::string_view(stored).substr(begin, end - begin), path.string());
    if (record.ok()) {
      if (visit) visit(*record);
      if (std::string key = KeyOfRecord(*record); !key.empty())
        store.places_[std::move(key)] = {static_cast<std::int64_t>(begin), end - begin};
    }
    begin = end + 1;
  }
  return store;
}

bool RecordStore::Has(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  return places_.contains(key);
}

std::optional<Json> RecordStore::Find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(key);
  if (found == places_.end()) return std::nullopt;
  std::string text(found->second.bytes, '\0');
  std::size_t got = 0;
  while (got < text.size()) {
    const ssize_t more = Uninterrupted([&] {
      return ::pread(reader_.get(), text.data() + got, text.size() - got,
                     found->second.offset + static_cast<std::int64_t>(got));
    });
    if (more <= 0) return std::nullopt;
    got += static_cast<std::size_t>(more);
  }
  Result<Json> record = ParseJson(text, path_.string());
  if (!record.ok() || KeyOfRecord(*record) != key) return std::nullopt;
  return *std::move(record);
}

std::int64_t RecordStore::Size() const {
  struct stat info{};
  return ::fstat(reader_.get(), &info) == 0 ? info.st_size : -1;
}

Status RecordStore::Append(const Json& record) {
  const std::lock_guard lock(mutex_);
  // What is written isn't quite the text: known secrets are masked.
  const std::int64_t before = Size();
  RETURN_IF_ERROR(file_.Append(DumpJson(record) + "\n"));
  RETURN_IF_ERROR(file_.Sync());
  const std::int64_t after = Size();
  if (before < 0 || after <= before) return ErrnoError("reading", path_, errno);
  if (const std::string key = KeyOfRecord(record); !key.empty())
    places_[key] = {before, static_cast<std::size_t>(after - before - 1)};
  return {};
}

}  // namespace upskill
