// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>

#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "cli/runs/commands.h"
#include "report/terminal/trace_text.h"
#include "trace/digest/digest.h"
#include "trace/load/find_traces.h"
#include "trace/load/load_traces.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

struct TraceOptions {
  std::vector<std::string> files;  // files, folders, patterns, `-`, `latest`
  std::string format;              // empty: by content
  std::string agent;
  std::string output;
  std::size_t budget = kDefaultDigestTokens;
  std::size_t most = 20;  // traces that `find` lists
  bool json = false;
  bool events = false;
  bool strict = false;
  bool no_redact = false;
  bool hide_home = false;
  bool keep_emails = false;
  bool quiet = false;
};

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const TraceFormat format : AllTraceFormats()) names.emplace_back(TraceFormatName(format));
  return names;
}

void AddReadOptions(CLI::App& command, TraceOptions& options) {
  command
      .add_option("FILE", options.files,
                  "Traces: files, folders, patterns, - for standard input, or latest for the newest")
      ->required();
  BeginGroup(command, "Reading");
  command.add_option("--format", options.format, "Read as this format instead of detecting it")
      ->transform(OneOf(FormatNames()))
      ->type_name("FORMAT");
  command.add_flag("--strict", options.strict, "Stop at a damaged record instead of skipping it");
  BeginGroup(command, "Redaction");
  command.add_flag("--no-redact", options.no_redact, "Leave secrets in this output");
  command.add_flag("--redact-home", options.hide_home, "Also hide the names of home folders");
  command.add_flag("--keep-emails", options.keep_emails, "Leave e-mail addresses in");
  BeginGroup(command, "Output");
}

Result<TraceLoadOptions> LoadOptionsOf(const TraceOptions& options, const Env& env) {
  TraceLoadOptions load;
  load.read.strict = options.strict;
  load.read.stop = env.stop;
  load.redact = {options.hide_home, !options.keep_emails};
  load.keep_secrets = options.no_redact;
  if (options.format.empty()) return load;
  load.read.format = TraceFormatFromName(options.format);
  return load;
}

void ShowOne(const LoadedTrace& loaded, const TraceOptions& options, bool several, Env& env) {
  const Trace& trace = loaded.trace;
  if (options.events) {
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
      if (options.json) {
        PrintDocument(env, DumpJson(EventJson(trace, i)) + "\n");
      } else {
        env.out(EventLine(trace, i, env.columns) + "\n");
      }
    }
    return;
  }
  if (several) env.out(TerminalText::Format("{}\n", trace.source));
  env.out(TraceShowText(trace, RedactionSummary(loaded.redactions, "would be redacted")));
}

ExitCode RunShow(const TraceOptions& options, Env& env) {
  const Result<TraceLoadOptions> load = LoadOptionsOf(options, env);
  if (!load) return PrintError(env, load.error());
  const Result<std::vector<TraceName>> names = ExpandTraceArguments(options.files, env.variable);
  if (!names) return PrintError(env, names.error());
  Redactor redactor(load->redact);
  Json list = Json::array();
  std::vector<Error> unread;
  for (const TraceName& name : *names) {
    const Result<LoadedTrace> loaded = LoadTrace(name, *load, redactor);
    if (!loaded) {
      if (loaded.error().kind == ErrorKind::kCancelled) return PrintError(env, loaded.error());
      unread.push_back(loaded.error());  // the other traces are shown all the same
      continue;
    }
    if (options.json && !options.events) {
      list.push_back(TraceShowJson(loaded->trace));
    } else {
      ShowOne(*loaded, options, names->size() > 1, env);
    }
  }
  if (unread.size() == names->size()) return PrintError(env, NoTraceRead(unread));
  for (const Error& error : unread) PrintWarning(env, error.message);
  if (options.json && !options.events)
    PrintDocument(env, DumpJsonIndented(names->size() == 1 ? list.at(0) : list) + "\n");
  return unread.empty() ? ExitCode::kSuccess : ExitCode::kFailed;
}

ExitCode RunDigest(const TraceOptions& options, Env& env) {
  const Result<TraceLoadOptions> load = LoadOptionsOf(options, env);
  if (!load) return PrintError(env, load.error());
  const Result<LoadedTraces> loaded = LoadTraces(options.files, env.variable, *load);
  if (!loaded) return PrintError(env, loaded.error());
  for (const Error& error : loaded->unread) PrintWarning(env, error.message);
  for (const Trace& trace : loaded->traces) {
    for (const std::string& warning : DamageWarnings(trace)) PrintWarning(env, warning);
  }
  const Digest digest = MakeDigest(loaded->traces, {options.budget});
  if (options.output.empty()) {
    // What is piped on stays as it is; the empty line keeps the summary apart from it.
    PrintDocument(env, env.out_is_terminal ? digest.text + "\n" : digest.text);
  } else if (const Status written = WriteOutputFile(options.output, digest.text); !written) {
    return PrintError(env, written.error());
  }
  if (!options.quiet) {
    const std::string secrets = RedactionSummary(loaded->redactions, "redacted");
    env.error(TerminalText::Format("digest {}{}\n", KeptLine(digest), secrets.empty() ? "" : " · " + secrets));
  }
  return loaded->unread.empty() ? ExitCode::kSuccess : ExitCode::kFailed;
}

