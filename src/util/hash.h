// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace upskill {

// SHA-256 (FIPS 180-4) as 64 lowercase hex digits.
std::string Sha256Hex(std::string_view bytes);

// A hash over bytes that arrive in pieces. SHA-1 is only for names that git assigns. Not thread-safe.
class StreamingHash {
 public:
  enum class Kind { kSha256, kSha1 };

  explicit StreamingHash(Kind kind);
  ~StreamingHash();
  StreamingHash(StreamingHash&& other) noexcept;
  StreamingHash& operator=(StreamingHash&& other) noexcept;
  StreamingHash(const StreamingHash&) = delete;
  StreamingHash& operator=(const StreamingHash&) = delete;

  void Add(std::string_view bytes);
  std::string Hex();  // lowercase; call once, nothing can be added afterwards

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace upskill
