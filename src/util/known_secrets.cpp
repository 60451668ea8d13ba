// SPDX-License-Identifier: Apache-2.0
#include "util/known_secrets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "util/base64.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMinLength = 8;
constexpr std::string_view kMask = "***";

// What begins the code of one character. A text without it has no pattern that needs it: most have none.
constexpr std::array<std::string_view, 3> kEscapes = {"\\u00", "&#", "%"};

struct Pattern {
  explicit Pattern(std::string form) : text(std::move(form)) {
    while (escape < kEscapes.size() && text.find(kEscapes.at(escape)) == std::string::npos) ++escape;
  }
  std::string text;
  std::size_t escape = 0;  // the index of the one in it, kEscapes.size(): none
};

using Patterns = std::vector<Pattern>;  // longest first

struct KnownSecrets {
  std::mutex mutex;
  std::set<std::string, std::less<>> values;
  std::shared_ptr<const Patterns> patterns =
      std::make_shared<Patterns>();  // replaced as a whole, so readers can keep it
};

KnownSecrets& Known() {
  static KnownSecrets known;
  return known;
}

std::shared_ptr<const Patterns> KnownPatterns() {
  KnownSecrets& known = Known();
  const std::lock_guard lock(known.mutex);
  return known.patterns;
}

// `e` alone makes no word: 1e10 is a number.
bool IsSearchedFor(std::string_view text) {
  return text.size() >= kMinLength &&
         std::any_of(text.begin(), text.end(), [](char c) { return IsAsciiLetter(c) && c != 'e' && c != 'E'; });
}

std::string PercentEncoded(std::string_view text, bool upper_case) {
  constexpr std::string_view kPlain = "-._~";  // RFC 3986, section 2.3
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (IsAsciiAlphanumeric(c) || kPlain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += upper_case ? fmt::format("%{:02X}", byte) : fmt::format("%{:02x}", byte);
    }
  }
  return encoded;
}

std::string JsonEscaped(std::string_view text, bool with_slash) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\' || (with_slash && c == '/')) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// As encoders escape it that think of HTML, such as Go's: `&`, `<` and `>` as well.
std::string JsonEscapedForHtml(std::string_view text) {
  std::string escaped;
  for (const char c : JsonEscaped(text, false)) {
    const bool special = c == '&' || c == '<' || c == '>';
    escaped += special ? fmt::format("\\u{:04x}", static_cast<unsigned>(c)) : std::string(1, c);
  }
  return escaped;
}

std::string HtmlEscaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    constexpr std::array<std::pair<char, std::string_view>, 4> kEntities = {
        {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}}};
    const auto* const entity =
        std::find_if(kEntities.begin(), kEntities.end(), [c](const auto& e) { return e.first == c; });
    escaped += entity == kEntities.end() ? std::string(1, c) : std::string(entity->second);
  }
  return escaped;
}

// The digits that `text` certainly gives when it is encoded with `before` other bytes in front of it, whatever they and
// the bytes after it are.
std::string Base64Digits(std::string_view text, std::size_t before) {
  const std::string digits = EncodeBase64(std::string(before, '\0') + std::string(text));
  const std::size_t first = (before * 8 + 5) / 6;
  const std::size_t end = (before + text.size()) * 8 / 6;
  return digits.substr(first, end - first);
}

// Each byte of `text` in a format such as "%{:02x}".
std::string EachByte(std::string_view text, fmt::format_string<unsigned> format) {
  std::string all;
  for (const char c : text) all += fmt::format(format, static_cast<unsigned>(static_cast<unsigned char>(c)));
  return all;
}

void AddForms(const std::string& value, std::set<std::string>& forms) {
  forms.insert(value);
  for (const bool flag : {false, true}) {
    const std::string percent = PercentEncoded(value, flag);
    const std::string json = JsonEscaped(value, flag);
    forms.insert({percent, PercentEncoded(percent, flag), json, JsonEscaped(json, flag)});
  }
  forms.insert({JsonEscapedForHtml(value), JsonEscaped(JsonEscapedForHtml(value), false)});
  forms.insert({HtmlEscaped(value), HtmlEscaped(HtmlEscaped(value))});
  forms.insert({EachByte(value, "{:02x}"), EachByte(value, "{:02X}"), EachByte(value, "%{:02x}"),
                EachByte(value, "%{:02X}"), EachByte(value, "%25{:02x}"), EachByte(value, "%25{:02X}"),
                EachByte(value, "\\u{:04x}"), EachByte(value, "\\u{:04X}"), EachByte(value, "\\\\u{:04x}"),
                EachByte(value, "\\\\u{:04X}"), EachByte(value, "&#{};"), EachByte(value, "&#x{:x};"),
                EachByte(value, "&#x{:X};"), EachByte(value, "&amp;#{};")});
  for (const std::size_t before : {0U, 1U, 2U}) {
    std::string digits = Base64Digits(value, before);
    forms.insert(digits);
    std::replace(digits.begin(), digits.end(), '+', '-');  // the URL-safe alphabet
    std::replace(digits.begin(), digits.end(), '/', '_');
    forms.insert(std::move(digits));
  }
}

