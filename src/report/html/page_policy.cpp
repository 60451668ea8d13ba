// SPDX-License-Identifier: Apache-2.0
#include "report/html/page_policy.h"

#include <fmt/format.h>

#include "util/hash.h"

namespace upskill {
namespace {

std::string Base64OfHex(const std::string& hex) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  unsigned count = 0;
  for (const char c : hex) {
    bits = (bits << 4U | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10)) & 0xFFFFU;
    count += 4;
    if (count < 6) continue;
    count -= 6;
    out += kDigits[bits >> count & 63U];
  }
  if (count > 0) out += kDigits[bits << (6U - count) & 63U];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

}  // namespace

std::string PagePolicy(std::string_view style, std::string_view script) {
  const auto hash = [](std::string_view text) { return Base64OfHex(Sha256Hex(text)); };
  const std::string scripts = script.empty() ? "" : fmt::format("script-src 'sha256-{}'; ", hash(script));
  return fmt::format("default-src 'none'; img-src data:; style-src 'sha256-{}'; {}base-uri 'none'; form-action 'none'",
                     hash(style), scripts);
}

}  // namespace upskill
