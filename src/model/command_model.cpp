// SPDX-License-Identifier: Apache-2.0
#include "model/command_model.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "model/command_output.h"
#include "model/request_text.h"
#include "util/error_cause.h"
#include "util/run_child.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kDefaultCommands = 4;
constexpr int kMaxCommands = 64;
constexpr std::size_t kNameColumns = 40;
constexpr int kCannotExecute = 126;  // and 127, not found; of every shell
constexpr std::size_t kShownLineColumns = 300;

class CommandModel : public Model {
 public:
  CommandModel(CommandModelOptions options, ModelInfo info)
      : options_(std::move(options)), info_(std::move(info)), line_(ShellCommandOf(options_.command)) {
    for (int i = 0; i < options_.parallel; ++i) {
      threads_.emplace_back([this](const std::stop_token& stop) { Work(stop); });
    }
  }
  ~CommandModel() override {
    for (std::jthread& thread : threads_) thread.request_stop();
    CommandModel::Cancel(CancelScope::kRunning);
  }
  CommandModel(const CommandModel&) = delete;
  CommandModel& operator=(const CommandModel&) = delete;

  const ModelInfo& info() const override { return info_; }
  int Window() const override { return options_.parallel; }

  void Start(ChatRequest request, Done done) override {
    if (!request.tools.empty()) {
      return done(Error{ErrorKind::kPermanent, fmt::format("model '{}' can't call tools", info_.name)});
    }
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back({std::move(request), std::move(done)});
    }
    wake_.notify_one();
  }

  void Cancel(CancelScope scope) override {
    std::deque<Job> dropped;
    {
      const std::lock_guard lock(mutex_);
      dropped.swap(waiting_);
      if (scope == CancelScope::kRunning) ++cancelled_;
    }
    for (const Job& job : dropped) job.done(Error{ErrorKind::kCancelled, "cancelled"});
  }

 private:
  struct Job {
    ChatRequest request;
    Done done;
  };

  void Work(const std::stop_token& stop) {
    while (true) {
      Job job;
      std::uint64_t started = 0;
      {
        std::unique_lock lock(mutex_);
        if (!wake_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
        if (stop.stop_requested()) return;
        job = std::move(waiting_.front());
        waiting_.pop_front();
        started = cancelled_;
      }
      job.done(Answer(std::move(job.request), started, stop));
    }
  }

  Result<ChatResponse> Answer(ChatRequest request, std::uint64_t started, const std::stop_token& stop) {
    ChildLimits limits;
    limits.time = options_.time_limit;
    limits.output_bytes = options_.output_limit;
    limits.stopped = [&] { return stop.stop_requested() || cancelled_ != started; };
    const auto begin = std::chrono::steady_clock::now();
    const Result<ChildOutcome> outcome = RunChild(line_, options_.environment, RequestText(std::move(request)), limits);
    if (!outcome) return outcome.error();
    Result<ChatResponse> response = Read(*outcome);
    if (response) {
      response->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      return response;
    }
    Error error = response.error();
    if (error.kind == ErrorKind::kCancelled) return error;
    error.message = fmt::format("command `{}`{} {}", options_.command, error.message.starts_with("failed ") ? "" : ":",
                                error.message);
    if (const std::string line = LastLine(outcome->error_tail, kShownLineColumns); !line.empty())
      error.message += fmt::format("; the last line of its standard error: {}", line);
    return error;
  }

  Result<ChatResponse> Read(const ChildOutcome& outcome) const {
    using Ending = ChildOutcome::Ending;
    if (outcome.ending == Ending::kStopped) return Error{ErrorKind::kCancelled, "cancelled"};
    if (outcome.ending == Ending::kTimeLimit) {
      const double seconds = std::chrono::duration<double>(options_.time_limit).count();
      return Error{ErrorKind::kUnavailable,
                   fmt::format("no answer within {:g} s ($UPSKILL_COMMAND_TIMEOUT sets another limit)", seconds)};
    }
    if (outcome.ending == Ending::kOutputLimit)
      return Error{ErrorKind::kPermanent, fmt::format("its output exceeds {}", BytesText(options_.output_limit))}
          .Because(ErrorCause::kTooLong);
    Result<ChatResponse> response = ReadCommandOutput(outcome.output);
    if (outcome.exit_code == 0) return response;
    const bool no_command = outcome.exit_code == kCannotExecute || outcome.exit_code == kCannotExecute + 1;
    std::string message = fmt::format("failed with exit status {}", outcome.exit_code);
    // What it printed may say more than the status.
    if (const std::string line = LastLine(outcome.output, kShownLineColumns); !line.empty())
      message += response ? fmt::format("; the last line that it printed: {}", line) : "; " + response.error().message;
    Error error{no_command ? ErrorKind::kPermanent : ErrorKind::kUnavailable, message};
    error = error.Because(ErrorCause::kCommand);
    error.used_usd = response ? response->cost_usd.value_or(0.0) : response.error().used_usd;
    error.used_tokens = response ? response->usage.prompt() + response->usage.output : response.error().used_tokens;
    return error;
  }

  const CommandModelOptions options_;
  const ModelInfo info_;
  const std::string line_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Job> waiting_;                  // guarded by mutex_
  std::atomic<std::uint64_t> cancelled_{0};  // how often the running ones were; changed under mutex_
  std::vector<std::jthread> threads_;        // last: they use everything above
};

}  // namespace

