// SPDX-License-Identifier: Apache-2.0
#include "llama/gguf_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "util/hash.h"

namespace upskill {
namespace {

constexpr std::string_view kFirstPart = "-00001-of-00000.gguf";

// The number of parts if `name` is that of a first part; else 1.
int PartsOf(std::string_view name) {
  if (name.size() < kFirstPart.size()) return 1;
  const std::string_view tail = name.substr(name.size() - kFirstPart.size());
  constexpr std::size_t kCountAt = 10;
  int count = 0;
  for (std::size_t i = 0; i < tail.size(); ++i) {
    const bool is_count = i >= kCountAt && i < kCountAt + 5;
    if (is_count ? tail[i] < '0' || tail[i] > '9' : tail[i] != kFirstPart[i]) return 1;
    if (is_count) count = count * 10 + (tail[i] - '0');
  }
  return std::max(count, 1);
}

}  // namespace

Result<std::string> HashGguf(const std::filesystem::path& path, const FileHashOptions& options) {
  const std::string name = path.filename().string();
  const int parts = PartsOf(name);
  if (parts == 1) return HashFile(path, options);
  std::string hashes;
  const std::string stem = name.substr(0, name.size() - kFirstPart.size());
  for (int part = 1; part <= parts; ++part) {
    const std::string part_name = fmt::format("{}-{:05}-of-{:05}.gguf", stem, part, parts);
    ASSIGN_OR_RETURN(const std::string hash, HashFile(path.parent_path() / part_name, options));
    hashes += hash + "\n";
  }
  return Sha256Hex(hashes);
}

}  // namespace upskill
