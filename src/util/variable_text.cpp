// SPDX-License-Identifier: Apache-2.0
#include "util/variable_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::string_view kBegin = "${";

// Calls `text_part` and `variable` for what the text consists of.
Status Walk(std::string_view text, const std::function<void(std::string_view)>& text_part,
            const std::function<Status(const std::string&)>& variable) {
  while (true) {
    const std::size_t begin = text.find(kBegin);
    text_part(text.substr(0, begin));
    if (begin == std::string_view::npos) return {};
    text.remove_prefix(begin + kBegin.size());
    const std::size_t end = text.find('}');
    if (end == std::string_view::npos || !IsVariableName(text.substr(0, end)))
      return InputError("\"${\" must be followed by the name of an environment variable and \"}\"");
    RETURN_IF_ERROR(variable(std::string(text.substr(0, end))));
    text.remove_prefix(end + 1);
  }
}

}  // namespace

bool IsVariableName(std::string_view name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_plain = [&](char c) { return IsAsciiLetter(c) || is_digit(c) || c == '_'; };
  return !name.empty() && !is_digit(name.front()) && std::all_of(name.begin(), name.end(), is_plain);
}

Result<std::vector<std::string>> VariablesIn(std::string_view text) {
  std::vector<std::string> names;
  RETURN_IF_ERROR(Walk(
      text, [](std::string_view) {},
      [&](const std::string& name) -> Status {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        return {};
      }));
  return names;
}

Result<std::string> WithVariables(std::string_view text,
                                  const std::function<std::optional<std::string>(const std::string& name)>& value_of) {
  std::string filled;
  RETURN_IF_ERROR(Walk(
      text, [&](std::string_view part) { filled += part; },
      [&](const std::string& name) -> Status {
        const std::optional<std::string> value = value_of(name);
        if (!value) return InputError(fmt::format("the environment variable {} is not set", name));
        filled += *value;
        return {};
      }));
  return filled;
}

}  // namespace upskill
