// SPDX-License-Identifier: Apache-2.0
#include "cli/models/program_student.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "cli/models/toolchains.h"
#include "model/connection.h"
#include "program/program_model.h"
#include "program/program_place.h"
#include "util/files.h"
#include "util/text.h"
#include "util/user_folders.h"

namespace upskill {
namespace {

// The name of a provider that is made for one program, not in the catalogue.
constexpr const char* kOwnProvider = "program";

std::optional<Protocol> ProtocolFor(Wire wire, const AgentProgram& program) {
  for (const auto& [protocol, name] : program.protocols) {
    if (protocol != Protocol::kGemini && WireOf(protocol) == wire) return protocol;
  }
  return std::nullopt;
}

// Which model a program asks, where, and how.
struct ProgramTarget {
  ModelSpec spec;
  Protocol protocol = Protocol::kChat;
  Provider provider;      // spec.provider, as this program asks it
  std::string priced_as;  // the provider of the catalogue whose prices hold
};

// A model of servers that only this program is made for, or of a server of the user's.
ProgramTarget OwnTarget(const AgentProgram& program, Provider provider, const std::string& model,
                        const char* priced_as) {
  ProgramTarget target;
  target.protocol = program.protocols.front().first;
  target.provider = std::move(provider);
  target.provider.name = kOwnProvider;
  target.provider.wire = WireOf(target.protocol);
  target.spec.provider = kOwnProvider;
  target.spec.model = model;
  target.spec.canonical = fmt::format("{}.{}", ProtocolName(target.protocol), model);
  target.priced_as = priced_as;
  return target;
}

// The name without the provider's in front of it.
std::string BareName(std::string name, const std::string& provider) {
  if (name.starts_with(provider) && name.size() > provider.size() + 1 &&
      (name[provider.size()] == '.' || name[provider.size()] == '/'))
    name.erase(0, provider.size() + 1);
  return name;
}

Result<ProgramTarget> TargetOf(const AgentProgram& program, const std::string& model, const Catalog& catalog,
                               bool base_url, const std::string& text) {
  if (program.endpoint) {
    Provider provider;
    provider.base_url = program.endpoint->base_url;
    provider.base_url_variables = program.endpoint->base_url_variables;
    provider.key_variables = program.endpoint->key_variables;
    if (base_url) {
      provider.base_url_option = true;
      provider.default_key = "";
    }
    return OwnTarget(program, std::move(provider), BareName(BareName(model, "google"), program.id), "google");
  }
  Result<ModelSpec> parsed = ParseModelSpec(model, {&catalog, base_url});
  if (!parsed) return parsed.error().With(fmt::format("model '{}'", text));
  if (!parsed->network())
    return InputError(
        fmt::format("model '{}': {} needs a model behind HTTP; '{}' isn't one", text, program.name, model));
  if (!parsed->effort.empty() || !parsed->query.empty())
    return InputError(
        fmt::format("model '{}': {} chooses effort and settings by itself; leave them out", text, program.name));
  const Provider* provider = catalog.FindProvider(parsed->provider);
  if (provider == nullptr) return InputError(fmt::format("model '{}': unknown provider", text));
  // The same servers speak both.
  if (provider->name == "openai" && !ProtocolFor(provider->wire, program) && ProtocolFor(Wire::kResponses, program)) {
    if (const Provider* const responses = catalog.FindProvider("responses")) provider = responses;
  }
  if (const std::optional<Protocol> protocol = ProtocolFor(provider->wire, program)) {
    ProgramTarget target{*std::move(parsed), *protocol, *provider, provider->name};
    target.spec.provider = provider->name;
    return target;
  }
  // A server of the user's may speak anything.
  if (provider->base_url_option) return OwnTarget(program, *provider, parsed->model, provider->name.c_str());
  std::vector<std::string> spoken;
  spoken.reserve(program.protocols.size());
  for (const auto& [protocol, name] : program.protocols) spoken.emplace_back(ProtocolName(protocol));
  return InputError(fmt::format("model '{}': {} can't ask models of provider '{}': it only speaks {}", text,
                                program.name, provider->name, fmt::join(spoken, ", ")));
}

// Names end up in configuration files of programs.
Status CheckModelName(const std::string& name, const std::string& text) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return IsAsciiAlphanumeric(c) || std::string_view("._-:/@+").find(c) != std::string_view::npos;
  });
  if (plain && !name.empty() && name.front() != '-') return {};
  return InputError(
      fmt::format("model '{}': the name of an agent program's model has only letters, digits and ._-:/@+", text));
}

