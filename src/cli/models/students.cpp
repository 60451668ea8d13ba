// SPDX-License-Identifier: Apache-2.0
#include "cli/models/students.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <optional>
#include <set>
#include <system_error>

#include "cli/env/catalog_file.h"
#include "cli/models/embedded_model.h"
#include "cli/models/program_student.h"
#include "llama/llama_model.h"
#include "llama/worker_model.h"
#include "model/batch/batch_model.h"
#include "model/command_model.h"
#include "model/desk_model.h"
#include "model/hub/gguf_cache.h"
#include "model/hub/gguf_name.h"
#include "model/model_spec.h"
#include "model/network_model.h"
#include "model/sim.h"
#include "util/child_environment.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kSimWindow = 64;
constexpr int kMaxSequences = 128;  // in process

Result<int> TakeNumber(ModelSpec& spec, const std::string& key, int fallback) {
  const auto found = spec.query.find(key);
  if (found == spec.query.end()) return fallback;
  const auto number = ParseWholeNumber(found->second, 1, std::numeric_limits<int>::max());
  if (!number) return InputError(fmt::format("model '{}': {} must be a whole number of at least 1", spec.text, key));
  spec.query.erase(found);
  return static_cast<int>(*number);
}

Result<LlamaOptions> LlamaOptionsOf(ModelSpec& spec, const ModelOptions& options) {
  LlamaOptions llama;
  ASSIGN_OR_RETURN(llama.parallel, TakeNumber(spec, "parallel", std::min(options.parallel, kMaxSequences)));
  ASSIGN_OR_RETURN(llama.threads, TakeNumber(spec, "threads", 0));
  ASSIGN_OR_RETURN(llama.context_tokens, TakeNumber(spec, "context", 0));
  return llama;
}

// $UPSKILL_ENGINE_TIMEOUT: seconds without a sign of life of the engine.
Result<std::chrono::milliseconds> EnginePatience(const Env& env) {
  const std::optional<std::string> named = env.variable("UPSKILL_ENGINE_TIMEOUT");
  if (!named || named->empty()) return WorkerOptions().patience;
  if (const auto seconds = ParseWholeNumber(*named, 1, std::numeric_limits<int>::max()))
    return std::chrono::milliseconds(std::chrono::seconds(*seconds));
  return InputError(
      fmt::format("UPSKILL_ENGINE_TIMEOUT must be a whole number of seconds of at least 1, not '{}'", *named));
}

Result<std::unique_ptr<Model>> OpenInProcess(const LlamaOptions& options, const ModelOptions& how, const Env& env) {
  if (env.worker_program.empty()) return LoadLlamaModel(options);
  WorkerOptions worker;
  worker.program = env.worker_program;
  ASSIGN_OR_RETURN(worker.patience, EnginePatience(env));
  worker.written = how.written;
  if (!how.quiet) {
    worker.on_slow = [&env, file = options.path.filename().string()] {
      env.error(TerminalText::Format("loading {}\n", file));
    };
  }
  return OpenWorkerModel(options, worker);
}

// $UPSKILL_COMMAND_TIMEOUT: seconds for one answer of a command.
Result<std::chrono::milliseconds> CommandTimeLimit(const Env& env) {
  const std::optional<std::string> named = env.variable("UPSKILL_COMMAND_TIMEOUT");
  if (!named || named->empty()) return CommandModelOptions().time_limit;
  int seconds = 0;
  const auto [end, code] = std::from_chars(named->data(), named->data() + named->size(), seconds);
  if (code == std::errc() && end == named->data() + named->size() && seconds >= 1)
    return std::chrono::milliseconds(std::chrono::seconds(seconds));
  return InputError(
      fmt::format("UPSKILL_COMMAND_TIMEOUT must be a whole number of seconds of at least 1, not '{}'", *named));
}

// What every child process gets, and the variables that $UPSKILL_COMMAND_ENV names, separated by commas or spaces.
std::vector<std::string> CommandEnvironment(const Env& env) {
  std::vector<std::string> environment = ChildEnvironment();
  const std::string names = env.variable("UPSKILL_COMMAND_ENV").value_or("");
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find_first_of(", ", begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    const std::optional<std::string> value = name.empty() ? std::nullopt : env.variable(name);
    if (value) environment = WithVariable(std::move(environment), name, *value);
    begin = end + 1;
  }
  return environment;
}

