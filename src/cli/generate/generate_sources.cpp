// SPDX-License-Identifier: Apache-2.0
#include "cli/generate/generate_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/runs/run_traces.h"
#include "mcp/mcp_http.h"
#include "mcp/mcp_tools.h"
#include "skill/skill.h"
#include "teach/read_parts.h"
#include "trace/digest/digest.h"
#include "trace/load/load_traces.h"
#include "util/child_environment.h"
#include "util/files.h"
#include "util/folder.h"
#include "util/json_file.h"
#include "util/known_secrets.h"
#include "util/nearest_name.h"
#include "util/temp_folder.h"
#include "util/text.h"
#include "util/tokens.h"
#include "util/variable_text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// A name as it is kept and told to the teacher, where each has a line of its own.
std::string NameOnOneLine(std::string_view name) { return TerminalText::EscapeLine(name).text(); }

bool IsSkill(const fs::path& path) {
  std::error_code code;
  return path.filename() == "SKILL.md" || fs::exists(path / "SKILL.md", code) || fs::exists(path / "skill.md", code);
}

// References and scripts stay as they are, as files (CopySkillFiles).
Status AddSkill(const std::string& path, GenerateSources& sources) {
  if (sources.material.has_existing())
    return InputError(fmt::format("--from {}: only one skill can be improved at a time", path));
  ASSIGN_OR_RETURN(const Skill skill, LoadSkill(path));
  sources.existing_folder = skill.folder;
  SkillText& existing = sources.material.existing;
  existing = {skill.name, skill.description, skill.body, {}, {}, skill.other_fields};
  const Result<Skill> again = ParseSkill(SkillFileText(existing), "SKILL.md");
  if (!again || again->body != skill.body || again->other_fields != skill.other_fields) {
    existing.other_fields.clear();
    sources.warnings.push_back(path + ": fields other than name and description can't be kept");
  }
  return {};
}

constexpr std::string_view kServer = "mcp:";

// The environment of MCP servers: no variable that may hold a key, unless --mcp-env names it.
Result<std::vector<std::string>> ServerEnvironment(const std::vector<std::string>& given, const Env& env) {
  std::vector<std::string> environment = ChildEnvironment();
  for (const std::string& variable : given) {
    const std::size_t equals = variable.find('=');
    const std::string name = variable.substr(0, equals);
    if (!IsVariableName(name)) return InputError("--mcp-env: expected NAME or NAME=VALUE, with a variable's name");
    const std::optional<std::string> value =
        equals == std::string::npos ? env.variable(name) : std::optional(variable.substr(equals + 1));
    if (!value) return InputError(fmt::format("--mcp-env {}: this variable is not set", name));
    RememberSecret(Secret(*value));
    environment = WithVariable(std::move(environment), name, *value);
  }
  return environment;
}

bool IsServerUrl(const std::string& place) {
  return place.starts_with("mcp:http://") || place.starts_with("mcp:https://");
}

// The headers of --mcp-header, for the server at `url`.
Result<McpAddress> ServerAddress(const std::string& url, const std::vector<std::string>& headers, const Env& env) {
  McpAddress address{url, {}};
  for (const std::string& header : headers) {
    const std::size_t colon = header.find(':');
    const std::string name(Trim(std::string_view(header).substr(0, colon)));
    if (colon == std::string::npos || !IsFreeMcpHeader(name))
      return InputError("--mcp-header: expected 'NAME: VALUE', with the name of a header that may be set");
    const std::string_view text = Trim(std::string_view(header).substr(colon + 1));
    const auto value_of = [&](const std::string& variable) {
      std::optional<std::string> known = env.variable(variable);
      if (known) RememberSecret(Secret(*known));
      return known;
    };
    ASSIGN_OR_RETURN(std::string value, WithVariables(text, value_of).With("--mcp-header " + name));
    address.headers.emplace_back(name, Secret(std::move(value)));
  }
  return address;
}

Result<McpTools> ToolsOfServer(const std::string& place, const GenerateCommandOptions& options, const Env& env) {
  const std::string server = place.substr(kServer.size());
  const std::chrono::milliseconds limit(std::llround(options.mcp_timeout_seconds * 1000.0));
  if (IsServerUrl(place)) {
    ASSIGN_OR_RETURN(const McpAddress address, ServerAddress(server, options.mcp_headers, env));
    return ListMcpToolsAt(address, limit, env.stop);
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> environment, ServerEnvironment(options.mcp_env, env));
  return ListMcpTools(server, environment, limit, env.stop);
}

