// SPDX-License-Identifier: Apache-2.0
#include "llama/llama_model.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <system_error>

#include "llama/decoding_speed.h"
#include "llama/engine.h"
#include "llama/engine_plugins.h"
#include "llama/gguf_hash.h"
#include "llama/library_log.h"
#include "util/files.h"
#include "util/processors.h"
#include "util/text.h"

namespace upskill {
namespace {

// Increase when a newer engine would answer the same request differently.
constexpr int kEngineVersion = 4;

// Up to this size a file is read instead of mapped: where its weights are stored in another order, both would be in
// memory.
constexpr std::uintmax_t kLargestRead = std::uintmax_t{1} << 30U;

llama_model_params LoadParameters(const std::filesystem::path& path, LifeSigns* life) {
  llama_model_params params = llama_model_default_params();
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (!error && bytes <= kLargestRead) params.load_mode = LLAMA_LOAD_MODE_NONE;
  if (life == nullptr) return params;
  params.progress_callback = [](float /*progress*/, void* signs) {
    static_cast<LifeSigns*>(signs)->Beat();
    return true;
  };
  params.progress_callback_user_data = life;
  return params;
}

Status LooksLikeGguf(const std::filesystem::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return ErrnoError("reading model", path, errno);
  std::array<char, 4> magic{};
  const ssize_t got = ::read(fd.get(), magic.data(), magic.size());
  if (got < 0) return ErrnoError("reading model", path, errno);
  if (got != 4 || std::string_view(magic.data(), 4) != "GGUF") {
    return InputError(fmt::format("model {} is not a GGUF file", path.string()));
  }
  return {};
}

}  // namespace

Result<std::string> IdentifyGguf(const std::filesystem::path& path, const FileHashOptions& hashing) {
  RETURN_IF_ERROR(LooksLikeGguf(path));
  return HashGguf(path, hashing);
}

std::string IdentityOfGguf(const std::string& sha256) { return fmt::format("llama:{}:{}", kEngineVersion, sha256); }

Result<std::unique_ptr<Model>> LoadLlamaModel(const LlamaOptions& options) {
  CaptureLibraryLog();
  RETURN_IF_ERROR(LoadEnginePlugins());
  std::string sha256 = options.sha256;
  if (sha256.empty()) {
    ASSIGN_OR_RETURN(sha256, IdentifyGguf(options.path, options.hashing));
  }
  const std::string shown = options.path.string();
  const auto failed = [&](const std::string& why) {
    return Error{ErrorKind::kPermanent, fmt::format("model {}: {}", shown, why)};
  };
  TakeLibraryError();
  LlamaModelHandle model;
  try {
    llama_backend_init();
    model.reset(llama_model_load_from_file(options.path.c_str(), LoadParameters(options.path, options.life)));
  } catch (const std::exception& e) {
    return failed(e.what());
  }
  if (!model) {
    const std::string reason = TakeLibraryError();
    if (reason.empty()) return failed("llama.cpp can't load it");
    constexpr std::array kSigns = {"remaining file size", "failed to read", "corrupted or incomplete"};
    const bool is_damaged = std::any_of(kSigns.begin(), kSigns.end(),
                                        [&](const char* sign) { return reason.find(sign) != std::string::npos; });
    return failed(is_damaged ? fmt::format("the file is cut off or damaged: fetch it again ({})", reason) : reason);
  }
  if (llama_model_has_encoder(model.get()) || !llama_model_has_decoder(model.get())) {
    return failed("it has an encoder, so it is not a chat model");
  }
  Result<ChatFormat> format = ChatFormat::Make(model.get(), options.template_limits);
  if (!format) return failed(format.error().message);

  Engine::Settings settings;
  settings.parallel = options.parallel > 0 ? std::min(options.parallel, 128) : kDefaultParallel;
  settings.threads = options.threads > 0 ? options.threads : static_cast<int>(AvailableProcessors());
  settings.context_tokens = options.context_tokens;
  settings.guessed_tokens = options.guessed_tokens;
  settings.promise_patience = options.promise_patience;
  settings.life = options.life;
  ModelInfo info;
  info.name = options.name.empty() ? options.path.stem().string() : options.name;
  info.identity = IdentityOfGguf(sha256);
  info.in_process = true;
  info.local = true;
  info.takes_tools = format->takes_tools();
  info.context_tokens = llama_model_n_ctx_train(model.get());
  info.detail = fmt::format("in process, {} sequence{}", settings.parallel, settings.parallel == 1 ? "" : "s");
  info.tokens_per_second = MeasureDecodingSpeed(model.get(), settings.parallel, settings.threads, options.life);
  if (!EngineUsesGpu()) info.threads = settings.threads;
  if (const std::string device = EngineDevice(); !device.empty()) info.detail += ", " + device;
  return std::unique_ptr<Model>(
      std::make_unique<Engine>(std::move(model), std::move(format).value(), std::move(info), settings));
}

}  // namespace upskill
