// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "check/check_makers.h"
#include "cli/env/catalog_file.h"
#include "cli/env/config.h"
#include "cli/env/env.h"
#include "cli/machine/commands.h"
#include "cli/machine/cuda_wing.h"
#include "cli/models/embedded_model.h"
#include "cli/models/env_file.h"
#include "cli/models/models_check.h"
#include "cli/models/program_student.h"
#include "cli/models/sandbox_option.h"
#include "cli/models/toolchains.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "llama/engine_plugins.h"
#include "model/hub/gguf_cache.h"
#include "program/program_place.h"
#include "report/terminal/style.h"
#include "sandbox/sandbox.h"
#include "util/child_environment.h"
#include "util/files.h"
#include "util/json.h"
#include "util/run_child.h"
#include "util/text.h"

namespace upskill {
namespace {

// One thing that `upskill doctor` has looked at.
struct Finding {
  enum class State { kReady, kAbsent, kBroken };
  std::string area;  // Models
  std::string name;  // default model
  State state = State::kReady;
  std::string text;    // what was found; never a key
  std::string remedy;  // what to do about it, if anything is to be done
};

namespace fs = std::filesystem;
using State = Finding::State;

constexpr const char* kModels = "Models";
constexpr const char* kChecks = "Checks that run something";
constexpr const char* kAgentPrograms = "Agent programs";
constexpr const char* kFolders = "Folders";
constexpr const char* kSettings = "Settings";

class Findings {
 public:
  void Add(const char* area, std::string name, State state, std::string text, std::string remedy = "") {
    list_.push_back({area, std::move(name), state, std::move(text), std::move(remedy)});
  }
  std::vector<Finding> Take() { return std::move(list_); }

