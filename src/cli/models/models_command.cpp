// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cli/env/catalog_file.h"
#include "cli/env/env.h"
#include "cli/models/commands.h"
#include "cli/models/embedded_model.h"
#include "cli/models/embedded_model_pull.h"
#include "cli/models/models_check.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "model/catalog.h"
#include "model/hub/gguf_cache.h"
#include "model/hub/gguf_hub.h"
#include "model/hub/gguf_name.h"
#include "model/model_spec.h"
#include "net/http_client.h"
#include "report/terminal/style.h"
#include "report/terminal/table.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/result.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr double kPlainInterval = 2.0;  // seconds between two plain lines
constexpr std::size_t kBarCells = 20;

// How a download goes, on stderr: one live line on a terminal, otherwise a plain line every tenth of it.
class PullLine {
 public:
  explicit PullLine(const Env& env) : env_(env), style_(StyleFor(env, env.error_is_terminal, ColorMode::kAuto)) {}

  void Show(std::uint64_t done, std::uint64_t total, const std::string& file) {
    const Clock::Steady now = env_.clock->Now();
    if (!started_) {
      started_ = now;
      first_done_ = done;
      shown_at_ = now;
      shown_done_ = done;
    }
    if (env_.error_is_terminal) {
      live_ = true;
      env_.error("\r\x1b[K" + Text(done, total, file, now));
      return;
    }
    const bool tenth = (done - std::min(done, shown_done_)) >= total / 10;
    if (!tenth || done == total || SecondsBetween(shown_at_, now) < kPlainInterval) return;
    shown_at_ = now;
    shown_done_ = done;
    env_.error(Text(done, total, file, now) + "\n");
  }

  void Clear() {
    if (live_) env_.error("\r\x1b[K");
    live_ = false;
  }

 private:
  // "  1.2 GB/4.7 GB █████░░░░░   25 %   48.0 MB/s   1:12 left   m-Q4_K_M.gguf"
  TerminalText Text(std::uint64_t done, std::uint64_t total, const std::string& file, Clock::Steady now) const {
    const double fraction = total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total);
    std::string text = fmt::format("  {}/{} ", BytesText(done), BytesText(total));
    if (env_.error_is_terminal) text += Bar(fraction, style_.columns >= 90 ? kBarCells : kBarCells / 2) + " ";
    text += fmt::format("  {}", PercentText(fraction));
    const double seconds = SecondsBetween(*started_, now);
    if (done > first_done_ && seconds > 0.0 && done < total) {
      const double rate = static_cast<double>(done - first_done_) / seconds;
      text += fmt::format("   {}/s   {} left", BytesText(static_cast<std::uint64_t>(rate)),
                          DurationText(static_cast<double>(total - done) / rate));
    }
    return TerminalText::Format("{}   {}", text, file).Cut(style_.columns > 0 ? style_.columns - 1 : 0);
  }

  const Env& env_;
  Style style_;
  bool live_ = false;
  std::optional<Clock::Steady> started_;
  std::uint64_t first_done_ = 0;
  Clock::Steady shown_at_;
  std::uint64_t shown_done_ = 0;
};

// The file of a GGUF that is named as on the Hugging Face Hub: from the cache, without asking anybody, else downloaded,
// with a live line on stderr (plain lines if that is not a terminal). With `update` the Hub is asked in any case. A
// download that was interrupted is kCancelled and says how to resume it.
Result<std::filesystem::path> FindOrPullGguf(const GgufName& name, bool update, const Env& env) {
  if (!update) {
    Result<std::filesystem::path> cached = FindCachedGguf(HubCacheOf(env.variable), name);
    if (cached || cached.error().kind != ErrorKind::kNotFound) return cached;
  }
  ASSIGN_OR_RETURN(const HubOptions options, HubOptionsOf(env.variable));
  if (!options.offline) env.error(TerminalText::Format("downloading {} from {}\n", name.text(), options.endpoint));
  PullLine line(env);
  HttpClient client;
  const auto show = [&](std::uint64_t done, std::uint64_t total, const std::string& file) {
    line.Show(done, total, file);
  };
  Result<std::filesystem::path> file = PullGguf(client, options, name, show, env.stop);
  line.Clear();
  if (!file && file.error().kind == ErrorKind::kCancelled) {
    return Error{
        ErrorKind::kCancelled,
        fmt::format("stopped; what has been downloaded is kept. To continue: upskill models pull {}", name.text())};
  }
  return file;
}