// The tools that are at `place`: a server's command line or URL after kServer, or a file with a `tools/list`. `source`
// becomes their name for people: that of the server itself, whose command line may hold keys, or the file's.
Result<Json> ToolsAt(const std::string& place, const GenerateCommandOptions& options, std::string& source,
                     const Env& env) {
  if (place.starts_with(kServer)) {
    Result<McpTools> server = ToolsOfServer(place, options, env);
    if (!server && server.error().cause == ErrorCause::kTimeout) {
      Error error = server.error();
      error.message += " (--mcp-timeout sets how long to wait)";
      return error;
    }
    if (!server) return server.error();
    source = NameOnOneLine(Trim("mcp: " + server->server));
    return std::move(server->tools);
  }
  source = NameOnOneLine(place);
  ASSIGN_OR_RETURN(const std::string text, ReadFile(place));
  ASSIGN_OR_RETURN(const Json json, ParseJsonFile(text, place));
  const Json* list = &json;
  for (const char* key : {"result", "tools"}) {
    if (list->is_object() && list->contains(key)) list = &list->at(key);
  }
  return list->is_array() ? *list : Json::array({*list});
}

// FILE#NAME, mcp:COMMAND#NAME or mcp:URL#NAME; without a name every tool there.
Status AddToolsOf(const std::string& argument, const GenerateCommandOptions& options, GenerateSources& sources,
                  const Env& env) {
  const std::size_t hash = argument.rfind('#');
  const std::string name = hash == std::string::npos ? "" : argument.substr(hash + 1);
  std::string source;
  ASSIGN_OR_RETURN(const Json tools, ToolsAt(argument.substr(0, hash), options, source, env));
  sources.names.push_back(name.empty() ? source : source + "#" + NameOnOneLine(name));
  std::vector<std::string> names;
  bool found = false;
  for (const Json& tool : tools) {
    const std::string tool_name = JsonGet<std::string>(tool, "name", "");
    names.push_back(tool_name);
    if (!name.empty() && name != tool_name) continue;
    RETURN_IF_ERROR(AddTool(tool, source, sources.material));
    found = true;
  }
  if (found) return {};
  if (names.empty()) return InputError(fmt::format("--tool {}: it has no tools", source));
  constexpr std::size_t kShownNames = 20;
  const std::size_t more = names.size() - std::min(names.size(), kShownNames);
  for (std::string& shown : names) shown = ExcerptLine(shown, 60);
  const std::optional<std::string> nearest = NearestName(name, names);
  names.resize(names.size() - more);
  return InputError(fmt::format("--tool {}: no tool '{}' in it{}; available: {}{}", source, ExcerptLine(name, 60),
                                nearest ? fmt::format("; did you mean '{}'?", *nearest) : "", fmt::join(names, ", "),
                                more == 0 ? "" : fmt::format(" and {} more", more)));
}

// "trace    kernel.jsonl · Claude Code, claude-opus-4-5 · 4 turns, 41 tool calls, 7 errors".
std::string TraceLine(const Trace& trace) {
  const TraceCounts counts = CountTrace(trace);
  std::string agent = trace.agent_name.empty() ? TraceFormatTitle(trace.format) : trace.agent_name;
  for (const std::string& model : trace.models) agent += ", " + model;
  return fmt::format("trace    {} · {} · {}, {}, {}", trace.source, agent, Counted(counts.human_turns, "turn"),
                     Counted(counts.tool_calls, "tool call"), Counted(counts.tool_errors, "error"));
}

// Once for all traces; empty: they have everything.
std::string LossyLine(const std::vector<Trace>& traces) {
  std::size_t lossy = 0;
  std::size_t lines = 0;
  for (const Trace& trace : traces) {
    lossy += trace.lossy ? 1 : 0;
    lines += trace.dropped_lines;
  }
  if (lossy == 0) return "";
  const std::string which = traces.size() == 1       ? "the recording leaves"
                            : lossy == traces.size() ? "the recordings leave"
                                                     : fmt::format("{} of {} recordings leave", lossy, traces.size());
  return fmt::format("note     {} text out{}; the agent's own session files are complete", which,
                     lines == 0 ? "" : fmt::format(" ({})", Counted(lines, "line")));
}

// Replaces secrets in what is read for one generation, with the same number for the same secret everywhere.
class SourceRedactor {
 public:
  explicit SourceRedactor(const GenerateCommandOptions& options, bool keep_secrets)
      : keep_secrets_(keep_secrets), keep_emails_(options.keep_emails), hide_home_(options.hide_home) {}

