// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace upskill {

// A checksum of an index of a journal, against damage: each word of eight bytes is mixed in, however the bytes are cut
// into pieces. It keeps nobody from making one up.
class IndexChecksum {
 public:
  void Add(const char* bytes, std::size_t size) {
    for (; size > 0 && pending_ > 0; ++bytes, --size) Put(*bytes);
    for (; size >= sizeof(std::uint64_t); bytes += sizeof(std::uint64_t), size -= sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes, sizeof word);
      value_ = Mixed(value_, word);
    }
    for (; size > 0; ++bytes, --size) Put(*bytes);
  }
  std::uint64_t value() const {
    std::uint64_t value = value_;
    for (std::size_t i = 0; i < pending_; ++i) value = Mixed(value, static_cast<unsigned char>(word_[i]));
    return value;
  }

 private:
  static std::uint64_t Mixed(std::uint64_t value, std::uint64_t word) {
    value = (value ^ word) * 0x9E3779B97F4A7C15ULL;
    return value ^ (value >> 29U);
  }
  void Put(char byte) {
    word_[pending_++] = byte;
    if (pending_ < word_.size()) return;
    std::uint64_t word = 0;
    std::memcpy(&word, word_.data(), sizeof word);
    value_ = Mixed(value_, word);
    pending_ = 0;
  }

  std::uint64_t value_ = 0xCBF29CE484222325ULL;
  std::array<char, sizeof(std::uint64_t)> word_{};  // that isn't complete yet
  std::size_t pending_ = 0;                         // bytes of it
};

}  // namespace upskill
