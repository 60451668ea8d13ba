// SPDX-License-Identifier: Apache-2.0
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/env/env.h"
#include "cli/env/standard_streams.h"
#include "cli/machine/cuda_wing.h"
#include "llama/worker.h"
#include "llama/worker_process.h"
#include "util/clock.h"
#include "util/terminal_text.h"

namespace {

// Raised by SIGINT and SIGTERM, once to drain, twice to stop at once, and by SIGHUP, to drain. The one thing a signal
// handler may touch. After SIGTERM, nobody may be there to send a second signal, so an alarm takes its place.
upskill::StopFlag stop_flag = 0;

// The third signal doesn't wait for whatever ignores the flag. Files are complete or absent at any moment.
void OnSignal(int /*signal*/) {
  constexpr int kInterrupted = 130;
  if (stop_flag.fetch_add(1) >= 2) ::_exit(kInterrupted);
}

void OnTerminate(int signal) {
  constexpr unsigned kDrainSeconds = 5;
  OnSignal(signal);
  ::alarm(kDrainSeconds);
}

void OnAlarm(int /*signal*/) {
  int draining = 1;
  stop_flag.compare_exchange_strong(draining, 2);
}

// The terminal or the connection to it is gone: like the first SIGINT. The shell and the kernel may both say so, and
// nobody is there to ask for more than once.
void OnHangUp(int /*signal*/) {
  int running = 0;
  stop_flag.compare_exchange_strong(running, 1);
}

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  ::sigaction(signal, &action, nullptr);
}

// nohup has it ignored, and it stays so.
bool IgnoresHangUp() {
  struct sigaction before{};
  return ::sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

std::size_t TerminalColumns() {
  if (const char* columns = std::getenv("COLUMNS")) {
    const int number = std::atoi(columns);
    if (number >= 20) return static_cast<std::size_t>(number);
  }
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    winsize size{};
    if (::isatty(fd) == 1 && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) return size.ws_col;
  }
  return 100;
}

// Thousands of connections need more files than the usual soft limit allows.
void RaiseFileLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// The environment and the memory hold keys: they are neither dumped nor, unless by root, read by other processes, such
// as an MCP server. Children aren't affected.
void ProtectMemory() { ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == upskill::kWorkerArgument) return upskill::RunEngineWorker(argv[2]);
  if (const std::optional<int> code = upskill::RunAsDevice(argc, argv)) return *code;
  ProtectMemory();
  upskill::OccupyStandardDescriptors();
  RaiseFileLimit();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file as large as the user's limit allows is an error like a full disk
  Handle(SIGINT, OnSignal);
  Handle(SIGTERM, OnTerminate);
  Handle(SIGALRM, OnAlarm);
  if (!IgnoresHangUp()) Handle(SIGHUP, OnHangUp);

  const upskill::SystemClock clock;
  upskill::Env env;
  upskill::OutputStream out(STDOUT_FILENO, stop_flag);
  upskill::OutputStream error(STDERR_FILENO, stop_flag);
  env.out = [&](const upskill::TerminalText& text) { out.Write(text.text()); };
  env.error = [&](const upskill::TerminalText& text) { error.Write(text.text()); };
  env.out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  env.error_is_terminal = ::isatty(STDERR_FILENO) == 1;
  env.columns = TerminalColumns();
  env.variable = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
  std::error_code code;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", code);
  env.data_dir = self.parent_path().parent_path() / "share" / "upskill";
  env.program = self;
  env.set_up_model = UPSKILL_DEFAULT_MODEL;
  env.worker_program = "/proc/self/exe";
  env.clock = &clock;
  env.stop = &stop_flag;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const upskill::ExitCode exit_code = upskill::RunCommandLine(arguments, env);
  return static_cast<int>(upskill::FinishOutput(out, exit_code, env));
}
