// SPDX-License-Identifier: Apache-2.0
#include "util/child_environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "util/known_secrets.h"
#include "util/secret.h"
#include "util/text.h"

namespace upskill {
namespace {

// Those that the SDKs of the Model Context Protocol pass to a server (HOME to USER), and those that programs need to
// find their files and to print text.
constexpr std::array<std::string_view, 13> kInherited = {
    "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LANGUAGE", "LC_*", "TMPDIR", "TZ", "XDG_*", "COLUMNS"};

bool Matches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool IsNamed(std::string_view variable, std::string_view name) {
  return variable.size() > name.size() && variable.starts_with(name) && variable[name.size()] == '=';
}

bool IsNameOfSecret(std::string_view name) {
  return ContainsAny(ToLowerAscii(name), {"key", "token", "secret", "pass", "credential", "auth"});
}

}  // namespace

std::vector<std::string> ChildEnvironment(std::initializer_list<std::string_view> more) {
  std::vector<std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos) continue;
    const auto matches = [name = variable.substr(0, equals)](std::string_view pattern) {
      return Matches(pattern, name);
    };
    const bool wanted =
        std::any_of(kInherited.begin(), kInherited.end(), matches) || std::any_of(more.begin(), more.end(), matches);
    // bash exports functions as values that start with `()`: code that a shell would run.
    if (wanted && !variable.substr(equals + 1).starts_with("()")) environment.emplace_back(variable);
  }
  return environment;
}

std::vector<std::string> WithVariable(std::vector<std::string> environment, std::string_view name,
                                      std::string_view value) {
  if (IsNameOfSecret(name)) RememberSecret(Secret(std::string(value)));
  std::erase_if(environment, [&](const std::string& variable) { return IsNamed(variable, name); });
  environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

}  // namespace upskill