std::size_t Find(std::string_view text, std::string_view pattern, std::size_t from) {
  if (text.size() - from < pattern.size()) return std::string_view::npos;
  const void* const found = ::memmem(text.data() + from, text.size() - from, pattern.data(), pattern.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

// Looks for the escapes in a text once for all patterns.
class TextEscapes {
 public:
  explicit TextEscapes(std::string_view text) {
    for (std::size_t i = 0; i < kEscapes.size(); ++i) has_.at(i) = Find(text, kEscapes.at(i), 0) != text.npos;
  }
  bool MayHave(const Pattern& pattern) const { return has_.at(pattern.escape); }

 private:
  std::array<bool, kEscapes.size() + 1> has_ = {false, false, false, true};
};

bool HasAny(std::string_view text, const Patterns& patterns) {
  const TextEscapes escapes(text);
  return std::any_of(patterns.begin(), patterns.end(), [&](const Pattern& pattern) {
    return escapes.MayHave(pattern) && Find(text, pattern.text, 0) != std::string_view::npos;
  });
}

std::string Masked(std::string text, const Patterns& patterns) {
  const TextEscapes escapes(text);
  for (const Pattern& pattern : patterns) {
    if (!escapes.MayHave(pattern)) continue;
    std::size_t at = Find(text, pattern.text, 0);
    if (at == std::string_view::npos) continue;
    std::string masked;
    std::size_t from = 0;
    for (; at != std::string_view::npos; at = Find(text, pattern.text, from)) {
      masked.append(text, from, at - from).append(kMask);
      from = at + pattern.text.size();
    }
    text = std::move(masked.append(text, from));
  }
  return text;
}

// How many bytes at the end of `text` may be the start of a secret.
std::size_t StartAtEnd(std::string_view text, const Patterns& patterns) {
  std::size_t longest = 0;
  for (const Pattern& pattern : patterns) {
    const std::string_view form = pattern.text;
    for (std::size_t length = std::min(form.size() - 1, text.size()); length > longest; --length) {
      if (form[length - 1] == text.back() && text.ends_with(form.substr(0, length))) longest = length;
    }
  }
  return longest;
}

}  // namespace

void RememberSecret(const Secret& secret) {
  const std::string& value = secret.reveal();
  if (!IsSearchedFor(value)) return;
  KnownSecrets& known = Known();
  const std::lock_guard lock(known.mutex);
  if (!known.values.insert(value).second) return;
  std::set<std::string> forms;
  for (const std::string& each : known.values) AddForms(each, forms);
  auto patterns = std::make_shared<Patterns>(forms.begin(), forms.end());
  std::stable_sort(patterns->begin(), patterns->end(),
                   [](const Pattern& a, const Pattern& b) { return a.text.size() > b.text.size(); });
  known.patterns = std::move(patterns);
}

bool HasKnownSecret(std::string_view text) { return HasAny(text, *KnownPatterns()); }

std::string MaskSecrets(std::string text) { return Masked(std::move(text), *KnownPatterns()); }

Json WithoutKnownSecrets(Json value) {
  if (value.is_string()) {
    std::string& text = value.get_ref<std::string&>();
    if (HasKnownSecret(text)) text = MaskSecrets(std::move(text));
  } else if (value.is_structured()) {
    for (Json& member : value) member = WithoutKnownSecrets(std::move(member));
  }
  return value;
}

std::string_view SecretStreamMask::Feed(std::string_view piece) {
  const std::shared_ptr<const Patterns> patterns = KnownPatterns();
  if (piece.empty()) return piece;
  if (kept_.empty() && !HasAny(piece, *patterns) && StartAtEnd(piece, *patterns) == 0) return piece;
  shown_ = Masked(std::exchange(kept_, {}) + std::string(piece), *patterns);
  const std::size_t kept = StartAtEnd(shown_, *patterns);
  kept_ = shown_.substr(shown_.size() - kept);
  shown_.resize(shown_.size() - kept);
  return shown_;
}

std::string_view SecretStreamMask::Rest() {
  shown_ = std::exchange(kept_, {});
  return shown_;
}

}  // namespace upskill
