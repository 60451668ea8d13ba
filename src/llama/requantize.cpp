// SPDX-License-Identifier: Apache-2.0
#include "llama/requantize.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <llama.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <string>

#include "llama/engine_plugins.h"
#include "llama/library_log.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

Status Quantize(const std::filesystem::path& source, const std::string& temporary) {
  llama_model_quantize_params params = llama_model_quantize_default_params();
  params.ftype = LLAMA_FTYPE_MOSTLY_Q8_0;
  params.allow_requantize = true;
  TakeLibraryError();
  std::string reason;
  try {
    llama_backend_init();
    if (llama_model_quantize(source.c_str(), temporary.c_str(), &params) == 0) return {};
    reason = TakeLibraryError();
  } catch (const std::exception& e) {
    reason = SafeForTerminalLine(e.what());
  }
  return Error{ErrorKind::kPermanent, fmt::format("converting {} to Q8_0: {}", SafeForTerminalLine(source.string()),
                                                  reason.empty() ? "llama.cpp can't read or write it" : reason)};
}

// Readable by all, and on the disk before it gets its name.
Status Publish(const Fd& fd, const std::string& temporary, const std::filesystem::path& target) {
  if (::fchmod(fd.get(), 0644) != 0 || ::fdatasync(fd.get()) != 0 || ::rename(temporary.c_str(), target.c_str()) != 0) {
    return ErrnoError("writing", target, errno);
  }
  return {};
}

}  // namespace

Status RequantizeToQ8(const std::filesystem::path& source, const std::filesystem::path& target) {
  CaptureLibraryLog();
  RETURN_IF_ERROR(LoadEnginePlugins());
  std::string temporary = (target.parent_path() / ("." + target.filename().string() + ".XXXXXX")).string();
  const Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return ErrnoError("writing", target, errno);
  Status status = Quantize(source, temporary);
  if (status) status = Publish(fd, temporary, target);
  if (!status) ::unlink(temporary.c_str());
  return status;
}

}  // namespace upskill
