// SPDX-License-Identifier: Apache-2.0
#include "cli/skills/workflow_command.h"

#include <fmt/format.h>

#include "util/text.h"

namespace upskill {
namespace {

// The text of a command, or one of its properties, which may not hold ':' and ',' either.
std::string WorkflowText(std::string_view text, bool property) {
  std::string escaped;
  for (const char c : SafeForTerminal(text)) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    if (special) {
      escaped += fmt::format("%{:02X}", static_cast<unsigned>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string WorkflowCommand(std::string_view command, std::string_view file, std::size_t line, std::size_t column,
                            std::string_view message) {
  std::string place = line > 0 ? fmt::format(",line={}", line) : "";
  if (column > 0) place += fmt::format(",col={}", column);
  return fmt::format("::{} file={}{}::{}\n", command, WorkflowText(file, true), place, WorkflowText(message, false));
}

}  // namespace upskill
