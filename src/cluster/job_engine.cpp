// SPDX-License-Identifier: Apache-2.0
#include "cluster/job_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/text.h"

namespace upskill {

Result<JobOption> ParseJobOption(std::string_view text) {
  std::string_view rest = text;
  while (rest.starts_with('-')) rest.remove_prefix(1);
  const std::size_t equals = rest.find('=');
  const std::string_view name = rest.substr(0, equals);
  const bool fits = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  const bool has_control = std::any_of(rest.begin(), rest.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (!fits || has_control) {
    return InputError(
        fmt::format("--job-option '{}': expected NAME or NAME=VALUE, for example gres=gpu:1", ExcerptLine(text, 60)));
  }
  JobOption option{std::string(name), std::nullopt};
  if (equals != std::string_view::npos) option.value = std::string(rest.substr(equals + 1));
  return option;
}

bool IsArrayName(std::string_view name) {
  constexpr std::size_t kLongestLabel = 63;  // of Kubernetes
  return name.starts_with("upskill-") && name.size() <= kLongestLabel &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

}  // namespace upskill