ExitCode RunFind(const TraceOptions& options, Env& env) {
  const Result<std::vector<FoundTrace>> found = FindTraces(env.variable, options.agent);
  if (!found) return PrintError(env, found.error());
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(found->size(), options.most); ++i) {
    const FoundTrace& trace = found->at(i);
    const std::string time = FormatTimestamp(trace.modified_ms);
    if (options.json) {
      list.push_back(
          {{"path", trace.path.string()}, {"agent", trace.agent}, {"modified", time}, {"bytes", trace.bytes}});
      continue;
    }
    const std::string size = ShortCount(static_cast<long long>(trace.bytes)) + (trace.bytes < 1000 ? " B" : "B");
    env.out(TerminalText::Format("{} {}  {:<11} {:>9}  {}\n", time.substr(0, 10), time.substr(11, 5), trace.agent, size,
                                 trace.path.string()));
  }
  if (options.json) PrintDocument(env, DumpJsonIndented(list) + "\n");
  if (found->empty()) env.error("no traces in the agents' folders\n");
  if (found->size() > options.most)
    env.error(TerminalText::Format("and {} more; -n shows more\n", found->size() - options.most));
  return ExitCode::kSuccess;
}

// `trace show`, `trace digest`, `trace find`.
void AddTraceCommand(CLI::App& app, TraceOptions& options) {
  CLI::App* command = app.add_subcommand("trace", "Inspect recordings of agent sessions")->group("Skills and traces");
  command->require_subcommand(1);
  AddExamples(*command, {{"List the traces on this machine", "upskill trace find"},
                         {"Show who did what in the newest one", "upskill trace show latest"},
                         {"Show what a teacher would read of it", "upskill trace digest latest"}});
  CLI::App* show = command->add_subcommand("show", "Show who did what: turns, tool calls, errors, tokens, secrets");
  AddReadOptions(*show, options);
  show->add_flag("--events", options.events, "List every event; with --json one object per line");
  show->add_flag("--json", options.json, "Print a JSON object; for several files, a list");
  AddExamples(*show, {{"Summarise a session", "upskill trace show session.jsonl"},
                      {"List the events of the newest trace", "upskill trace show latest --events"}});
  CLI::App* digest = command->add_subcommand("digest", "Print what a teacher would read of traces");
  AddReadOptions(*digest, options);
  digest->add_option("--budget", options.budget, "Maximum tokens of the digest")
      ->capture_default_str()
      ->check(WholeNumber(200, 1'000'000))
      ->type_name("N");
  digest->add_option("-o,--output", options.output, "Write the digest to this file")->type_name("FILE");
  digest->add_flag("-q,--quiet", options.quiet, "Print no summary");
  AddExamples(*digest,
              {{"Condense a session", "upskill trace digest session.jsonl"},
               {"Condense all sessions of a folder", "upskill trace digest sessions --budget 4000 -o digest.md"}});
  CLI::App* find = command->add_subcommand("find", "List the traces in the agents' own folders, newest first");
  find->add_option("--agent", options.agent,
                   fmt::format("Only traces of this agent: {}", fmt::join(KnownTraceAgents(), ", ")))
      ->transform(OneOf(KnownTraceAgents()))
      ->type_name("NAME");
  find->add_option("-n", options.most, "Maximum number of traces")
      ->capture_default_str()
      ->check(WholeNumber(0))
      ->type_name("N");
  find->add_flag("--json", options.json, "Print a JSON list");
  AddExamples(*find, {{"List the newest 20 traces", "upskill trace find"},
                      {"List those of Codex", "upskill trace find --agent codex -n 5"}});
}

ExitCode RunTrace(const CLI::App& app, const TraceOptions& options, Env& env) {
  const CLI::App* command = app.get_subcommand("trace");
  if (command->got_subcommand("show")) return RunShow(options, env);
  if (command->got_subcommand("digest")) return RunDigest(options, env);
  return RunFind(options, env);
}

}  // namespace

Command TraceCommand() { return CommandOf({"trace"}, AddTraceCommand, RunTrace); }

}  // namespace upskill
