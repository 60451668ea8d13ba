// SPDX-License-Identifier: Apache-2.0
#include "skill/lineage.h"

#include <algorithm>
#include <cstdint>

#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 20U;
constexpr std::size_t kMaxIdBytes = 200;
constexpr int kMaxLooks = 1'000'000;

// Null if it can't be read.
Json ReadJson(const std::filesystem::path& file) {
  const Result<std::string> text = ReadFile(file, kMaxBytes);
  if (!text) return nullptr;
  Result<Json> json = ParseJson(*text, file.string());
  return json ? std::move(json).value() : Json(nullptr);
}

}  // namespace

std::string LineageOf(const std::filesystem::path& skill_folder) {
  const Json lineage = ReadJson(skill_folder / "lineage.json");
  std::string id = StringAt(lineage, "lineage");
  if (id.empty()) {
    const Json meta = ReadJson(skill_folder / "skill_meta.json");
    id = StringAt(Member(meta, "metadata"), "generation");
  }
  return id.size() <= kMaxIdBytes ? id : std::string();
}

int TestLooksOf(const std::filesystem::path& skill_folder) {
  const Json meta = ReadJson(skill_folder / "skill_meta.json");
  const Json& metadata = Member(meta, "metadata");
  const int measured = StringAt(metadata, "run").empty() ? 0 : 1;
  const Json& looks = Member(metadata, "test_looks");
  if (!looks.is_number_integer()) return measured;
  return static_cast<int>(std::clamp<std::int64_t>(looks.get<std::int64_t>(), 0, kMaxLooks));
}

}  // namespace upskill
