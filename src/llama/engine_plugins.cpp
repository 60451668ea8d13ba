// SPDX-License-Identifier: Apache-2.0
#include "llama/engine_plugins.h"

#include <fmt/format.h>
#include <ggml-backend.h>

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>

#include "llama/library_log.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

fs::path PluginFolder() {
  const char* const named =
      std::getenv("UPSKILL_ENGINE_DIR");  // NOLINT(concurrency-mt-unsafe): this program never sets variables
  if (named != nullptr && *named != '\0') return named;
  std::error_code code;
  const fs::path self = fs::read_symlink("/proc/self/exe", code);
  // Never relative to the current folder: what is found there is loaded as code.
  return self.is_absolute() ? self.parent_path().parent_path() / "lib" / "upskill" : fs::path();
}

bool HasPlugins(const fs::path& folder) {
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("libggml-cpu-") && name.ends_with(".so")) return true;
  }
  return false;
}

bool ProcessorFits() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("bmi2") != 0;
#else
  return true;
#endif
}

struct EngineState {
  std::mutex mutex;
  bool loaded = false;
  std::string device;
};

EngineState& TheEngine() {
  static EngineState state;
  return state;
}

std::string ProcessorName() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (line.starts_with("model name") && colon != std::string::npos)
      return std::string(Trim(std::string_view(line).substr(colon + 1)));
  }
  return "";
}

}  // namespace

Error NoEngineError(const fs::path& folder, bool processor_fits) {
  const std::string shown = folder.string();
  if (!HasPlugins(folder)) {
    return Error{
        ErrorKind::kNotFound,
        fmt::format(
            "no engine for in-process models in {}; reinstall upskill, or unset UPSKILL_ENGINE_DIR if it is set",
            shown)};
  }
  if (processor_fits) {
    const std::string reason = TakeLibraryError();
    return Error{ErrorKind::kPermanent,
                 fmt::format("the engine for in-process models in {} can't be loaded{}; reinstall upskill", shown,
                             reason.empty() ? "" : " (" + reason + ")")};
  }
  const std::string name = ProcessorName();
  return Error{ErrorKind::kPermanent, fmt::format("this processor{} can't run in-process models, which need AVX2, FMA, "
                                                  "F16C and BMI2; use a model over the network "
                                                  "(upskill models lists them)",
                                                  name.empty() ? "" : " (" + name + ")")};
}

std::string LoadGpuPlugin(const fs::path& folder) {
  constexpr const char* kFile = "libggml-cuda.so";
  const fs::path file = folder / kFile;
  std::error_code code;
  if (!folder.is_absolute() || !fs::exists(file, code)) return "";
  CaptureLibraryLog();
  TakeLibraryError();
  const bool loaded = ggml_backend_reg_by_name("CUDA") != nullptr || ggml_backend_load(file.c_str()) != nullptr;
  const std::string reason = TakeLibraryError();
  if (ggml_backend_dev_t gpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU))
    return fmt::format("on {}", ExcerptLine(ggml_backend_dev_description(gpu), 80));
  if (loaded) return "on the processor, because CUDA finds no GPU";
  return fmt::format("on the processor, because {} can't be loaded{}", kFile,
                     reason.empty() ? "" : fmt::format(" ({})", ExcerptLine(reason, 200)));
}

Status LoadEnginePlugins() {
  EngineState& engine = TheEngine();
  const std::lock_guard lock(engine.mutex);
  if (engine.loaded) return {};
  const fs::path folder = PluginFolder();
  if (ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) == nullptr) {
    CaptureLibraryLog();
    if (folder.is_absolute()) ggml_backend_load_all_from_path(folder.c_str());
    if (ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) == nullptr)
      return NoEngineError(folder, ProcessorFits());
  }
  engine.device = LoadGpuPlugin(folder);
  engine.loaded = true;
  return {};
}

bool EngineUsesGpu() {
  return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU) != nullptr ||
         ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_IGPU) != nullptr;
}

std::string EngineDevice() {
  EngineState& engine = TheEngine();
  const std::lock_guard lock(engine.mutex);
  return engine.device;
}

}  // namespace upskill