Result<std::unique_ptr<Model>> OpenCommand(const ModelSpec& spec, const Catalog& catalog, const ModelOptions& options,
                                           const Env& env) {
  CommandModelOptions command;
  command.command = spec.rest;
  command.environment = CommandEnvironment(env);
  command.parallel = options.parallel;
  ASSIGN_OR_RETURN(command.time_limit, CommandTimeLimit(env));
  command.price = catalog.PriceOf(spec.provider, spec.rest);
  return MakeCommandModel(std::move(command));
}

Result<std::unique_ptr<Model>> OpenDesk(const ModelSpec& spec, const ModelOptions& options, const Env& env) {
  DeskOptions desk;
  desk.folder = spec.rest;
  if (const Status checked = CheckDeskFolder(desk.folder); !checked)
    return InputError(
        fmt::format("model 'desk:{}': requests can't be written there: {}", spec.rest, checked.error().message));
  desk.parallel = options.parallel;
  if (!options.quiet) desk.say = [&env](const std::string& line) { env.error(TerminalText::Format("{}\n", line)); };
  return MakeDeskModel(desk);
}

// A file that is named without its folder and isn't in the current one: among those that `upskill models` shows, and
// beside the default model in the cache.
Result<std::filesystem::path> FileByName(const std::string& name, const Env& env) {
  std::vector<std::filesystem::path> files;
  if (const Result<EmbeddedModel> embedded = FindEmbeddedModel(env)) files.push_back(embedded->file);
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(ConvertedModelInCache(env).parent_path(), code)) {
    if (entry.path().extension() == ".gguf") files.push_back(entry.path());
  }
  for (const CachedGguf& gguf : ListCachedGgufs(HubCacheOf(env.variable))) files.push_back(gguf.file);
  std::set<std::string> names;
  for (const std::filesystem::path& file : files) {
    if (file.filename() == name) return file;
    names.insert(file.filename().string());
  }
  return Error{ErrorKind::kNotFound,
               fmt::format("model 'llama:{}': no such file, here or in the cache{}", name,
                           names.empty() ? "" : fmt::format(", which has {}", fmt::join(names, ", ")))};
}

// The file of `llama:PATH` or, where no such file is, of `llama:org/repo[:QUANT]` in the cache.
Result<std::filesystem::path> GgufFile(const std::string& text, const Env& env) {
  std::error_code code;
  const bool exists = std::filesystem::exists(text, code);
  if (text.ends_with(".gguf") && !exists && text.find('/') == std::string::npos) return FileByName(text, env);
  if (text.ends_with(".gguf") || exists) return std::filesystem::path(text);
  ASSIGN_OR_RETURN(const GgufName name, ParseGgufName(text));
  const std::filesystem::path cache = HubCacheOf(env.variable);
  Result<std::filesystem::path> found = FindCachedGguf(cache, name);
  if (found) return found;
  if (found.error().kind != ErrorKind::kNotFound) return found.error().With(fmt::format("model 'llama:{}'", text));
  return Error{
      ErrorKind::kNotFound,
      fmt::format("model 'llama:{}': neither a file nor in the cache {}; `upskill models pull {}` downloads it", text,
                  cache.string(), text)};
}

}  // namespace

Status CheckPriceIsKnown(const Model& model, const std::string& spec) {
  if (KnownPrice(model.info())) return {};
  return InputError(fmt::format(
      "the price of model '{}' is unknown, so --max-cost can't be enforced; add a [[price]] entry to "
      "~/.config/upskill/models.toml (or $UPSKILL_MODELS), with input = 0 and output = 0 if its server is free",
      spec));
}