std::string ShellCommandOf(const std::string& command) {
  // `exec` doesn't take assignments (A=1 command) or reserved words; with these, or anything that a shell has to
  // interpret, the shell stays.
  constexpr std::string_view kShellSyntax = "|&;<>()$`\\\n*?[]#~=%{}!";
  const std::string_view trimmed = Trim(command);
  if (trimmed.empty() || trimmed.find_first_of(kShellSyntax) != std::string_view::npos) return command;
  const std::string_view first = trimmed.substr(0, trimmed.find_first_of(" \t"));
  const auto starts = [&](std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), first) != words.end();
  };
  if (starts({"if", "while", "until", "for", "case", "exec", "eval", "cd", "read", "set", "test", "true", "false", ":",
              ".", "echo", "printf"}))
    return command;
  return fmt::format("exec {}", trimmed);
}

Status CheckCommandExists(const std::string& command, const std::vector<std::string>& environment) {
  constexpr std::string_view kExec = "exec ";
  constexpr std::string_view kPath = "PATH=";
  const std::string line = ShellCommandOf(command);
  if (!line.starts_with(kExec) || line == command) return {};
  const std::string_view rest = std::string_view(line).substr(kExec.size());
  const std::string program(rest.substr(0, rest.find_first_of(" \t")));
  if (program.find_first_of("'\"") != std::string::npos) return {};
  const auto is_program = [](const std::string& file) {
    std::error_code code;
    return std::filesystem::is_regular_file(file, code) && ::access(file.c_str(), X_OK) == 0;
  };
  bool found = program.find('/') != std::string::npos && is_program(program);
  for (const std::string& variable : environment) {
    if (!variable.starts_with(kPath) || program.find('/') != std::string::npos) continue;
    for (std::size_t from = kPath.size(); from <= variable.size();) {
      const std::size_t end = std::min(variable.find(':', from), variable.size());
      const std::string folder = variable.substr(from, end - from);
      found = found || is_program((folder.empty() ? "." : folder) + "/" + program);
      from = end + 1;
    }
  }
  if (found) return {};
  return Error{ErrorKind::kNotFound,
               fmt::format("command `{}`: there is no program {}", ExcerptLine(command, 80), ExcerptLine(program, 80))};
}

std::unique_ptr<Model> MakeCommandModel(CommandModelOptions options) {
  options.parallel = options.parallel > 0 ? std::min(options.parallel, kMaxCommands) : kDefaultCommands;
  ModelInfo info;
  info.name = "cmd:" + CutToColumns(ExcerptLine(options.command, kNameColumns), kNameColumns);
  info.identity = "cmd:1:" + options.command;
  info.detail = fmt::format("a command, {} at once", options.parallel);
  info.price = options.price;
  info.bounded = false;
  return std::make_unique<CommandModel>(std::move(options), std::move(info));
}

}  // namespace upskill
