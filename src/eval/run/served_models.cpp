// SPDX-License-Identifier: Apache-2.0
#include "eval/run/served_models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace upskill {

void ServedModels::Take(std::size_t student, const std::string& name, const std::string& served) {
  std::set<std::string>& reused = reused_[student];
  if (!reused.empty() && !reused.contains(served)) {
    caveats_.push_back(fmt::format(
        "{}: the server answers as '{}' now, but reused answers are by '{}'; a new run with --refresh asks again", name,
        served, fmt::join(reused, "', '")));
  }
  reused.clear();
}

}  // namespace upskill
