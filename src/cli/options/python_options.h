// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace upskill {

// Options of the Python tool of the same name that have no place in ours (docs/from-python.md).

// `--executor local` is what `eval`, `benchmark` and `generate` do anyway: accepted, and not shown in the help.
void AddExecutorOption(CLI::App& command);

// What to do instead of an option that only the Python tool has; nothing for other options.
std::optional<std::string> InsteadOfPythonOption(const std::string& option);

}  // namespace upskill
