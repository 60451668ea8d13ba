// SPDX-License-Identifier: Apache-2.0
#include "util/base64.h"

#include <openssl/evp.h>

#include "util/invariant.h"

namespace upskill {

std::string EncodeBase64(std::string_view bytes) {
  std::string digits((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock ends it with a NUL
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(digits.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  CHECK(length + 1 == static_cast<int>(digits.size()));
  digits.pop_back();
  return digits;
}

std::string DecodeBase64(std::string_view text) {
  constexpr std::size_t kDigits = 4;  // of three bytes
  std::string digits;
  digits.reserve(text.size() + kDigits);
  for (const char c : text) {
    const bool alphanumeric = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (alphanumeric || c == '+' || c == '/') digits += c;
    if (c == '-') digits += '+';
    if (c == '_') digits += '/';
  }
  const std::size_t bytes = digits.size() * 3 / kDigits;
  digits.resize((digits.size() + kDigits - 1) / kDigits * kDigits, 'A');  // zero bits, cut off below
  std::string decoded(digits.size() / kDigits * 3, '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(decoded.data()),
                      reinterpret_cast<const unsigned char*>(digits.data()), static_cast<int>(digits.size()));
  CHECK(length == static_cast<int>(decoded.size()));
  decoded.resize(bytes);
  return decoded;
}

}  // namespace upskill
