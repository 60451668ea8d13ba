// SPDX-License-Identifier: Apache-2.0
#include "cli/students.h"

#include <fmt/format.h>

#include <charconv>

#include "llama/llama_model.h"
#include "model/model_spec.h"
#include "model/sim.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::string_view kEmbeddedFile = "smollm2-135m-instruct-q8_0.gguf";
constexpr int kSimWindow = 64;

Result<int> TakeNumber(ModelSpec& spec, const std::string& key, int fallback) {
  const auto found = spec.query.find(key);
  if (found == spec.query.end()) return fallback;
  int number = 0;
  const std::string& text = found->second;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || number < 1) {
    return InputError(fmt::format("model '{}': {} must be a number from 1", SafeForTerminalLine(spec.text), key));
  }
  spec.query.erase(found);
  return number;
}

Result<LlamaOptions> LlamaOptionsOf(ModelSpec& spec, const ModelOptions& options) {
  LlamaOptions llama;
  ASSIGN_OR_RETURN(llama.parallel, TakeNumber(spec, "parallel", options.parallel));
  ASSIGN_OR_RETURN(llama.threads, TakeNumber(spec, "threads", 0));
  ASSIGN_OR_RETURN(llama.context_tokens, TakeNumber(spec, "context", 0));
  return llama;
}

}  // namespace

Result<std::filesystem::path> FindEmbeddedModel(const Env& env) {
  std::error_code code;
  if (const auto named = env.variable("UPSKILL_EMBEDDED_MODEL"); named && !named->empty()) return std::filesystem::path(*named);
  const std::filesystem::path installed = env.data_dir / kEmbeddedFile;
  if (std::filesystem::exists(installed, code)) return installed;
  const std::filesystem::path set_up = UPSKILL_DEFAULT_MODEL;
  if (std::filesystem::exists(set_up, code)) return set_up;
  return Error{ErrorKind::kNotFound,
               fmt::format("the embedded model is not there ({} and {}): run `make install` again, or name another "
                           "model: -m llama:PATH.gguf",
                           installed.string(), set_up.string())};
}

Result<std::unique_ptr<Model>> OpenModel(const std::string& text, const ModelOptions& options, const Env& env) {
  ASSIGN_OR_RETURN(ModelSpec spec, ParseModelSpec(text));
  if (spec.provider == "sim" && !spec.query.empty()) {
    return InputError(fmt::format("model '{}': a simulated student takes its settings behind the colon, without ?", SafeForTerminalLine(text)));
  }
  if (spec.provider == "sim") return MakeSimModel(spec.rest, options.parallel > 0 ? options.parallel : kSimWindow);
  ASSIGN_OR_RETURN(LlamaOptions llama, LlamaOptionsOf(spec, options));
  if (!spec.query.empty()) {
    return InputError(fmt::format("model '{}': unknown setting '{}'; known are parallel, threads, context",
                                  SafeForTerminalLine(text), SafeForTerminalLine(spec.query.begin()->first)));
  }
  if (spec.provider == "embedded") {
    ASSIGN_OR_RETURN(llama.path, FindEmbeddedModel(env));
    llama.name = std::string(kEmbeddedModel);
  } else {
    llama.path = spec.rest;
  }
  return LoadLlamaModel(llama);
}

}  // namespace upskill
