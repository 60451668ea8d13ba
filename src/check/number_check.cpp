// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "check/check_makers.h"
#include "check/text_checks.h"
#include "skill/unicode_text.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr double kDefaultTolerance = 1e-9;  // relative
constexpr std::size_t kMaxUnitBytes = 100;

// Whether a script writes its words without blanks, or joins short words to a number, so that a number needs none
// either: Hebrew, Arabic, Thai, Lao, Burmese, Khmer, Han, Kana, Hangul.
bool IsWrittenWithoutBlanks(char32_t c) {
  return (c >= 0x0590 && c < 0x0700) || (c >= 0x0E00 && c < 0x0F00) || (c >= 0x1000 && c < 0x10A0) ||
         (c >= 0x1100 && c < 0x1200) || (c >= 0x1780 && c < 0x1800) || (c >= 0x2E80 && c < 0xA000) ||
         (c >= 0xAC00 && c < 0xD800) || (c >= 0xF900 && c < 0xFB00) || (c >= 0xFF66 && c < 0xFFE0) || c >= 0x20000;
}

// Whether a character next to a number joins it, so that the number doesn't count on its own: a character of a word, or
// a ± before the number.
bool IsOfWord(std::string_view character) {
  if (character.size() == 1 && static_cast<unsigned char>(character.front()) < 0x80)
    return IsAsciiAlphanumeric(character.front()) || character.front() == '_';
  constexpr char32_t kPlusMinus = 0xB1;
  if (FindInvalidUtf8(character)) return true;
  const char32_t c = DecodeUtf8(character).front();
  return c == kPlusMinus || (IsAlphanumeric(c) && !IsWrittenWithoutBlanks(c));
}

bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

bool EndsInWord(std::string_view text) {
  if (text.empty()) return false;
  std::size_t begin = text.size() - 1;
  while (begin > 0 && Continues(text[begin]) && text.size() - begin < 4) --begin;
  return IsOfWord(text.substr(begin));
}

bool BeginsInWord(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && Continues(text[end])) ++end;
  return !text.empty() && IsOfWord(text.substr(0, end));
}

// A digit of another script as one of ASCII: Arabic, Persian, Devanagari, Bengali, Thai and so on.
char32_t WithAsciiDigit(char32_t c) {
  constexpr std::array<char32_t, 15> kZeros = {0x660, 0x6F0, 0x966, 0x9E6, 0xA66, 0xAE6,  0xBE6, 0xC66,
                                               0xCE6, 0xD66, 0xE50, 0xED0, 0xF20, 0x1040, 0x17E0};
  for (const char32_t zero : kZeros) {
    if (c >= zero && c <= zero + 9) return c - zero + '0';
  }
  return c;
}

// The text with digits of other scripts, full-width forms, minus signs and blanks of other widths as ASCII. A
// full-width comma separates numbers, unless three digits follow it.
std::string WithAsciiForms(std::string_view text) {
  constexpr char32_t kFullWidth = 0xFF00;
  constexpr char32_t kToAscii = 0xFEE0;
  constexpr char32_t kComma = 0xFF0C;
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return std::string(text);
  std::u32string all = DecodeUtf8(ReplaceInvalidUtf8(text));
  for (char32_t& c : all) {
    if (c > kFullWidth && c <= kFullWidth + 0x5E && c != kComma) c -= kToAscii;
    if (c == 0x3000 || c == 0xA0 || c == 0x2009 || c == 0x202F) c = ' ';
    if (c == 0x2212) c = '-';
    if (c == 0x66B) c = '.';
    if (c == 0x66C) c = ',';
    c = WithAsciiDigit(c);
  }
  const auto is_digit = [&](std::size_t at) { return at < all.size() && all[at] >= '0' && all[at] <= '9'; };
  for (std::size_t i = 1; i < all.size(); ++i) {
    const bool groups = is_digit(i - 1) && is_digit(i + 1) && is_digit(i + 2) && is_digit(i + 3) && !is_digit(i + 4);
    if (all[i] == kComma && groups) all[i] = ',';
  }
  return EncodeUtf8(all);
}

std::size_t DigitsAt(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && IsAsciiDigit(text[end])) ++end;
  return end - at;
}

// The exponent at `at`: "^3", "^{-3}", "³"; and its end. Empty if there is none.
std::pair<std::string, std::size_t> TakeExponent(std::string_view text, std::size_t at) {
  constexpr std::array<std::string_view, 12> kSuperscripts = {"⁰", "¹", "²", "³", "⁴", "⁵",
                                                              "⁶", "⁷", "⁸", "⁹", "⁻", "⁺"};
  constexpr std::string_view kMeanings = "0123456789-+";
  std::string exponent;
  if (at < text.size() && text[at] == '^') {
    const std::size_t open = text.substr(at + 1, 1).find_first_of("{(") == 0 ? 1 : 0;
    const std::size_t sign = text.substr(at + 1 + open, 1).find_first_of("-+") == 0 ? 1 : 0;
    const std::size_t begin = at + 1 + open;
    const std::size_t end = begin + sign + DigitsAt(text, begin + sign);
    return {std::string(text.substr(begin, end - begin)), end + open};
  }
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < kSuperscripts.size(); ++i) {
      if (!text.substr(std::min(at, text.size())).starts_with(kSuperscripts.at(i))) continue;
      exponent += kMeanings[i];
      at += kSuperscripts.at(i).size();
      more = true;
    }
  }
  return {exponent, at};
}

