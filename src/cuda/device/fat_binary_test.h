// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace upskill {

template <typename T>
void AppendNumber(T number, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// One entry of a fat binary, as nvcc lays it out. Kind 1: PTX, 2: machine code.
inline std::string FatBinaryEntry(std::uint16_t kind, std::uint32_t architecture, std::string_view content,
                                  std::uint64_t flags = 0x11) {
  std::string payload(content);
  payload.resize((payload.size() + 8) / 8 * 8);
  std::string entry;
  AppendNumber(kind, entry);
  AppendNumber(std::uint16_t{0x0101}, entry);
  AppendNumber(std::uint32_t{80}, entry);
  AppendNumber(std::uint64_t{payload.size()}, entry);
  entry.append(12, '\0');
  AppendNumber(architecture, entry);
  entry.append(8, '\0');
  AppendNumber(flags, entry);
  entry.resize(80);
  return entry + payload;
}

inline std::string FatBinaryOf(std::string_view entries) {
  std::string bytes;
  AppendNumber(std::uint32_t{0xBA55ED50}, bytes);
  AppendNumber(std::uint16_t{1}, bytes);
  AppendNumber(std::uint16_t{16}, bytes);
  AppendNumber(std::uint64_t{entries.size()}, bytes);
  bytes += entries;
  return bytes;
}

}  // namespace upskill
