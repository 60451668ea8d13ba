// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace upskill {

// One entry of a fat binary, as nvcc lays it out. Kind 1: PTX, 2: machine code.
inline std::string FatBinaryEntry(std::uint16_t kind, std::uint32_t architecture, std::string_view content,
                                  std::uint64_t flags = 0x11) {
  const auto number = [](auto value) { return std::string(reinterpret_cast<const char*>(&value), sizeof(value)); };
  std::string payload(content);
  payload.resize((payload.size() + 8) / 8 * 8);
  std::string entry = number(kind) + number(std::uint16_t{0x0101}) + number(std::uint32_t{80}) +
                      number(std::uint64_t{payload.size()}) + std::string(12, '\0') + number(architecture) +
                      std::string(8, '\0') + number(flags);
  entry.resize(80);
  return entry + payload;
}

inline std::string FatBinaryOf(std::string_view entries) {
  const auto number = [](auto value) { return std::string(reinterpret_cast<const char*>(&value), sizeof(value)); };
  return number(std::uint32_t{0xBA55ED50}) + number(std::uint16_t{1}) + number(std::uint16_t{16}) +
         number(std::uint64_t{entries.size()}) + std::string(entries);
}

}  // namespace upskill
