// SPDX-License-Identifier: Apache-2.0
#include "util/clock.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>

namespace upskill {

double SecondsBetween(Clock::Steady from, Clock::Steady to) { return std::chrono::duration<double>(to - from).count(); }

std::string UtcTimestamp(Clock::Wall time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

std::string FolderTimestamp(Clock::Wall time) {
  return fmt::format("{:%Y_%m_%d_%H_%M_%S}", fmt::localtime(std::chrono::system_clock::to_time_t(time)));
}

std::string DurationText(double seconds) {
  constexpr double kLongest = 1e12;  // infinity has no long long
  const auto total = static_cast<long long>(std::ceil(std::fmin(std::fmax(seconds, 0.0), kLongest)));
  if (total >= 3600) return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

}  // namespace upskill