Status CheckCanTeach(const std::string& spec, const ModelOptions& options, const Env& env) {
  ASSIGN_OR_RETURN(const Catalog catalog, LoadCatalogOf(env));
  ASSIGN_OR_RETURN(const ModelSpec parsed, ParseModelSpec(spec, {&catalog, !options.base_urls.empty()}));
  if (parsed.provider == "sim") {
    return InputError(
        fmt::format("model '{}' is a simulated student, which writes nothing: it can't be a teacher", spec));
  }
  if (parsed.provider != "cmd") return {};
  return CheckCommandExists(parsed.rest, CommandEnvironment(env)).With(fmt::format("teacher '{}'", spec));
}

Status CheckModelsDiffer(const std::vector<std::unique_ptr<Model>>& models, const std::vector<std::string>& specs) {
  for (std::size_t i = 0; i < models.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (models[k]->info().identity == models[i]->info().identity)
        return InputError(fmt::format("models '{}' and '{}' are the same", specs[k], specs[i]));
    }
  }
  return {};
}

Result<std::unique_ptr<Model>> OpenModel(const std::string& text, const ModelOptions& options, const Env& env) {
  ASSIGN_OR_RETURN(const Catalog catalog, LoadCatalogOf(env));
  ASSIGN_OR_RETURN(ModelSpec spec, ParseModelSpec(text, {&catalog, !options.base_urls.empty()}));
  if (spec.network()) {
    NetworkOptions network;
    network.base_urls = options.base_urls;
    network.parallel = options.parallel;
    network.clock = env.clock;
    network.client = options.client;
    network.catalog = &catalog;
    network.variable = env.variable;
    network.needs_key = options.needs_key;
    if (options.batches)
      return OpenBatchModel(spec, network, options.batches->notes, options.batches->use, options.batches->shared);
    return OpenNetworkModel(spec, network);
  }
  if (options.batches) return InputError(fmt::format("model '{}' has no Batch API: leave out --batch", text));
  if (spec.provider == "cmd") return OpenCommand(spec, catalog, options, env);
  if (spec.provider == "agent") {
    ASSIGN_OR_RETURN(const std::chrono::milliseconds time_limit, CommandTimeLimit(env));
    return OpenProgram(spec, catalog, options, time_limit, env);
  }
  if (spec.provider == "desk") return OpenDesk(spec, options, env);
  if (spec.provider == "sim" && !spec.query.empty()) {
    return InputError(
        fmt::format("model '{}': a simulated student takes its settings after the colon, without ?", text));
  }
  if (spec.provider == "sim") return MakeSimModel(spec.rest, options.parallel > 0 ? options.parallel : kSimWindow);
  ASSIGN_OR_RETURN(LlamaOptions llama, LlamaOptionsOf(spec, options));
  if (!spec.query.empty()) {
    return InputError(fmt::format("model '{}': unknown setting '{}'; expected parallel, threads or context", text,
                                  spec.query.begin()->first));
  }
  if (spec.provider == "embedded") {
    ASSIGN_OR_RETURN(llama.path, PrepareEmbeddedModel(env));
    // A file of the user's is another model than the one that this name means elsewhere.
    const std::optional<std::string> named = env.variable("UPSKILL_EMBEDDED_MODEL");
    llama.name = named && !named->empty() ? llama.path.stem().string() : std::string(kEmbeddedModel);
  } else {
    ASSIGN_OR_RETURN(llama.path, GgufFile(spec.rest, env));
  }
  if (const std::filesystem::path cache = CacheFolder(env); !cache.empty())
    llama.hashing.remembered = cache / "gguf-hashes.txt";
  llama.hashing.clock = env.clock;
  if (!options.quiet) {
    llama.hashing.on_slow = [&env, file = llama.path.filename().string()] {
      env.error(TerminalText::Format("hashing {}, once for this file\n", file));
    };
  }
  Result<std::unique_ptr<Model>> model = OpenInProcess(llama, options, env);
  if (!model && spec.provider == "embedded" && llama.name != kEmbeddedModel)
    return Error{model.error().kind, model.error().message + "; $UPSKILL_EMBEDDED_MODEL names this file"};
  if (!model && spec.provider == "embedded" && llama.path == ConvertedModelInCache(env)) {
    return Error{model.error().kind,
                 model.error().message + "; `upskill models pull default --update` replaces a damaged file"};
  }
  return model;
}

}  // namespace upskill
