// SPDX-License-Identifier: Apache-2.0
#include "sandbox/sandbox.h"

#include <fmt/format.h>
#include <unistd.h>

#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "sandbox/bubblewrap.h"
#include "sandbox/confined_process.h"
#include "sandbox/file_bundle.h"
#include "sandbox/refused_calls.h"
#include "util/child_environment.h"
#include "util/run_child.h"
#include "util/temp_folder.h"
#include "util/text.h"

namespace upskill {

namespace {

constexpr const char* kHint =
    "install bubblewrap and allow user name spaces, or, for suites that you trust, use --no-sandbox";

// By the user's own shell, with nothing but the limits of time and output; for those who have said so.
Result<SandboxOutcome> RunUnconfined(const SandboxOptions& options, const SandboxCommand& command) {
  ASSIGN_OR_RETURN(const TempFolder workspace, TempFolder::Make("upskill-workspace-"));
  for (const auto& [name, content] : command.files) {
    RETURN_IF_ERROR(ContainedPath(workspace.path(), name));
    workspace.Write(name, content);
  }
  std::vector<std::string> environment = ChildEnvironment();
  environment =
      WithVariable(std::move(environment), "PATH", fmt::format("{}", fmt::join(SearchedFolders(options), ":")));
  for (const std::string& variable : command.variables) environment.push_back(variable);
  ChildLimits limits;
  limits.time = command.limits.time;
  limits.output_bytes = command.limits.output_bytes;
  limits.error_bytes = command.limits.output_bytes;
  limits.stopped = [stop = command.stop] { return stop != nullptr && stop->load() > 1; };
  const auto before = std::chrono::steady_clock::now();
  environment = WithVariable(std::move(environment), "UPSKILL_CHECK_COMMAND", command.command);
  const std::string line = fmt::format("cd '{}' && exec sh -c \"$UPSKILL_CHECK_COMMAND\"", workspace.path().string());
  ASSIGN_OR_RETURN(ChildOutcome child, RunChild(line, std::move(environment), "", limits));
  SandboxOutcome outcome;
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  outcome.exit_code = child.exit_code;
  outcome.output = std::move(child.output);
  outcome.error = std::move(child.error_tail);
  switch (child.ending) {
    case ChildOutcome::Ending::kExited:
      break;
    case ChildOutcome::Ending::kTimeLimit:
      outcome.ending = SandboxOutcome::Ending::kTimeLimit;
      break;
    case ChildOutcome::Ending::kOutputLimit:
      outcome.ending = SandboxOutcome::Ending::kOutputLimit;
      break;
    case ChildOutcome::Ending::kStopped:
      outcome.ending = SandboxOutcome::Ending::kStopped;
      break;
  }
  return outcome;
}

}  // namespace

struct Sandbox::State {
  explicit State(SandboxOptions given) : options(std::move(given)), filter(FilterOfSandbox()) {}

  Result<ConfinedOutcome> Run(const SandboxCommand& command) const {
    ASSIGN_OR_RETURN(const Fd files, TarOfFiles(command.files));
    Fd filter_file;
    if (!filter.empty()) {
      ASSIGN_OR_RETURN(filter_file, MemoryFile(filter));
    }
    const std::vector<std::string> words = ConfinedCommandLine(options, command, filter_file.valid(), ::geteuid() == 0);
    return RunConfined(words, files, filter_file, command.limits, command.stop);
  }

  Status Try() const {
    SandboxCommand command;
    command.command = "true";
    command.limits.time = std::chrono::seconds(10);
    const Result<ConfinedOutcome> run = Run(command);
    if (!run.ok()) {
      return Error{ErrorKind::kInput, fmt::format("there is no sandbox: {}; {}", run.error().message, kHint)};
    }
    const SandboxOutcome& outcome = run.value().outcome;
    if (run.value().started && outcome.ending == SandboxOutcome::Ending::kExited && outcome.exit_code == 0) return {};
    return Error{ErrorKind::kInput, fmt::format("there is no sandbox: {}; {}", WhyNot(outcome), kHint)};
  }

  static std::string WhyNot(const SandboxOutcome& outcome) {
    const std::string_view error = Trim(outcome.error);
    if (!error.empty()) return ExcerptLine(error, 200);
    if (outcome.ending != SandboxOutcome::Ending::kExited) return "bubblewrap takes too long";
    return fmt::format("bubblewrap ends with exit code {}", outcome.exit_code);
  }

  SandboxOptions options;
  std::string filter;
  std::once_flag tried;
  Status available;
};

Sandbox::Sandbox(SandboxOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Sandbox::~Sandbox() = default;

bool Sandbox::confined() const { return state_->options.confined; }

Status Sandbox::Available() const {
  if (!confined()) return {};
  std::call_once(state_->tried, [this] { state_->available = state_->Try(); });
  return state_->available;
}

bool Sandbox::HasProgram(const std::string& name) const {
  for (const std::string& folder : SearchedFolders(state_->options)) {
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    std::error_code code;
    if (std::filesystem::is_regular_file(file, code) && ::access(file.c_str(), X_OK) == 0) return true;
  }
  return false;
}

Result<SandboxOutcome> Sandbox::Run(const SandboxCommand& command) const {
  if (!confined()) return RunUnconfined(state_->options, command);
  RETURN_IF_ERROR(Available());
  // Where the machine has no process or memory to spare at the moment, it may have some a little later.
  constexpr int kAttempts = 4;
  for (int attempt = 1;; ++attempt) {
    Result<ConfinedOutcome> confined = state_->Run(command);
    if (confined.ok() && confined.value().started) return std::move(confined.value().outcome);
    if (attempt < kAttempts) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200 * attempt));
      continue;
    }
    if (!confined.ok()) return confined.error();
    return Error{ErrorKind::kPermanent,
                 fmt::format("the sandbox could not be made: {}", State::WhyNot(confined.value().outcome))};
  }
}

const Sandbox& DefaultSandbox() {
  static const Sandbox sandbox{SandboxOptions{}};
  return sandbox;
}

}  // namespace upskill
