// SPDX-License-Identifier: Apache-2.0
#include "cli/options/option_checks.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "util/nearest_name.h"
#include "util/text.h"

namespace upskill {
namespace {

std::string_view WithoutPlus(std::string_view text) { return text.starts_with('+') ? text.substr(1) : text; }

std::optional<double> NumberOf(std::string_view text) {
  text = WithoutPlus(text);
  double value = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// ExplainUsage puts the option's name before it.
std::string MustBe(const std::string& expected, const std::string& text) {
  return fmt::format("must be {}, not '{}'", expected, text);
}

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

// How the name of a validator begins that OneOf has made.
constexpr std::string_view kNameList = "one of ";

const CLI::Validator* FirstValidatorOf(const CLI::Option& option) {
  try {
    return const_cast<CLI::Option&>(option).get_validator(0);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  } catch (const CLI::OptionNotFound&) {
    return nullptr;
  }
}

}  // namespace

CLI::Validator WholeNumber(std::int64_t min, std::int64_t max) {
  const auto check = [min, max](const std::string& text) {
    if (ParseWholeNumber(WithoutPlus(text), min, max)) return std::string();
    const bool bounded = max != std::numeric_limits<std::int64_t>::max();
    return MustBe(bounded ? fmt::format("a whole number from {} to {}", WithThousands(min), WithThousands(max))
                          : fmt::format("a whole number of at least {}", WithThousands(min)),
                  text);
  };
  return {check, ""};
}

CLI::Validator WholeNumber(std::int64_t min) { return WholeNumber(min, std::numeric_limits<std::int64_t>::max()); }

CLI::Validator Number(double min, double max) {
  const auto check = [min, max](const std::string& text) {
    const std::optional<double> value = NumberOf(text);
    if (value && *value >= min && *value <= max && std::isfinite(*value)) return std::string();
    return MustBe(std::isfinite(max) ? fmt::format("a number from {} to {}", min, max)
                                     : fmt::format("a number of at least {}", min),
                  text);
  };
  return {check, ""};
}

CLI::Validator Number(double min) { return Number(min, std::numeric_limits<double>::infinity()); }

CLI::Validator PositiveNumber() {
  const auto check = [](const std::string& text) {
    const std::optional<double> value = NumberOf(text);
    return value && *value > 0.0 && std::isfinite(*value) ? std::string() : MustBe("a positive number", text);
  };
  return {check, ""};
}

CLI::Validator OneOf(std::vector<std::string> names, std::map<std::string, std::string> former) {
  const std::string list = fmt::format("{}{}", kNameList, fmt::join(names, "|"));
  const auto check = [names = std::move(names), former = std::move(former)](std::string& text) {
    if (const auto found = former.find(text); found != former.end()) text = found->second;
    for (const std::string& name : names) {
      if (!EqualIgnoringCase(text, name)) continue;
      text = name;
      return std::string();
    }
    return MustBe(fmt::format("one of {}", fmt::join(names, ", ")), text) + DidYouMean(text, names);
  };
  return CLI::Validator(check, "", list);
}

std::vector<std::string> NamesAcceptedBy(const CLI::Option& option) {
  std::vector<std::string> names;
  // CLI11 gives validators out by their place only to those who may change them, and says where they end by throwing.
  const CLI::Validator* const validator = FirstValidatorOf(option);
  if (validator == nullptr || !validator->get_name().starts_with(kNameList)) return names;
  std::string_view list = std::string_view(validator->get_name()).substr(kNameList.size());
  while (!list.empty()) {
    const std::size_t end = std::min(list.find('|'), list.size());
    names.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

CLI::Validator Duration() {
  const auto check = [](std::string& text) {
    std::string_view number = text;
    double unit = 1.0;
    for (const auto& [letter, seconds] : {std::pair('s', 1.0), std::pair('m', 60.0), std::pair('h', 3600.0)}) {
      if (number.empty() || (number.back() != letter && number.back() != letter - 'a' + 'A')) continue;
      number.remove_suffix(1);
      unit = seconds;
      break;
    }
    const std::optional<double> value = NumberOf(Trim(number));
    constexpr double kMaxSeconds = 8760.0 * 3600.0;
    if (!value || !(*value > 0.0) || !(*value * unit <= kMaxSeconds))
      return MustBe("a time such as 90s, 10m or 2h, at most 8760h", text);
    text = fmt::format("{}", *value * unit);
    return std::string();
  };
  return {check, ""};
}

CLI::Validator Rate() {
  const auto check = [](std::string& text) {
    std::string_view number = Trim(text);
    const bool percent = number.ends_with('%');
    if (percent) number.remove_suffix(1);
    const std::optional<double> value = NumberOf(Trim(number));
    const bool is_rate = value && *value >= 0.0 && *value <= 100.0;  // not NaN
    if (!is_rate) return MustBe("a rate such as 40% or 0.4", text);
    if (!percent && *value == 1.0) return MustBe("written as 1% or 100%", text);
    text = fmt::format("{}", percent || *value > 1.0 ? *value / 100.0 : *value);
    return std::string();
  };
  return {check, ""};
}

void BeginGroup(CLI::App& command, const char* name) { command.option_defaults()->group(name); }

void AddColorOption(CLI::App& command, ColorMode& mode) {
  const auto take = [&mode](const std::string& when) {
    mode = when == "always" ? ColorMode::kAlways : when == "never" ? ColorMode::kNever : ColorMode::kAuto;
  };
  command.add_option_function<std::string>("--color", take, "Use colours: auto, always or never")
      ->transform(OneOf({"auto", "always", "never"}))
      ->default_str("auto")
      ->type_name("WHEN");
}

}  // namespace upskill
