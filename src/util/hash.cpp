// SPDX-License-Identifier: Apache-2.0
#include "util/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <memory>

#include "util/invariant.h"

namespace upskill {

struct StreamingHash::Context {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> evp{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

StreamingHash::StreamingHash(Kind kind) : context_(std::make_unique<Context>()) {
  CHECK(context_->evp != nullptr);
  CHECK(EVP_DigestInit_ex(context_->evp.get(), kind == Kind::kSha256 ? EVP_sha256() : EVP_sha1(), nullptr) == 1);
}

StreamingHash::~StreamingHash() = default;
StreamingHash::StreamingHash(StreamingHash&& other) noexcept = default;
StreamingHash& StreamingHash::operator=(StreamingHash&& other) noexcept = default;

void StreamingHash::Add(std::string_view bytes) {
  CHECK(EVP_DigestUpdate(context_->evp.get(), bytes.data(), bytes.size()) == 1);
}

std::string StreamingHash::Hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  CHECK(EVP_DigestFinal_ex(context_->evp.get(), digest.data(), &length) == 1);
  std::string out;
  for (unsigned int i = 0; i < length; ++i) out += fmt::format("{:02x}", digest.at(i));
  return out;
}

std::string Sha256Hex(std::string_view bytes) {
  StreamingHash hash(StreamingHash::Kind::kSha256);
  hash.Add(bytes);
  return hash.Hex();
}

}  // namespace upskill