std::optional<std::pair<std::string, Secret>> KeyHeader(const Connection& connection, Protocol protocol) {
  if (connection.key.empty()) return std::nullopt;
  if (protocol == Protocol::kGemini) return std::pair("x-goog-api-key", connection.key);
  return NewRequest(connection).secret_headers.front();
}

}  // namespace

Result<std::vector<AgentProgram>> LoadProgramsOf(const Env& env) {
  std::filesystem::path file;
  if (const auto named = env.variable("UPSKILL_AGENTS"); named && !named->empty()) {
    file = *named;
  } else if (const std::filesystem::path folder = UserConfigFolder(env.variable); !folder.empty()) {
    std::error_code code;
    if (std::filesystem::exists(folder / "agents.toml", code)) file = folder / "agents.toml";
  }
  if (file.empty()) return LoadPrograms(std::nullopt, "");
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, 1U << 20U));
  return LoadPrograms(text, file.string());
}

Result<std::unique_ptr<Model>> OpenProgram(const ModelSpec& spec, const Catalog& catalog, const ModelOptions& options,
                                           std::chrono::milliseconds time_limit, const Env& env) {
  ASSIGN_OR_RETURN(const std::vector<AgentProgram> programs, LoadProgramsOf(env));
  const std::size_t colon = std::min(spec.rest.find(':'), spec.rest.size());
  ProgramModelOptions program;
  Result<AgentProgram> found = FindProgram(programs, spec.rest.substr(0, colon));
  if (!found) return found.error().With(fmt::format("model '{}'", spec.text));
  program.program = *std::move(found);
  const std::string model = colon < spec.rest.size() ? spec.rest.substr(colon + 1) : program.program.model;
  if (model.empty())
    return InputError(
        fmt::format("model '{0}' needs the model that {1} asks: {0}:MODEL", spec.text, program.program.name));
  ASSIGN_OR_RETURN(const ProgramTarget target,
                   TargetOf(program.program, model, catalog, !options.base_urls.empty(), spec.text));
  RETURN_IF_ERROR(CheckModelName(target.spec.model, spec.text));
  Result<ProgramPlace> place = FindProgramPlace(program.program, env.variable);
  if (!place) return place.error().With(fmt::format("model '{}'", spec.text));
  program.place = *std::move(place);

  Catalog with_own = catalog;
  with_own.providers[target.provider.name] = target.provider;
  NetworkOptions network;
  network.base_urls = options.base_urls;
  network.clock = env.clock;
  network.client = options.client;
  network.catalog = &with_own;
  network.variable = env.variable;
  network.needs_key = options.needs_key;
  ModelSpec named = target.spec;
  named.text = spec.text;
  ASSIGN_OR_RETURN(const Connection connection, ConnectionOf(named, network));
  program.endpoint.protocol = target.protocol;
  program.endpoint.base_urls = connection.base_urls;
  program.endpoint.model = target.spec.model;
  program.endpoint.headers = connection.provider.headers;
  program.endpoint.key = KeyHeader(connection, target.protocol);
  program.endpoint.token_limit = target.provider.name == kOwnProvider ? "" : target.provider.token_limit;
  program.endpoint.price = catalog.PriceOf(target.priced_as, target.spec.model);
  program.endpoint.local = connection.local;
  program.endpoint_identity = fmt::format("{} at {}", target.spec.canonical, connection.servers);
  program.client = options.client;
  program.clock = env.clock;
  program.parallel = options.parallel;
  program.time_limit = time_limit;
  program.sandbox.toolchains = ReadableToolchains(env);
  return MakeProgramModel(std::move(program)).With(fmt::format("model '{}'", spec.text));
}

}  // namespace upskill
