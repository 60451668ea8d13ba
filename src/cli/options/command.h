// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

// Whether a command may show or use what is secret: then all keys are read first, so that none is printed.
enum class Keys { kRead, kNone };

// A command of the program; each room lists its own in its commands.h.
struct Command {
  std::vector<std::string> names;  // none if it looks at all commands
  std::function<void(CLI::App&)> declare;
  std::function<ExitCode(const CLI::App&, Env&)> run;
  Keys keys = Keys::kRead;
};

// A command as its two functions: one declares its options, the other runs it with them.
template <typename Options, typename Run>
Command CommandOf(std::vector<std::string> names, void (*add)(CLI::App&, Options&), Run run, Keys keys = Keys::kRead) {
  const auto options = std::make_shared<Options>();
  return {std::move(names), [=](CLI::App& app) { add(app, *options); },
          [=](const CLI::App& app, Env& env) {
            if constexpr (std::is_invocable_v<Run, const Options&, Env&>) {
              return run(*options, env);
            } else {
              return run(app, *options, env);
            }
          },
          keys};
}

}  // namespace upskill
