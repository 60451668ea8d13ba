// SPDX-License-Identifier: Apache-2.0
#include "cli/env/own_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "util/files.h"
#include "util/text.h"

namespace upskill {

Result<std::optional<std::string>> ReadOwnFile(const std::filesystem::path& path, std::size_t max_bytes) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  const int open_error = errno;
  if (!fd.valid() && open_error == ENOENT) return std::optional<std::string>();
  if (!fd.valid() && open_error == ELOOP) return InputError("it is a link, not a file");
  if (!fd.valid()) return ErrnoError("reading", path, open_error);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return ErrnoError("reading", path, errno);
  if (!S_ISREG(status.st_mode)) return InputError("it is not a regular file");
  if (status.st_uid != ::geteuid() && status.st_uid != 0) return InputError("it belongs to another user");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return InputError(
        fmt::format("other users can change it; run chmod go-w {} if its content is yours", path.string()));
  std::string text;
  std::array<char, 4096> block{};
  while (true) {
    const ssize_t got = Uninterrupted([&] { return ::read(fd.get(), block.data(), block.size()); });
    if (got < 0) return ErrnoError("reading", path, errno);
    if (got == 0) return std::optional(std::move(text));
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > max_bytes) return InputError(fmt::format("it is larger than {}", BytesText(max_bytes)));
  }
}

}  // namespace upskill
