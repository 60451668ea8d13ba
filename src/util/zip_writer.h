// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "util/result.h"

namespace upskill {

// Puts files into a zip archive (APPNOTE.TXT 6.3.10) in memory: uncompressed and with fixed times and modes, so that
// equal files in the same order give equal bytes everywhere. Not thread-safe.
class ZipWriter {
 public:
  // The most files, and bytes of the whole archive, without the extensions of the format ("zip64").
  static constexpr std::size_t kMaxFiles = 0xFFFF;
  static constexpr std::uint64_t kMaxBytes = 0xFFFFFFFF;

  // `name`: UTF-8, relative, with `/` between its parts; the caller sees to it that it is there once. Errors (kInput):
  // the archive would have more than kMaxFiles or kMaxBytes, or the name more than 65,535 bytes.
  Status Add(std::string_view name, std::string_view content, bool executable = false);

  // The archive. Call it once, at the end.
  std::string Finish() &&;

 private:
  std::string bytes_;
  std::string directory_;
  std::size_t files_ = 0;
};

}  // namespace upskill