  // Of what others wrote: traces and documents.
  RedactOptions for_recordings() const { return {hide_home_, !keep_emails_}; }
  void ApplyToRecording(std::string& text) { Apply(text, for_recordings()); }
  // Of what the user gives in order to tell it, whose addresses are examples: the task, tools, a skill.
  void ApplyToInput(std::string& text) { Apply(text, {hide_home_, false}); }

  Redactor& redactor() { return redactor_; }

 private:
  void Apply(std::string& text, RedactOptions options) {
    if (keep_secrets_) return;
    redactor_.SetOptions(options);
    text = redactor_.Apply(std::move(text));
  }

  bool keep_secrets_;
  bool keep_emails_;
  bool hide_home_;
  Redactor redactor_{{}};
};

// The folder of a skill to improve is copied as it is; what the teacher reads of it is not.
void RedactExisting(SkillText& skill, SourceRedactor& redactor) {
  for (std::string* text : {&skill.description, &skill.body, &skill.other_fields}) redactor.ApplyToInput(*text);
}

using BudgetFunction = std::function<MaterialBudget(std::size_t tokens)>;

// About what the traces have, repetitions included.
std::size_t TokensOf(const std::vector<Trace>& traces) {
  std::size_t bytes = 0;
  for (const Trace& trace : traces) {
    for (const Event& event : trace.events) bytes += event.text.size();
  }
  return bytes / kBytesPerToken;
}

// Why traces are condensed although there is a teacher, and what it would take to have all of them read.
std::string BeyondMaxPartsLine(std::size_t needed, std::size_t budget_tokens, const GenerateCommandOptions& options) {
  std::string line = fmt::format("digest   condensed because all of it would take {} of at most {}",
                                 Counted(needed, "part"), Counted(PartTokens(budget_tokens), "token"));
  line += fmt::format(", more than --max-parts {}", options.max_parts);
  constexpr std::size_t kMostParts = 1000;  // of --max-parts
  if (needed <= kMostParts) line += fmt::format("; to have it read whole, give --max-parts {}", needed);
  return line;
}

Status AddTraceFiles(const std::vector<std::string>& names, const GenerateCommandOptions& options, bool keep_secrets,
                     const BudgetFunction& budget_for, const Env& env, SourceRedactor& redactor,
                     GenerateSources& sources) {
  TraceLoadOptions load;
  load.read.strict = options.strict;
  load.read.stop = env.stop;
  load.keep_secrets = keep_secrets;
  redactor.redactor().SetOptions(redactor.for_recordings());
  ASSIGN_OR_RETURN(const LoadedTraces loaded, LoadTraces(names, env.variable, load, redactor.redactor()));
  for (const Error& error : loaded.unread) sources.warnings.push_back(error.message);
  for (const Trace& trace : loaded.traces) {
    for (std::string& warning : DamageWarnings(trace)) sources.warnings.push_back(std::move(warning));
  }
  for (const Trace& trace : loaded.traces) sources.told.push_back(TraceLine(trace));
  if (std::string line = LossyLine(loaded.traces); !line.empty()) sources.told.push_back(std::move(line));
  const MaterialBudget most = budget_for(TokensOf(loaded.traces));
  if (!most.told.empty()) sources.told.push_back(most.told);
  const AddedTraces added = AddTraces(loaded.traces, {most.tokens, options.max_parts}, sources.material);
  const std::size_t parts = CountParts(sources.material, most.tokens);
  std::string line = "digest   " + added.kept;
  if (parts > 1)
    line += fmt::format(" · too long for one request: the teacher reads {} and takes notes", Counted(parts, "part"));
  sources.told.push_back(std::move(line));
  if (added.condensed)
    sources.told.push_back(BeyondMaxPartsLine(CountPartsOfAll(loaded.traces, most.tokens), most.tokens, options));
  return {};
}

Status CheckServerVariables(const GenerateCommandOptions& options) {
  const auto is_command = [](const std::string& tool) { return tool.starts_with(kServer) && !IsServerUrl(tool); };
  if (!options.mcp_env.empty() && std::none_of(options.tools.begin(), options.tools.end(), is_command))
    return InputError("--mcp-env sets variables of MCP servers: give --tool mcp:COMMAND");
  if (!options.mcp_headers.empty() && std::none_of(options.tools.begin(), options.tools.end(), IsServerUrl))
    return InputError("--mcp-header is for MCP servers at URLs: give --tool mcp:URL");
  return {};
}

