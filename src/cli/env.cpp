// SPDX-License-Identifier: Apache-2.0
#include "cli/env.h"

#include <fmt/format.h>

#include "util/text.h"

namespace upskill {

ExitCode PrintError(Env& env, const Error& error) {
  env.error(fmt::format("error: {}\n", SafeForTerminal(error.message)));
  switch (error.kind) {
    case ErrorKind::kUnavailable:
      return ExitCode::kIncomplete;
    case ErrorKind::kCancelled:
      return ExitCode::kInterrupted;
    case ErrorKind::kInput:
    case ErrorKind::kNotFound:
    case ErrorKind::kIo:
    case ErrorKind::kPermanent:
      return ExitCode::kUsage;
  }
  return ExitCode::kUsage;
}

Style StyleFor(const Env& env, bool is_terminal, ColorMode mode) {
  Style style;
  style.columns = env.columns;
  const std::optional<std::string> no_color = env.variable("NO_COLOR");
  const bool forbidden = no_color && !no_color->empty();
  style.color = mode == ColorMode::kAlways || (mode == ColorMode::kAuto && is_terminal && !forbidden);
  return style;
}

}  // namespace upskill