// The power of ten at `at`, which a number or nothing stands before: " × 10^3", "10³"; and its end. Empty if there is
// none.
std::pair<std::string, std::size_t> TakePowerOfTen(std::string_view text, std::size_t at, bool alone) {
  if (!alone) {
    std::string_view rest = text.substr(at);
    const auto skip_blanks = [&] { rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size())); };
    skip_blanks();
    const std::string_view before = rest;
    for (const std::string_view sign : {"×", "·", "⋅", "*", "x", "X", "\\times", "\\cdot"}) {
      if (before.starts_with(sign) && rest.size() == before.size()) rest.remove_prefix(sign.size());
    }
    if (rest.size() == before.size()) return {};
    skip_blanks();
    at = text.size() - rest.size();
  }
  constexpr std::string_view kTen = "10";
  if (text.substr(at, kTen.size()) != kTen) return {};
  auto [exponent, end] = TakeExponent(text, at + kTen.size());
  if (exponent.find_first_of("0123456789") == std::string::npos) return {};
  if (exponent.front() == '+') exponent.erase(0, 1);
  return {"e" + exponent, end};
}

// The hexadecimal number at `at`, in decimal digits, and its end. Empty if there is none.
std::pair<std::string, std::size_t> TakeHexadecimal(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) != "0x" && text.substr(at, 2) != "0X") return {};
  std::uint64_t value = 0;
  const char* const begin = text.data() + at + 2;
  const std::from_chars_result read = std::from_chars(begin, text.data() + text.size(), value, 16);
  if (read.ec != std::errc()) return {};
  return {fmt::format("{}", value), static_cast<std::size_t>(read.ptr - text.data())};
}

// Reads the number at `at`, which is a digit, or a point before one. Returns its digits without commas, and its end.
std::pair<std::string, std::size_t> TakeNumber(std::string_view text, std::size_t at) {
  if (auto hexadecimal = TakeHexadecimal(text, at); !hexadecimal.first.empty()) return hexadecimal;
  if (const auto power = TakePowerOfTen(text, at, true); !power.first.empty()) return {"1" + power.first, power.second};
  std::size_t end = at + DigitsAt(text, at);
  std::string digits(text.substr(at, end - at));
  const bool may_group = !digits.empty() && digits.size() <= 3;
  while (may_group && end < text.size() && text[end] == ',' && DigitsAt(text, end + 1) == 3) {
    digits += text.substr(end + 1, 3);
    end += 4;
  }
  if (end < text.size() && text[end] == '.' && DigitsAt(text, end + 1) > 0) {
    const std::size_t fraction = DigitsAt(text, end + 1);
    digits += text.substr(end, fraction + 1);
    end += fraction + 1;
  }
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    const std::size_t sign = end + 1 < text.size() && (text[end + 1] == '-' || text[end + 1] == '+') ? 1 : 0;
    if (const std::size_t exponent = DigitsAt(text, end + 1 + sign); exponent > 0) {
      digits += "e" + std::string(sign == 1 && text[end + 1] == '-' ? "-" : "");
      digits += text.substr(end + 1 + sign, exponent);
      end += 1 + sign + exponent;
      return {std::move(digits), end};
    }
  }
  if (const auto power = TakePowerOfTen(text, end, false); !power.first.empty())
    return {digits + power.first, power.second};
  return {std::move(digits), end};
}

// Whether a number may begin at `at`: not within a word or after a point ("sm_90", "v1.2.3").
bool MayBegin(std::string_view text, std::size_t at) {
  if (at == 0) return true;
  const char before = text[at - 1];
  if (before == '.') return at < 2 || !IsAsciiDigit(text[at - 2]);
  return !EndsInWord(text.substr(0, at));
}

bool IsNegative(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  // "3-5" is a range, and "x-5" a name or a difference.
  return before.ends_with('-') && (at < 2 || (!EndsInWord(text.substr(0, at - 1)) && text[at - 2] != ')'));
}

// Whether the number that ends at `at` stands on its own, with the unit if there is one.
bool MayEnd(std::string_view text, std::size_t at, std::string_view unit) {
  std::string_view after = text.substr(at);
  if (unit.empty()) {
    const bool version = after.size() > 1 && after[0] == '.' && IsAsciiDigit(after[1]);
    // A unit that is written against its number is none of the number's business, as in 12GB or 40µs.
    return !version && (after.empty() || (after[0] != '_' && !IsAsciiDigit(after[0])));
  }
  if (after.starts_with(' ')) after.remove_prefix(1);
  if (!after.starts_with(unit)) return false;
  after.remove_prefix(unit.size());
  return !EndsInWord(unit) || !BeginsInWord(after);
}

