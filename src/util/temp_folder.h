// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "util/files.h"
#include "util/invariant.h"
#include "util/result.h"

namespace upskill {

// Owns a new folder under the system's temporary folder and removes it with all its content. Move-only.
class TempFolder {
 public:
  // The folder's name starts with `prefix`.
  static Result<TempFolder> Make(const std::string& prefix) {
    std::error_code code;
    std::string name = (std::filesystem::temp_directory_path(code) / (prefix + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) return ErrnoError("making a temporary folder", name, errno);
    return TempFolder(name);
  }
  // For tests, which can't continue without the folder.
  TempFolder() : TempFolder(Make("upskill-test-").value()) {}
  ~TempFolder() {
    std::error_code code;
    if (!path_.empty()) std::filesystem::remove_all(path_, code);
  }
  TempFolder(TempFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TempFolder& operator=(TempFolder&&) = delete;
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Writes a file in the folder, creating the folders on its path.
  std::filesystem::path Write(const std::string& name, std::string_view content) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary);
    out << content;
    CHECK(out.flush().good());
    return file;
  }

 private:
  explicit TempFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace upskill