// Takes the skill among what --from names, and writes the traces of runs below `scratch`; returns the traces to read.
Result<std::vector<std::string>> SortSources(const GenerateCommandOptions& options, const fs::path& runs_dir,
                                             const fs::path& scratch, GenerateSources& sources) {
  std::vector<std::string> trace_names;
  for (const std::string& from : options.from) {
    sources.names.push_back(NameOnOneLine(from));
    if (IsSkill(from)) {
      RETURN_IF_ERROR(AddSkill(from, sources));
    } else if (const std::optional<fs::path> run = RunNamed(from, runs_dir)) {
      ASSIGN_OR_RETURN(const Folder folder, Folder::Make(scratch / std::to_string(sources.names.size())));
      ASSIGN_OR_RETURN(const std::vector<std::string> paths, WriteTracesOfRun(*run, folder));
      trace_names.insert(trace_names.end(), paths.begin(), paths.end());
    } else {
      trace_names.push_back(from);
    }
  }
  return trace_names;
}

}  // namespace

Error NothingToStartFrom() {
  return InputError("nothing to make a skill from: give a TASK, or --from with a trace or a skill");
}

Status CheckSourcesExist(const GenerateCommandOptions& options, const fs::path& runs_dir, const Env& env) {
  const auto check = [](const char* option, const std::string& name) -> Status {
    std::error_code code;
    if (name.empty() || name == "-" || fs::exists(name, code)) return {};
    return Error{ErrorKind::kNotFound, fmt::format("{} {}: no such file or folder", option, name)};
  };
  for (const std::string& from : options.from) {
    if (IsSkill(from) || RunNamed(from, runs_dir)) continue;
    ASSIGN_OR_RETURN(const std::vector<TraceName> traces, ExpandTraceArguments({from}, env.variable));
    for (const TraceName& trace : traces) RETURN_IF_ERROR(check("--from", trace.path));
  }
  for (const std::string& doc : options.docs) RETURN_IF_ERROR(check("--docs", doc));
  return check("--tests", options.tests);
}

Result<GenerateSources> ReadSources(const GenerateCommandOptions& options, const fs::path& runs_dir, bool keep_secrets,
                                    const std::function<MaterialBudget(std::size_t tokens)>& budget_for,
                                    const Env& env) {
  GenerateSources sources;
  Material& material = sources.material;
  material.task = options.task;
  ASSIGN_OR_RETURN(const TempFolder scratch, TempFolder::Make("upskill-traces-"));  // of runs
  ASSIGN_OR_RETURN(const std::vector<std::string> trace_names, SortSources(options, runs_dir, scratch.path(), sources));
  SourceRedactor redactor(options, keep_secrets);
  RedactExisting(material.existing, redactor);
  if (!trace_names.empty())
    RETURN_IF_ERROR(AddTraceFiles(trace_names, options, keep_secrets, budget_for, env, redactor, sources));
  RETURN_IF_ERROR(CheckServerVariables(options));
  for (const std::string& example : options.examples) {
    if (example.find("->") == std::string::npos && (example.ends_with(".gguf") || example.starts_with("llama:")))
      return InputError(fmt::format(
          "-e {0}: -e gives an example (--example), but this is a model; to name the student, use --eval-model {0}",
          ShellWord(example)));
    material.examples.push_back(ParseExample(example));
  }
  const std::size_t before_tools = material.items.size();
  for (const std::string& tool : options.tools) {
    if (const Status added = AddToolsOf(tool, options, sources, env); !added) {
      Error error = added.error();
      redactor.ApplyToInput(error.message);  // it may tell the server's command line
      return error;
    }
  }
  for (std::size_t i = before_tools; i < material.items.size(); ++i) redactor.ApplyToInput(material.items[i].text);
  for (const std::string& doc : options.docs) {
    ASSIGN_OR_RETURN(std::string text, ReadFile(doc, 16U << 20U));
    if (FindInvalidUtf8(text)) return InputError(fmt::format("--docs {}: not text in UTF-8", doc));
    redactor.ApplyToRecording(text);
    std::string name = NameOnOneLine(doc);
    redactor.ApplyToInput(name);
    AddDocument(name, text, material);
    sources.names.push_back(name);
  }
  redactor.ApplyToInput(material.task);
  for (Example& example : material.examples) {
    redactor.ApplyToInput(example.input);
    redactor.ApplyToInput(example.output);
  }
  for (std::string& name : sources.names) redactor.ApplyToInput(name);
  if (material.task.empty() && material.items.empty() && !material.has_existing()) {
    return NothingToStartFrom();
  }
  if (trace_names.empty()) {
    const MaterialBudget budget = budget_for(EstimateTokens(ItemsText(material, 0, material.items.size())));
    if (!budget.told.empty()) sources.told.push_back(budget.told);
  }
  sources.redactions = RedactionSummary(redactor.redactor().redactions(), "redacted");
  return sources;
}

}  // namespace upskill
