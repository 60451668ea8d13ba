// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace upskill {

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): the same numbers on every machine for the same seed.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
  }

  double Uniform() { return static_cast<double>(Next() >> 11U) * 0x1.0p-53; }  // [0, 1)

 private:
  std::uint64_t state_;
};

// FNV-1a, 64 bits: a seed from text, equal on every machine. Not for security.
inline std::uint64_t SeedFromText(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hash;
}

}  // namespace upskill
