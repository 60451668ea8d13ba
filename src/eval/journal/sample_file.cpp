// SPDX-License-Identifier: Apache-2.0
#include "eval/journal/sample_file.h"

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "eval/journal/sample_line.h"

namespace upskill {

Result<Sample> SampleFile::Read(std::uint64_t offset, std::uint32_t bytes) const {
  std::string line(bytes, '\0');
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t got = Uninterrupted(
        [&] { return ::pread(fd_.get(), line.data() + done, line.size() - done, static_cast<off_t>(offset + done)); });
    if (got < 0) return ErrnoError("reading", path_, errno);
    if (got == 0) return Error{ErrorKind::kIo, path_.string() + ": became shorter while it was read"};
    done += static_cast<std::size_t>(got);
  }
  return SampleFromLine(line).With(path_.string() + ": changed while it was read");
}

}  // namespace upskill
