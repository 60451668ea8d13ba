// SPDX-License-Identifier: Apache-2.0
#include "cli/env/env.h"

namespace upskill {

ExitCode PrintError(Env& env, const Error& error) {
  env.error(TerminalText::Format("error: {}\n", TerminalText::EscapeIndented(error.message)));
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

void PrintWarning(const Env& env, std::string_view warning) {
  env.error(TerminalText::Format("warning: {}\n", TerminalText::EscapeIndented(warning)));
}

void PrintDocument(const Env& env, const std::string& document) {
  env.out(env.out_is_terminal ? TerminalText::Escape(document) : TerminalText::Trusted(document));
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