 private:
  std::vector<Finding> list_;
};

void LookAtKeys(const Catalog& catalog, const Env& env, Findings& findings) {
  std::set<std::string> without;
  for (const auto& [name, provider] : catalog.providers) {
    const KeyState key = KeyStateOf(provider, env);
    switch (key.kind) {
      case KeyState::Kind::kVariable:
        findings.Add(kModels, name, State::kReady,
                     fmt::format("key in ${}{}", key.source, IsFromEnvFile(env, key.source) ? ", from .env" : ""));
        break;
      case KeyState::Kind::kSaved:
        findings.Add(kModels, name, State::kReady, "saved key");
        break;
      case KeyState::Kind::kBroken:
        findings.Add(kModels, name, State::kBroken, key.source);
        break;
      case KeyState::Kind::kMissing:
        if (!key.source.empty()) without.insert(key.source);
        break;
      case KeyState::Kind::kNotNeeded:
        break;
    }
  }
  if (without.empty()) return;
  findings.Add(kModels, "other keys", State::kAbsent, "none",
               fmt::format("for a provider's models, set its variable: {}", fmt::join(without, ", ")));
}

void LookAtServers(const Catalog& catalog, const Env& env, bool ask_providers, Findings& findings) {
  for (const Reachability& server : CheckServers(catalog, env, ask_providers)) {
    const bool reachable = server.kind == Reachability::Kind::kReachable;
    const std::string name = server.provider.empty() ? server.host : server.provider;
    if (server.provider.empty()) {
      findings.Add(kModels, name, State::kReady, fmt::format("a server on this machine, {}", server.detail),
                   fmt::format("use it with --base-url http://{}/v1", server.host));
    } else {
      findings.Add(kModels, name, reachable ? State::kReady : State::kBroken,
                   fmt::format("{} {}: {}", server.host, ReachabilityName(server.kind), server.detail));
    }
  }
}

void LookAtModels(const Env& env, bool ask_providers, Findings& findings) {
  if (const Result<EmbeddedModel> model = FindEmbeddedModel(env)) {
    findings.Add(kModels, "default model", State::kReady, model->file.string());
  } else {
    findings.Add(kModels, "default model", State::kAbsent, "not on this machine",
                 "`upskill models pull default` downloads it");
  }
  if (const Status engine = LoadEnginePlugins(); !engine) {
    findings.Add(kModels, "engine", State::kBroken, engine.error().message);
  } else if (const std::string device = EngineDevice(); !device.empty()) {
    findings.Add(kModels, "engine", State::kReady, device);
  }
  const std::size_t cached = ListCachedGgufs(HubCacheOf(env.variable)).size();
  if (cached > 0)
    findings.Add(kModels, "GGUF files", State::kReady, Counted(cached, "file") + "; see `upskill models`");
  const Result<Catalog> catalog = LoadCatalogOf(env);
  if (!catalog) return findings.Add(kModels, "providers", State::kBroken, catalog.error().message);
  LookAtKeys(*catalog, env, findings);
  LookAtServers(*catalog, env, ask_providers, findings);
}

void LookAtGpu(Findings& findings) {
  const Result<std::string> driver = ReadFile("/proc/driver/nvidia/version");
  std::error_code code;
  if (driver) {
    findings.Add(kChecks, "GPU", State::kReady, ExcerptLine(driver->substr(0, driver->find('\n')), 100));
  } else if (fs::exists("/dev/nvidia0", code)) {
    findings.Add(kChecks, "GPU", State::kReady, "NVIDIA");
  } else {
    findings.Add(kChecks, "GPU", State::kAbsent, "none; nothing here needs one");
  }
}

void LookAtChecks(const Env& env, Findings& findings) {
  const Result<SandboxOptions> options = SandboxOptionsOf({}, env);
  if (!options) return findings.Add(kChecks, "sandbox", State::kBroken, options.error().message);
  const Sandbox sandbox{*options};
  if (const Status available = sandbox.Available()) {
    findings.Add(kChecks, "sandbox", State::kReady, "commands of suites can run (bubblewrap)");
  } else {
    findings.Add(kChecks, "sandbox", State::kAbsent, available.error().message);
  }
  struct Program {
    const char* name;
    const char* remedy;
  };
  constexpr std::array<Program, 3> kPrograms = {
      {{"g++", "`apt-get install g++` or your system's equivalent; cases that compile C++ or CUDA are left out"},
       {"python3", "`apt-get install python3` or your system's equivalent; cases that run Python are left out"},
       {"nvcc", "`upskill toolchain add cuda` downloads it; cases that compile CUDA are left out"}}};
  if (!HasCudaWing()) findings.Add(kChecks, "CUDA checks", State::kAbsent, kWingMissing);
  for (const Program& program : kPrograms) {
    const bool found = sandbox.HasProgram(program.name);
    findings.Add(kChecks, program.name, found ? State::kReady : State::kAbsent, found ? "found" : "not found",
                 found ? "" : program.remedy);
  }
  if (const std::string version = TorchHeadersVersion(sandbox); !version.empty()) {
    findings.Add(kChecks, "PyTorch's headers", State::kReady, version);
  } else if (HasCudaWing()) {
    findings.Add(kChecks, "PyTorch's headers", State::kAbsent, "not found",
                 "`upskill toolchain add torch` downloads them; cases that compile bindings are left out");
  }
  LookAtGpu(findings);
}

// The first release that a text names: ">=22.19.0" is {22, 19, 0}, "v20.20.2\n" is {20, 20, 2}.
std::vector<int> ReleaseIn(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  std::vector<int> release;
  for (std::size_t at = text.find_first_of(kDigits); at < text.size() && release.size() < 3;) {
    const std::size_t end = std::min(text.find_first_not_of(kDigits, at), text.size());
    if (end - at > 6) return {};
    release.push_back(std::stoi(std::string(text.substr(at, end - at))));
    if (end == text.size() || text[end] != '.') break;
    at = end + 1;
    if (at < text.size() && kDigits.find(text[at]) == std::string_view::npos) break;
  }
  return release;
}

// What is wrong with the Node.js that a program would run with. npm installs an older version of a program, without a
// word, where Node.js is too old for the newest.
std::string NodeProblem(const ProgramPlace& place) {
  if (place.node.empty() || place.node_range.empty()) return "";
  ChildLimits limits;
  limits.time = std::chrono::seconds(5);
  limits.output_bytes = 256;
  const Result<ChildOutcome> outcome =
      RunChild(ShellWord(place.node.string()) + " --version", ChildEnvironment(), "", limits);
  const std::string version = outcome ? std::string(Trim(outcome->output)) : "";
  const std::vector<int> release = ReleaseIn(version);
  if (release.empty() || release >= ReleaseIn(place.node_range)) return "";
  return fmt::format("; it needs Node.js {}, but {} is {}: install a newer Node.js, then reinstall the program",
                     place.node_range, place.node.string(), ExcerptLine(version, 20));
}

// The programs of `agent:` models.
void LookAtPrograms(const Env& env, Findings& findings) {
  const Result<std::vector<AgentProgram>> programs = LoadProgramsOf(env);
  if (!programs) return findings.Add(kAgentPrograms, "agents.toml", State::kBroken, programs.error().message);
  for (const AgentProgram& program : *programs) {
    const std::string name = fmt::format("agent:{}", program.id);
    const Result<ProgramPlace> place = FindProgramPlace(program, env.variable);
    if (place) {
      const bool is_untested = !program.tested.empty() && !place->version.empty() && place->version != program.tested;
      const std::string node = NodeProblem(*place);
      findings.Add(kAgentPrograms, name, node.empty() ? State::kReady : State::kAbsent,
                   fmt::format("{} {} ({}){}{}", program.name, place->version.empty() ? "found" : place->version,
                               place->executable.string(),
                               is_untested ? fmt::format("; tested with {}: another version may write its sessions in "
                                                         "another way",
                                                         program.tested)
                                           : "",
                               node));
    } else {
      findings.Add(kAgentPrograms, name, State::kAbsent, place.error().message);
    }
  }
}

// The folder, or the nearest one above it that exists.
fs::path NearestFolder(const fs::path& folder) {
  std::error_code code;
  fs::path at = fs::absolute(folder, code).lexically_normal();
  while (!fs::exists(at, code) && at.has_relative_path()) at = at.parent_path();
  return at;
}

void LookAtFolder(const char* name, const fs::path& folder, const char* remedy, Findings& findings) {
  if (folder.empty()) return findings.Add(kFolders, name, State::kBroken, "none: HOME isn't set", remedy);
  std::error_code code;
  const fs::path nearest = NearestFolder(folder);
  const std::string made = fs::exists(folder, code) ? "" : " (made when it is needed)";
  if (fs::is_directory(nearest, code) && ::access(nearest.c_str(), W_OK | X_OK) == 0) {
    findings.Add(kFolders, name, State::kReady, folder.string() + made);
  } else {
    findings.Add(kFolders, name, State::kBroken,
                 fmt::format("{}: {} can't be written to", folder.string(), nearest.string()), remedy);
  }
}

// The settings that are not the default ones.
std::vector<std::string> SettingsOf(const Config& config) {
  const Config defaults;
  std::vector<std::string> names;
  const auto add = [&](bool differs, const char* name) {
    if (differs) names.emplace_back(name);
  };
  add(!config.skill_generation_model.empty(), "skill_generation_model");
  add(!config.eval_model.empty(), "eval_model");
  add(!config.test_gen_model.empty(), "test_gen_model");
  add(config.max_refine_attempts.has_value(), "max_refine_attempts");
  add(config.skills_dir != defaults.skills_dir, "skills_dir");
  add(config.runs_dir != defaults.runs_dir, "runs_dir");
  add(config.ledger != defaults.ledger, "ledger");
  add(config.env_file != defaults.env_file, "env_file");
  return names;
}

void LookAtEnvFile(const EnvFileKeys& file, Findings& findings) {
  if (!file.keys.empty())
    findings.Add(kSettings, ".env", State::kReady, fmt::format("gives {}", fmt::join(file.keys, ", ")));
  if (!file.unused.empty())
    findings.Add(kSettings, ".env", State::kReady,
                 fmt::format("{}: not used, because you have a key of your own", fmt::join(file.unused, ", ")));
  if (!file.problem.empty()) findings.Add(kSettings, ".env", State::kAbsent, file.problem);
}

void LookAtSettings(const Env& env, const Result<Config>& config, Findings& findings) {
  if (!config) {
    findings.Add(kSettings, "configuration", State::kBroken, config.error().message);
  } else if (config->source.empty()) {
    findings.Add(kSettings, "configuration", State::kReady, "no file: all settings are the default ones");
  } else {
    const std::vector<std::string> set = SettingsOf(*config);
    findings.Add(kSettings, "configuration", State::kReady,
                 set.empty() ? config->source.string() + " sets nothing"
                             : fmt::format("{} sets {}", config->source.string(), fmt::join(set, ", ")));
    for (const std::string& warning : config->warnings)
      findings.Add(kSettings, "configuration", State::kBroken, warning);
  }
  LookAtEnvFile(env.env_file, findings);
  std::vector<std::string> variables;
  for (const char* name : {"UPSKILL_CONFIG", "UPSKILL_MODELS", "UPSKILL_CACHE", "UPSKILL_EMBEDDED_MODEL",
                           "UPSKILL_ENGINE_DIR", "UPSKILL_ENGINE_TIMEOUT", "UPSKILL_COMMAND_ENV",
                           "UPSKILL_COMMAND_TIMEOUT", "UPSKILL_ALLOW_INSECURE_HTTP", "UPSKILL_NO_ENV_FILE",
                           "GENERIC_BASE_URL", "HF_ENDPOINT", "HF_HUB_OFFLINE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"}) {
    if (const auto value = env.variable(name); value && !value->empty()) variables.emplace_back(name);
  }
  if (!variables.empty())
    findings.Add(kSettings, "environment", State::kReady, fmt::format("{}", fmt::join(variables, ", ")));
}

const char* FindingStateName(Finding::State state) {
  switch (state) {
    case State::kReady:
      return "ready";
    case State::kAbsent:
      return "absent";
    case State::kBroken:
      return "broken";
  }
  return "";
}

// What this machine has that upskill uses, in the order of areas: models, checks, folders, settings. Servers on this
// machine are asked for their models; those of providers with a key only if `ask_providers`. Takes some seconds at
// most.
std::vector<Finding> LookAtMachine(const Env& env, bool ask_providers) {
  Findings findings;
  LookAtModels(env, ask_providers, findings);
  LookAtChecks(env, findings);
  LookAtPrograms(env, findings);
  const Result<Config> config = LoadConfig(env);
  LookAtFolder("runs", RunsFolder("", config ? *config : Config()), "name another with -d or runs_dir", findings);
  LookAtFolder("cache", CacheFolder(env), "name another in UPSKILL_CACHE", findings);
  LookAtSettings(env, config, findings);
  return findings.Take();
}

struct DoctorOptions {
  bool check = false;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

constexpr std::size_t kNameColumns = 18;

TerminalText MarkOf(Finding::State state, const Style& style) {
  switch (state) {
    case Finding::State::kReady:
      return Tinted(style, Tint::kGood, "✓");
    case Finding::State::kBroken:
      return Tinted(style, Tint::kBad, "✗");
    case Finding::State::kAbsent:
      break;
  }
  return Tinted(style, Tint::kDim, "–");
}

void PrintFindings(const std::vector<Finding>& findings, const Style& style, Env& env) {
  constexpr std::size_t kIndent = 4 + kNameColumns + 1;
  std::string area;
  for (const Finding& finding : findings) {
    if (finding.area != area) {
      if (!area.empty()) env.out("\n");
      env.out(TerminalText::Format("{}\n", Tinted(style, Tint::kBold, TerminalText::EscapeLine(finding.area))));
      area = finding.area;
    }
    const std::string text = finding.remedy.empty() ? finding.text : finding.text + "; " + finding.remedy;
    const std::string name(finding.name.substr(0, kNameColumns));
    env.out(TerminalText::Format("  {} {}{} {}\n", MarkOf(finding.state, style), name,
                                 std::string(kNameColumns - name.size(), ' '), Wrapped(text, style.columns, kIndent)));
  }
}

void PrintFindingsJson(const std::vector<Finding>& findings, Env& env) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"area", finding.area},
                    {"name", finding.name},
                    {"state", FindingStateName(finding.state)},
                    {"text", finding.text},
                    {"remedy", finding.remedy.empty() ? Json() : Json(finding.remedy)}});
  }
  PrintDocument(env, DumpJsonIndented({{"version", UPSKILL_VERSION}, {"findings", list}}) + "\n");
}

