// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "util/append_file.h"
#include "util/files.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// A file of JSON records that are found by their member "key": what was paid for is stored under the hash of what was
// asked, before it is used, so that the same steps after a kill find it and pay for nothing twice. Records stay in the
// file; only their keys and places are in memory. Of equal keys, the last record counts. Thread-safe, as long as it
// isn't moved.
class RecordStore {
 public:
  // Opens or creates the file, and locks it. A record torn by a crash is cut off; other lines that can't be read are
  // skipped. `visit`, which may be null, gets every record that is there, also those without a key.
  static Result<RecordStore> Open(const std::filesystem::path& path,
                                  const std::function<void(const Json& record)>& visit = nullptr);

  RecordStore(RecordStore&& other) noexcept
      : path_(std::move(other.path_)),
        file_(std::move(other.file_)),
        reader_(std::move(other.reader_)),
        places_(std::move(other.places_)) {}
  RecordStore& operator=(RecordStore&&) = delete;
  RecordStore(const RecordStore&) = delete;
  RecordStore& operator=(const RecordStore&) = delete;
  ~RecordStore() = default;

  bool Has(const std::string& key) const;
  // Nothing for an unknown key, and for a record that can't be read any more.
  std::optional<Json> Find(const std::string& key) const;
  // On the disk when it returns.
  Status Append(const Json& record);

 private:
  struct Place {
    std::int64_t offset = 0;
    std::size_t bytes = 0;
  };

  RecordStore(std::filesystem::path path, AppendFile file, Fd reader)
      : path_(std::move(path)), file_(std::move(file)), reader_(std::move(reader)) {}
  std::int64_t Size() const;

  std::filesystem::path path_;
  mutable std::mutex mutex_;  // guards the rest
  AppendFile file_;
  Fd reader_;
  std::unordered_map<std::string, Place> places_;
};

}  // namespace upskill