Result<std::optional<double>> NumberOption(const CheckSpec& spec, const char* key) {
  const Json* value = FindMember(spec.options, key);
  if (value == nullptr) return std::optional<double>();
  if (!value->is_number() || !std::isfinite(value->get<double>()))
    return InputError(fmt::format("{}: \"{}\" must be a number, not {}", spec.type, key, JsonTypeName(*value)));
  return std::optional<double>(value->get<double>());
}

class Number : public PartCheck {
 public:
  Number(CheckSubject subject, double low, double high, std::string unit)
      : PartCheck(std::move(subject)), low_(low), high_(high), unit_(std::move(unit)) {}

 private:
  std::string FindProblem(const CheckedPart& part) const override {
    const std::vector<double> numbers = NumbersIn(*part.text, unit_);
    if (numbers.empty()) return unit_.empty() ? "no number" : "no number before " + Quoted(unit_);
    if (numbers.back() >= low_ && numbers.back() <= high_) return "";
    return fmt::format("the last number{} is {}", unit_.empty() ? "" : " before " + Quoted(unit_), numbers.back());
  }

  double low_;
  double high_;
  std::string unit_;
};

struct Range {
  double low = -HUGE_VAL;
  double high = HUGE_VAL;
  std::string text;  // for display
};

Result<Range> RangeOf(const CheckSpec& spec) {
  ASSIGN_OR_RETURN(const std::optional<double> value, NumberOption(spec, "value"));
  ASSIGN_OR_RETURN(const std::optional<double> tolerance, NumberOption(spec, "tolerance"));
  ASSIGN_OR_RETURN(const std::optional<double> relative, NumberOption(spec, "relative_tolerance"));
  ASSIGN_OR_RETURN(const std::optional<double> minimum, NumberOption(spec, "minimum"));
  ASSIGN_OR_RETURN(const std::optional<double> maximum, NumberOption(spec, "maximum"));
  if (value.has_value() == (minimum || maximum))
    return InputError("number needs either a \"value\", or a \"minimum\" or \"maximum\"");
  if (tolerance.value_or(0.0) < 0.0 || relative.value_or(0.0) < 0.0)
    return InputError("number has a negative tolerance");
  Range range;
  if (value) {
    const double size = std::abs(*value);
    // A tolerance of 0 is one: exactly this number.
    const double within = tolerance || relative ? std::max(tolerance.value_or(0.0), relative.value_or(0.0) * size)
                                                : kDefaultTolerance * size;
    range = {*value - within, *value + within, fmt::format("{}", *value)};
    if (tolerance || relative) range.text += fmt::format(" ± {:.12g}", within);
    return range;
  }
  if (tolerance || relative) return InputError("number has a tolerance, but no \"value\"");
  if (minimum && maximum && *minimum > *maximum) return InputError("number has a \"minimum\" above its \"maximum\"");
  range.low = minimum.value_or(range.low);
  range.high = maximum.value_or(range.high);
  if (minimum) range.text = fmt::format("at least {}", *minimum);
  if (maximum) range.text += fmt::format("{}at most {}", minimum ? ", " : "", *maximum);
  return range;
}

}  // namespace

std::vector<double> NumbersIn(std::string_view source, std::string_view source_unit) {
  const std::string text = WithAsciiForms(source);
  const std::string unit = WithAsciiForms(source_unit);
  std::vector<double> numbers;
  for (std::size_t at = 0; at < text.size();) {
    const bool starts =
        IsAsciiDigit(text[at]) || (text[at] == '.' && at + 1 < text.size() && IsAsciiDigit(text[at + 1]));
    if (!starts || !MayBegin(text, at)) {
      ++at;
      // The rest of a word or of a number that doesn't stand on its own.
      while (starts && at < text.size() && IsAsciiDigit(text[at])) ++at;
      continue;
    }
    const auto [digits, end] = TakeNumber(text, at);
    double number = 0.0;
    const std::from_chars_result read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (read.ec == std::errc() && MayEnd(text, end, unit)) numbers.push_back(IsNegative(text, at) ? -number : number);
    at = end;
  }
  return numbers;
}

Result<std::unique_ptr<Check>> MakeNumber(const CheckSpec& spec, CaseParts& parts) {
  ASSIGN_OR_RETURN(const Range range, RangeOf(spec));
  std::string unit;
  if (const Json* stated = FindMember(spec.options, "unit")) {
    if (!stated->is_string() || stated->get_ref<const std::string&>().size() > kMaxUnitBytes)
      return InputError("number: \"unit\" must be a string of at most 100 bytes");
    unit = std::string(Trim(stated->get_ref<const std::string&>()));
  }
  const std::string expected = unit.empty() ? range.text : range.text + " " + ExcerptLine(unit, 20);
  return std::unique_ptr<Check>(
      std::make_unique<Number>(SubjectOf(spec, expected, parts), range.low, range.high, std::move(unit)));
}

}  // namespace upskill
