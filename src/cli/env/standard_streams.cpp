// SPDX-License-Identifier: Apache-2.0
#include "cli/env/standard_streams.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "util/files.h"

namespace upskill {

void OccupyStandardDescriptors() {
  // With the wrong access: what is written to a closed descriptor is lost, and must be reported as such.
  for (const auto& [fd, access] :
       {std::pair{STDIN_FILENO, O_WRONLY}, std::pair{STDOUT_FILENO, O_RDONLY}, std::pair{STDERR_FILENO, O_RDONLY}}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is taken. In a container without /dev, a folder serves as well.
    if (::open("/dev/null", access) < 0 && ::open("/", O_RDONLY | O_DIRECTORY) < 0) ::_exit(2);
  }
}

void OutputStream::Write(std::string_view text) {
  while (error_ == 0 && !text.empty()) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN || errno == EINTR) {
      if (!WaitForRoom()) error_ = ECANCELED;
    } else {
      error_ = errno;
    }
  }
}

bool OutputStream::WaitForRoom() const {
  constexpr int kLookMs = 500;  // at the flag, which a signal may set just before poll waits
  pollfd waited{fd_, POLLOUT, 0};
  while (stop_->load() < 2) {
    const int ready = ::poll(&waited, 1, kLookMs);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
  return false;
}

Status OutputStream::Finish() {
  // Some file systems report a full disk only now.
  if (::close(fd_) != 0 && error_ == 0 && errno != EINTR && errno != EBADF) error_ = errno;
  if (error_ == 0 || error_ == EPIPE || error_ == ECONNRESET) return {};
  return ErrnoError("writing", "standard output", error_);
}

ExitCode FinishOutput(OutputStream& out, ExitCode code, const Env& env) {
  const Status finished = out.Finish();
  if (finished) return code;
  env.error(TerminalText::Format("error: {}\n", finished.error().message));
  return code == ExitCode::kSuccess ? ExitCode::kUsage : code;
}

}  // namespace upskill
