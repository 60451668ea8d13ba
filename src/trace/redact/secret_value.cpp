// SPDX-License-Identifier: Apache-2.0
#include "trace/redact/secret_value.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "util/text.h"

namespace upskill {
namespace {

std::size_t Turns(std::string_view value) {
  std::size_t turns = 0;
  for (std::size_t i = 1; i < value.size(); ++i) turns += IsUpperChar(value[i]) != IsUpperChar(value[i - 1]) ? 1 : 0;
  return turns;
}

// "Attention", "fp8", "sm90a", "2024", "v2", "getValue".
bool IsWord(std::string_view part) {
  constexpr std::size_t kMaxDigits = 4;
  const auto digits = static_cast<std::size_t>(std::count_if(part.begin(), part.end(), IsDigitChar));
  if (digits == part.size()) return digits <= kMaxDigits || part.size() == 6 || part.size() == 8;
  // Digits are at an end, but for some letters: "base64url", "sm90a".
  const std::size_t first = std::min(part.find_first_of("0123456789"), part.size());
  const std::size_t last = digits == 0 ? part.size() : part.find_last_of("0123456789");
  if (digits > 0 && (digits > kMaxDigits || last - first + 1 != digits || part.size() > 12)) return false;
  if (first > 0 && last + 4 < part.size()) return false;
  constexpr std::size_t kMaxWord = 24;
  constexpr std::size_t kMaxCamelCase = 48;
  return part.size() < (Turns(part) > 1 ? kMaxCamelCase : kMaxWord) && !HasRandomCase(part);
}

bool IsFormOfOneCharacter(std::string_view value) {
  constexpr std::size_t kMaxOther = 3;
  std::array<std::size_t, 256> counts{};
  std::size_t most = 0;
  for (const char c : value) most = std::max(most, ++counts.at(static_cast<unsigned char>(c)));
  return (value.size() >= 8 && most + kMaxOther >= value.size()) || most * 3 > value.size() * 2;
}

// "$NAME", "${NAME:-x}", "$(command)", "$env:NAME", "%NAME%", "{{ name }}", "{name}", "%s", "<name>", "[name]".
bool IsReference(std::string_view value) {
  const std::size_t size = value.size();
  const char first = value.front();
  const char last = value.back();
  const auto is_name = [](std::string_view text) {
    return !text.empty() && !IsDigitChar(text.front()) && std::all_of(text.begin(), text.end(), [](char c) {
      return IsAlnumChar(c) || c == '_' || c == ':' || c == '.';
    });
  };
  if (first == '$' && size > 1) {
    if (value[1] == '{' || value[1] == '(') return true;
    // A password may begin with a dollar sign, but a variable's name holds no other marks and is a word.
    if (is_name(value.substr(1)) && (!HasDigit(value) || IsMadeOfWords(value.substr(1)))) return true;
  }
  if (first == '%' && (last == '%' || size < 3 || value[1] == '(')) return true;
  if ((first == '<' && last == '>') || (first == '[' && last == ']') || (first == '{' && last == '}')) return true;
  if (value.substr(0, 2) == "{{" || value.substr(0, 2) == "<%") return true;
  for (const auto& [open, close] : {std::pair{"${", "}"}, std::pair{"{{", "}}"}, std::pair{"$(", ")"}}) {
    const std::size_t at = value.find(open);
    if (at != std::string_view::npos && value.find(close, at) != std::string_view::npos) return true;
  }
  // A part of a format: "prefix-{name}".
  const std::size_t open = value.find('{');
  const std::size_t close = value.find('}', open == std::string_view::npos ? size : open);
  return close != std::string_view::npos && is_name(value.substr(open + 1, close - open - 1));
}

// "module.name", "ns::Name", "object->name", "b64encode": names of a program, which have at most one number in a part.
bool IsNamePath(std::string_view value) {
  if (value.empty() || IsDigitChar(value.front())) return false;
  std::size_t begin = 0;
  while (begin <= value.size()) {
    const std::size_t end = std::min(value.find_first_of("_.:>-?", begin), value.size());
    const std::string_view part = value.substr(begin, end - begin);
    const std::size_t first = std::min(part.find_first_of("0123456789"), part.size());
    const std::size_t last = first == part.size() ? first : part.find_last_of("0123456789") + 1;
    if (HasRandomCase(part) ||
        part.substr(first, last - first).find_first_not_of("0123456789") != std::string_view::npos)
      return false;
    begin = end + 1;
  }
  return true;
}

// "name(...", "name[...", "name.name", "name->name", "!name", "&name", "lambda:": not a literal.
bool IsCode(std::string_view value) {
  std::size_t i = 0;
  while (i < value.size() && (value[i] == '!' || value[i] == '*' || value[i] == '&' || value[i] == '@')) ++i;
  const std::size_t name = i;
  bool dotted = false;
  while (i < value.size() &&
         (IsAlnumChar(value[i]) || value[i] == '_' || value[i] == '.' || value[i] == ':' ||
          (value[i] == '-' && value.substr(i, 2) == "->") || (value[i] == '>' && i > 0 && value[i - 1] == '-') ||
          (value[i] == '?' && value.substr(i, 2) == "?."))) {
    dotted = dotted || value[i] == '.' || value[i] == ':' || value[i] == '>';
    ++i;
  }
  const std::string_view head = value.substr(name, i - name);
  if (value.front() == '(' || value.front() == '{' || value.front() == '[' || value.front() == '<') return true;
  if (head.empty() || IsDigitChar(head.front())) return false;
  if (i == value.size()) return dotted && IsNamePath(head);
  if (value[i] == '<') return IsNamePath(head);
  if (value[i] != '(' && value[i] != '[') return false;
  // A call or subscript goes to the end of the value, which may have been cut at a quote or comma.
  const char close = value[i] == '(' ? ')' : ']';
  const std::size_t end = value.rfind(close);
  if (end == std::string_view::npos) return IsNamePath(head) && value.find_first_of("^#$!") == std::string_view::npos;
  const std::string_view rest = value.substr(end + 1);
  return IsNamePath(head) &&
         (rest.empty() || std::string_view(".[(;:)]}?").find(rest.front()) != std::string_view::npos);
}

// A regular expression that describes a secret.
bool IsPattern(std::string_view value) {
  if (value.front() == '^' && value.back() == '$') return true;
  for (const std::string_view part : {"[a-z", "[A-Z", "[0-9", "[a-f", "[^", "\\d", "\\w", "\\s", "(?"}) {
    if (value.find(part) != std::string_view::npos) return true;
  }
  return false;
}

bool IsWordOf(std::string_view lower) {
  constexpr std::array kPlaceholderWords = {
      std::string_view("none"),     std::string_view("null"),      std::string_view("true"),
      std::string_view("false"),    std::string_view("undefined"), std::string_view("string"),
      std::string_view("str"),      std::string_view("required"),  std::string_view("optional"),
      std::string_view("password"), std::string_view("secret"),    std::string_view("token"),
      std::string_view("changeme"), std::string_view("todo"),      std::string_view("nil"),
      std::string_view("empty"),    std::string_view("missing"),   std::string_view("invalid"),
      std::string_view("expired"),  std::string_view("bearer"),    std::string_view("basic"),
      std::string_view("object"),   std::string_view("integer"),   std::string_view("boolean"),
      std::string_view("number"),   std::string_view("prompt"),    std::string_view("default"),
      std::string_view("example"),  std::string_view("auto"),      std::string_view("disabled"),
      std::string_view("enabled"),  std::string_view("masked"),    std::string_view("hidden"),
      std::string_view("username"), std::string_view("email"),     std::string_view("unset"),
      std::string_view("unknown"),  std::string_view("bytes"),     std::string_view("char"),
      std::string_view("const"),    std::string_view("return"),    std::string_view("async"),
      std::string_view("await"),    std::string_view("function"),
  };
  return std::find(kPlaceholderWords.begin(), kPlaceholderWords.end(), lower) != kPlaceholderWords.end();
}

}  // namespace

bool HasDigit(std::string_view value) { return std::any_of(value.begin(), value.end(), IsDigitChar); }

bool HasLetter(std::string_view value) { return std::any_of(value.begin(), value.end(), IsLetterChar); }

double Entropy(std::string_view value) {
  std::array<double, 256> counts{};
  for (const char c : value) counts.at(static_cast<unsigned char>(c)) += 1;
  double bits = 0;
  const auto size = static_cast<double>(value.size());
  for (const double count : counts) {
    if (count > 0) bits -= count / size * std::log2(count / size);
  }
  return bits;
}

bool HasRandomCase(std::string_view value) { return value.size() >= 16 && Turns(value) * 10 >= (value.size() - 1) * 4; }

bool IsMixed(std::string_view value) { return (HasDigit(value) && HasLetter(value)) || HasRandomCase(value); }

bool IsMadeOfWords(std::string_view value) {
  std::size_t begin = 0;
  while (begin <= value.size()) {
    const std::size_t end = std::min(value.find_first_of("_-.:/>?", begin), value.size());
    if (end > begin && !IsWord(value.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return true;
}

bool IsDigest(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) { return IsHexChar(c) || c == '-'; });
}

bool LooksRandom(std::string_view value, std::size_t least) {
  constexpr double kMinEntropy = 2.8;
  return value.size() >= least && IsMixed(value) && Entropy(value) >= kMinEntropy && !IsMadeOfWords(value);
}

bool IsPlaceholder(std::string_view value, bool quoted) {
  if (value.empty() || IsFormOfOneCharacter(value) || IsReference(value) || IsPattern(value)) return true;
  if (!quoted && IsCode(value)) return true;
  const std::string lower = ToLowerAscii(value);
  for (const std::string_view word :
       {"os.environ", "process.env", "getenv", "redacted", "xxxx", "your_", "your-", "placeholder", "example.",
        "secrets.", "****", "1234567890abcdef1234567890abcdef", "...."}) {
    if (lower.find(word) != std::string::npos) return true;
  }
  return IsWordOf(lower);
}

bool LooksLikePassword(std::string_view value, bool strong, bool quoted) {
  if (value.size() < 4 || IsPlaceholder(value, quoted)) return false;
  // Paths, addresses and numbers.
  if (value.front() == '/' || value.front() == '~' || value.substr(0, 2) == "./" ||
      value.find("://") != std::string_view::npos) {
    return false;
  }
  if (!HasLetter(value) && value.size() < 10 && (value.find_first_not_of("0123456789.,:%") == std::string_view::npos))
    return false;
  if (value.find("->") != std::string_view::npos) return false;
  const bool word = std::all_of(value.begin(), value.end(), IsLetterChar);
  if (!word) return true;
  const std::string lower = ToLowerAscii(value);
  return strong && value.size() >= 6 && lower.find("password") == std::string::npos &&
         lower.find("passwd") == std::string::npos;
}

bool LooksLikeKeyPiece(std::string_view text) {
  constexpr std::size_t kMaxTurnsOfWords = 5;
  return (HasDigit(text) && HasLetter(text)) || Turns(text) > kMaxTurnsOfWords;
}

}  // namespace upskill
