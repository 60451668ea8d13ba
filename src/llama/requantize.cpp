// SPDX-License-Identifier: Apache-2.0
#include "llama/requantize.h"

#include <fmt/format.h>
#include <llama.h>

#include <exception>
#include <string>

#include "llama/engine_plugins.h"
#include "llama/library_log.h"
#include "util/folder.h"
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
    reason = e.what();
  }
  return Error{ErrorKind::kPermanent, fmt::format("converting {} to Q8_0: {}", source.string(),
                                                  reason.empty() ? "llama.cpp can't read or write it" : reason)};
}

}  // namespace

Status RequantizeToQ8(const std::filesystem::path& source, const std::filesystem::path& target) {
  CaptureLibraryLog();
  RETURN_IF_ERROR(LoadEnginePlugins());
  ASSIGN_OR_RETURN(TemporaryFile file, TemporaryFile::MakeFor(target));
  RETURN_IF_ERROR(Quantize(source, file.path().string()));
  return file.Publish();
}

}  // namespace upskill