struct ModelsOptions {
  std::string name;     // pull: org/repo[:QUANT], or default
  bool update = false;  // pull: also when it is there
  bool check = false;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

namespace fs = std::filesystem;

constexpr std::string_view kPullDefault = "default";  // as NAME of `models pull`: the default model

struct ShortName {
  std::string name;
  std::string provider;
  std::string model;  // on the wire
  std::optional<Price> price;
};

struct LocalModel {
  std::string name;  // as behind -m
  fs::path file;
  std::uint64_t bytes = 0;
  bool whole = true;
};

// What the command shows.
struct Overview {
  std::vector<ShortName> names;
  std::vector<std::pair<const Provider*, KeyState>> providers;
  std::vector<LocalModel> local;
  std::vector<Reachability> servers;  // with --check
};

std::vector<ShortName> ShortNames(const Catalog& catalog) {
  std::vector<ShortName> names;
  for (const auto& [name, alias] : catalog.aliases) {
    const Result<ModelSpec> spec = ParseModelSpec(name, {&catalog});
    if (!spec || !spec->network()) {
      names.push_back({name, "", alias.model, std::nullopt});
      continue;
    }
    names.push_back({name, spec->provider, spec->model, catalog.PriceOf(spec->provider, spec->model)});
  }
  return names;
}

std::vector<LocalModel> LocalModels(const Env& env) {
  std::vector<LocalModel> models;
  std::error_code code;
  if (const Result<EmbeddedModel> embedded = FindEmbeddedModel(env)) {
    const std::uintmax_t size = fs::file_size(embedded->file, code);
    if (!code) models.push_back({std::string(kEmbeddedModel), embedded->file, size, true});
  }
  const std::vector<CachedGguf> cached = ListCachedGgufs(HubCacheOf(env.variable));
  std::map<std::pair<std::string, std::string>, int> count;
  for (const CachedGguf& gguf : cached) ++count[{gguf.repo, gguf.quant}];
  for (const CachedGguf& gguf : cached) {
    const bool by_quant = !gguf.quant.empty() && count[{gguf.repo, gguf.quant}] == 1;
    const GgufName name{gguf.repo, by_quant ? gguf.quant : gguf.file.filename().string()};
    models.push_back({"llama:" + name.text(), gguf.file, gguf.bytes, gguf.whole});
  }
  return models;
}

std::string KeyText(const KeyState& key) {
  switch (key.kind) {
    case KeyState::Kind::kVariable:
      return "$" + key.source;
    case KeyState::Kind::kSaved:
      return "saved";
    case KeyState::Kind::kNotNeeded:
      return "not needed";
    case KeyState::Kind::kMissing:
      return key.source.empty() ? "–" : fmt::format("– (set {})", key.source);
    case KeyState::Kind::kBroken:
      return key.source;
  }
  return "";
}

std::string PriceText(double usd) { return fmt::format("{:.4g}", usd); }

void PrintNames(const Overview& overview, const Style& style, Env& env) {
  env.out(Tinted(style, Tint::kBold, "Short names") + " (prices: USD per million tokens)\n");
  Table table({{"name", Table::Align::kLeft},
               {"provider", Table::Align::kLeft},
               {"model", Table::Align::kLeft, true},
               {"input", Table::Align::kRight},
               {"output", Table::Align::kRight},
               {"as of", Table::Align::kLeft}});
  for (const ShortName& name : overview.names) {
    table.AddRow({name.name, name.provider, name.model, name.price ? PriceText(name.price->input) : "–",
                  name.price ? PriceText(name.price->output) : "–", name.price ? name.price->date : ""});
  }
  env.out(table.Render(style));
}

void PrintProviders(const Overview& overview, const Style& style, Env& env) {
  env.out("\n" + Tinted(style, Tint::kBold, "Providers") + "\n");
  Table table({{"provider", Table::Align::kLeft}, {"key", Table::Align::kLeft, true}});
  for (const auto& [provider, key] : overview.providers) table.AddRow({provider->name, KeyText(key)});
  env.out(table.Render(style));
}

void PrintServers(const Overview& overview, const Style& style, Env& env) {
  env.out("\n" + Tinted(style, Tint::kBold, "Servers") + "\n");
  Table table({{"provider", Table::Align::kLeft},
               {"host", Table::Align::kLeft},
               {"state", Table::Align::kLeft},
               {"detail", Table::Align::kLeft, true}});
  for (const Reachability& server : overview.servers) {
    table.AddRow({server.provider.empty() ? fmt::format("(--base-url http://{})", server.host) : server.provider,
                  server.host, ReachabilityName(server.kind), server.detail});
  }
  env.out(table.Render(style));
}

void PrintLocal(const Overview& overview, const Style& style, Env& env) {
  env.out("\n" + Tinted(style, Tint::kBold, "On this machine") + "\n");
  Table table({{"model", Table::Align::kLeft}, {"size", Table::Align::kRight}, {"file", Table::Align::kLeft, true}});
  for (const LocalModel& model : overview.local) {
    table.AddRow(
        {model.name, BytesText(model.bytes), (model.whole ? "" : "parts are missing: ") + model.file.string()});
  }
  if (!table.empty()) {
    env.out(table.Render(style));
  } else {
    env.out("none; `upskill models pull ORG/REPO:QUANT` downloads one\n");
  }
}

Json JsonOf(const Price& price) {
  return {{"input", price.input},
          {"output", price.output},
          {"cache_read", price.cache_read},
          {"cache_write", price.cache_write},
          {"date", price.date}};
}

Json JsonOf(const KeyState& key) {
  const bool named = key.kind == KeyState::Kind::kVariable;
  const bool broken = key.kind == KeyState::Kind::kBroken;
  return {{"found", named || key.kind == KeyState::Kind::kSaved},
          {"needed", key.kind != KeyState::Kind::kNotNeeded},
          {"variable", named ? Json(key.source) : Json()},
          {"error", broken ? Json(key.source) : Json()}};
}

void PrintJson(const Overview& overview, const Catalog& catalog, bool checked, Env& env) {
  Json root = Json::object();
  root["names"] = Json::array();
  for (const ShortName& name : overview.names) {
    root["names"].push_back({{"name", name.name},
                             {"provider", name.provider},
                             {"model", name.model},
                             {"price", name.price ? JsonOf(*name.price) : Json()}});
  }
  root["providers"] = Json::array();
  for (const auto& [provider, key] : overview.providers) {
    root["providers"].push_back(
        {{"name", provider->name}, {"key_variables", provider->key_variables}, {"key", JsonOf(key)}});
  }
  root["prices"] = Json::array();
  for (const PriceEntry& entry : catalog.prices) {
    root["prices"].push_back({{"providers", entry.providers},
                              {"models", entry.models},
                              {"price", JsonOf(entry.price)},
                              {"source", entry.source}});
  }
  root["local"] = Json::array();
  for (const LocalModel& model : overview.local) {
    root["local"].push_back(
        {{"name", model.name}, {"file", model.file.string()}, {"bytes", model.bytes}, {"whole", model.whole}});
  }
  if (checked) {
    root["servers"] = Json::array();
    for (const Reachability& server : overview.servers) {
      root["servers"].push_back({{"provider", server.provider.empty() ? Json() : Json(server.provider)},
                                 {"host", server.host},
                                 {"state", ReachabilityName(server.kind)},
                                 {"detail", server.detail}});
    }
  }
  PrintDocument(env, DumpJsonIndented(root) + "\n");
}

ExitCode RunOverview(const ModelsOptions& options, Env& env) {
  const Result<Catalog> catalog = LoadCatalogOf(env);
  if (!catalog) return PrintError(env, catalog.error());
  Overview overview{ShortNames(*catalog), {}, LocalModels(env), {}};
  for (const auto& [name, provider] : catalog->providers)
    overview.providers.emplace_back(&provider, KeyStateOf(provider, env));
  if (options.check) overview.servers = CheckServers(*catalog, env, true);
  if (options.json) {
    PrintJson(overview, *catalog, options.check, env);
    return ExitCode::kSuccess;
  }
  const Style style = StyleFor(env, env.out_is_terminal, options.color);
  PrintNames(overview, style, env);
  PrintProviders(overview, style, env);
  if (options.check) PrintServers(overview, style, env);
  PrintLocal(overview, style, env);
  return ExitCode::kSuccess;
}

ExitCode PullDefault(const ModelsOptions& options, Env& env) {
  const Result<fs::path> file = FindOrPullEmbeddedModel(options.update, env);
  if (!file) return PrintError(env, file.error());
  if (options.json) {
    PrintDocument(env, DumpJsonIndented({{"name", kEmbeddedModel}, {"file", file->string()}}) + "\n");
  } else {
    env.out(TerminalText::Format("{}\n", file->string()));
  }
  return ExitCode::kSuccess;
}

ExitCode RunPull(const ModelsOptions& options, Env& env) {
  if (options.name == kPullDefault) return PullDefault(options, env);
  // With the prefix of model strings, as people will copy it.
  const std::string text = options.name.starts_with("llama:") ? options.name.substr(6) : options.name;
  const Result<GgufName> name = ParseGgufName(text);
  if (!name) return PrintError(env, name.error());
  const Result<fs::path> file = FindOrPullGguf(*name, options.update, env);
  if (!file) return PrintError(env, file.error());
  if (options.json) {
    PrintDocument(env, DumpJsonIndented({{"name", "llama:" + name->text()}, {"file", file->string()}}) + "\n");
  } else {
    env.out(TerminalText::Format("{}\n", file->string()));
    env.error(TerminalText::Format("use it with: -m llama:{}\n", name->text()));
  }
  return ExitCode::kSuccess;
}

// `models` and `models pull`.
void AddModelsCommand(CLI::App& app, ModelsOptions& options) {
  CLI::App* command =
      app.add_subcommand("models", "List model names, prices, available keys and local models")->group("Other");
  command->require_subcommand(0, 1);
  command->add_flag("--check", options.check, "Ask providers with a key, and local servers, whether they answer");
  command->add_flag("--json", options.json, "Print a JSON object");
  AddColorOption(*command, options.color);
  AddExamples(*command, {{"See which keys were found and which servers answer", "upskill models --check"},
                         {"Download a model", "upskill models pull Qwen/Qwen2.5-0.5B-Instruct-GGUF:Q8_0"}});
  AddHelpNote(*command, "See also: upskill help model-strings");
  CLI::App* pull = command->add_subcommand("pull", "Download a GGUF from the Hugging Face Hub, or the default model");
  pull->add_option("NAME", options.name, "ORG/REPO, ORG/REPO:QUANT, or default for the default model")->required();
  pull->add_flag("--update", options.update,
                 "Ask the Hub for a newer version even if it is cached; with default, replace a damaged file");
  pull->add_flag("--json", options.json, "Print a JSON object with its name and file");
  AddExamples(*pull, {{"Download a model", "upskill models pull Qwen/Qwen2.5-0.5B-Instruct-GGUF:Q8_0"},
                      {"Use it", "upskill eval path/to/skill -m llama:Qwen/Qwen2.5-0.5B-Instruct-GGUF:Q8_0"},
                      {"Download the default model", "upskill models pull default"}});
}

ExitCode RunModels(const CLI::App& app, const ModelsOptions& options, Env& env) {
  return app.get_subcommand("models")->got_subcommand("pull") ? RunPull(options, env) : RunOverview(options, env);
}

}  // namespace

Command ModelsCommand() { return CommandOf({"models"}, AddModelsCommand, RunModels); }

}  // namespace upskill