void AddDoctorCommand(CLI::App& app, DoctorOptions& options) {
  CLI::App* command =
      app.add_subcommand("doctor", "Show what this machine has, what is missing and what to do about it")
          ->group("Other");
  command->add_flag("--check", options.check, "Also ask the providers with a key whether they answer");
  command->add_flag("--json", options.json, "Print a JSON object");
  AddColorOption(*command, options.color);
  AddExamples(*command, {{"See what works here", "upskill doctor"},
                         {"Find out whether the keys are accepted", "upskill doctor --check"}});
  AddHelpNote(*command,
              "Exits with 1 if something is broken. What is only absent (–) is needed by some commands alone.");
}

// Fails (kFailed) if something is broken; what is only absent doesn't count.
ExitCode RunDoctor(const DoctorOptions& options, Env& env) {
  const std::vector<Finding> findings = LookAtMachine(env, options.check);
  if (options.json) {
    PrintFindingsJson(findings, env);
  } else {
    PrintFindings(findings, StyleFor(env, env.out_is_terminal, options.color), env);
  }
  const bool broken = std::any_of(findings.begin(), findings.end(),
                                  [](const Finding& finding) { return finding.state == Finding::State::kBroken; });
  return broken ? ExitCode::kFailed : ExitCode::kSuccess;
}

}  // namespace

Command DoctorCommand() { return CommandOf({"doctor"}, AddDoctorCommand, RunDoctor); }

}  // namespace upskill
