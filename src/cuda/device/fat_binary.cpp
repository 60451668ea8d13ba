// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/fat_binary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace upskill {
namespace {

constexpr std::uint32_t kMagic = 0xBA55ED50;
constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kEntryHeaderBytes = 64;
constexpr std::uint16_t kPtxKind = 1;
constexpr std::size_t kMaxEntries = 1000;
// Of an entry's header.
constexpr std::size_t kHeaderSizeAt = 4;
constexpr std::size_t kPayloadSizeAt = 8;
constexpr std::size_t kArchitectureAt = 28;
constexpr std::size_t kFlagsAt = 40;
constexpr std::uint64_t kCompressed = 0x2000 | 0x8000;  // with LZ4, with Zstandard

template <typename T>
T NumberAt(std::string_view bytes, std::size_t at) {
  T number{};
  std::memcpy(&number, bytes.data() + at, sizeof(T));
  return number;
}

std::string_view WithoutPadding(std::string_view text) {
  const std::size_t end = text.find('\0');
  text = text.substr(0, end);
  const std::size_t begin = text.find_first_not_of("\n\r\t ");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

Error Damaged(std::string_view what) { return InputError(fmt::format("the fat binary is damaged: {}", what)); }

}  // namespace

Result<std::vector<PtxImage>> PtxInFatBinary(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || NumberAt<std::uint32_t>(bytes, 0) != kMagic)
    return InputError("the device code isn't in a fat binary, as nvcc makes it");
  const auto header = NumberAt<std::uint16_t>(bytes, 6);
  const auto size = NumberAt<std::uint64_t>(bytes, 8);
  if (header < kHeaderBytes || header > bytes.size() || size > bytes.size() - header)
    return Damaged("its header states another size");
  std::string_view rest = bytes.substr(header, size);
  std::vector<PtxImage> images;
  for (std::size_t entries = 0; rest.size() >= kEntryHeaderBytes; ++entries) {
    if (entries == kMaxEntries) return Damaged(fmt::format("it has more than {} entries", kMaxEntries));
    const auto kind = NumberAt<std::uint16_t>(rest, 0);
    const auto entry_header = NumberAt<std::uint32_t>(rest, kHeaderSizeAt);
    const auto payload = NumberAt<std::uint64_t>(rest, kPayloadSizeAt);
    if (entry_header < kEntryHeaderBytes || entry_header > rest.size() || payload > rest.size() - entry_header)
      return Damaged(fmt::format("entry {} isn't inside of it", entries + 1));
    if (kind == kPtxKind) {
      const std::string_view text = WithoutPadding(rest.substr(entry_header, payload));
      if ((NumberAt<std::uint64_t>(rest, kFlagsAt) & kCompressed) != 0 || text.find(".version") == text.npos)
        return InputError("the PTX in the program is compressed; compile it with nvcc --no-compress");
      images.push_back({NumberAt<std::uint32_t>(rest, kArchitectureAt), text});
    }
    rest.remove_prefix(entry_header + payload);
  }
  return images;
}

Result<std::string_view> NewestPtx(std::string_view bytes) {
  ASSIGN_OR_RETURN(const std::vector<PtxImage> images, PtxInFatBinary(bytes));
  const auto newest = std::max_element(images.begin(), images.end(), [](const PtxImage& a, const PtxImage& b) {
    return a.architecture < b.architecture;
  });
  if (newest == images.end())
    return InputError("the program has no PTX: compile it with nvcc -gencode arch=compute_90a,code=compute_90a");
  return newest->text;
}

}  // namespace upskill
