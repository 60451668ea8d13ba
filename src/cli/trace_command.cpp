// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "report/trace_text.h"
#include "trace/digest/digest.h"
#include "trace/load/find_traces.h"
#include "trace/load/load_traces.h"
#include "util/files.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

void AddReadOptions(CLI::App& command, TraceOptions& options) {
  command
      .add_option("FILE", options.files,
                  "traces: files, folders, patterns, - for standard input, latest for the newest")
      ->required();
  command.add_option("--format", options.format, "read as this format instead of detecting it");
  command.add_flag("--lenient", options.lenient, "keep what is readable of a damaged trace");
  command.add_flag("--no-redact", options.no_redact, "leave secrets in (this output only; they stay on this machine)");
  command.add_flag("--redact-home", options.hide_home, "also hide the names of home folders");
  command.add_flag("--redact-emails", options.hide_emails, "also hide e-mail addresses");
}

Result<TraceLoadOptions> LoadOptionsOf(const TraceOptions& options) {
  TraceLoadOptions load;
  load.read.lenient = options.lenient;
  load.redact = {options.hide_home, options.hide_emails};
  load.keep_secrets = options.no_redact;
  if (options.format.empty()) return load;
  load.read.format = TraceFormatFromName(options.format);
  if (load.read.format) return load;
  std::string names;
  for (const TraceFormat format : AllTraceFormats())
    names += (names.empty() ? "" : ", ") + std::string(TraceFormatName(format));
  return InputError(fmt::format("--format {}: unknown; known: {}", SafeForTerminalLine(options.format), names));
}

void ShowOne(const LoadedTrace& loaded, const TraceOptions& options, bool several, Env& env) {
  const Trace& trace = loaded.trace;
  if (options.events) {
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
      env.out(options.json ? DumpJson(EventJson(trace, i)) + "\n" : EventLine(trace, i, env.columns) + "\n");
    }
    return;
  }
  if (several) env.out(fmt::format("{}\n", SafeForTerminalLine(trace.source)));
  env.out(TraceShowText(trace, RedactionSummary(loaded.redactions, "would be redacted")));
}

// Of several traces, one that can't be read does not stop the others.
void WarnOf(const Error& error, Env& env) { env.error(fmt::format("warning: {}\n", SafeForTerminal(error.message))); }

ExitCode RunShow(const TraceOptions& options, Env& env) {
  const Result<TraceLoadOptions> load = LoadOptionsOf(options);
  if (!load) return PrintError(env, load.error());
  const Result<std::vector<TraceName>> names = ExpandTraceArguments(options.files, env.variable);
  if (!names) return PrintError(env, names.error());
  Redactor redactor(load->redact);
  Json list = Json::array();
  std::size_t failed = 0;
  for (const TraceName& name : *names) {
    const Result<LoadedTrace> loaded = LoadTrace(name, *load, redactor);
    if (!loaded) {
      if (names->size() == 1) return PrintError(env, loaded.error());
      WarnOf(loaded.error(), env);
      ++failed;
      continue;
    }
    if (options.json && !options.events) {
      list.push_back(TraceShowJson(loaded->trace));
    } else {
      ShowOne(*loaded, options, names->size() > 1, env);
    }
  }
  if (options.json && !options.events) env.out(DumpJsonIndented(names->size() == 1 ? list.at(0) : list) + "\n");
  return failed == 0 ? ExitCode::kSuccess : ExitCode::kFailed;
}

ExitCode RunDigest(const TraceOptions& options, Env& env) {
  const Result<TraceLoadOptions> load = LoadOptionsOf(options);
  if (!load) return PrintError(env, load.error());
  const Result<LoadedTraces> loaded = LoadTraces(options.files, env.variable, *load);
  if (!loaded) return PrintError(env, loaded.error());
  for (const Error& error : loaded->unread) WarnOf(error, env);
  const Digest digest = MakeDigest(loaded->traces, {options.budget});
  if (options.output.empty()) {
    // What is piped on stays as it is; the empty line keeps the summary apart from it.
    env.out(env.out_is_terminal ? SafeForTerminal(digest.text) + "\n" : digest.text);
  } else if (const Status written = WriteFileAtomically(options.output, digest.text); !written) {
    return PrintError(env, written.error());
  }
  if (!options.quiet) {
    const std::string secrets = RedactionSummary(loaded->redactions, "redacted");
    env.error(fmt::format("digest {}{}\n", KeptLine(digest), secrets.empty() ? "" : " · " + secrets));
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
    env.out(fmt::format("{} {}  {:<11} {:>9}  {}\n", time.substr(0, 10), time.substr(11, 5), trace.agent, size,
                        SafeForTerminalLine(trace.path.string())));
  }
  if (options.json) env.out(DumpJsonIndented(list) + "\n");
  if (found->empty()) env.error("no traces in the agents' folders\n");
  if (found->size() > options.most)
    env.error(fmt::format("and {} more; -n shows more\n", found->size() - options.most));
  return ExitCode::kSuccess;
}

}  // namespace

void AddTraceCommand(CLI::App& app, TraceOptions& options) {
  CLI::App* command = app.add_subcommand("trace", "Look into recordings of agents' work");
  command->require_subcommand(1);
  CLI::App* show = command->add_subcommand("show", "Who did what: turns, tool calls, errors, tokens, secrets");
  AddReadOptions(*show, options);
  show->add_flag("--json", options.json, "print an object (with several files: a list)");
  show->add_flag("--events", options.events, "list every event; with --json one object a line");
  CLI::App* digest = command->add_subcommand("digest", "What would reach the teacher");
  AddReadOptions(*digest, options);
  digest->add_option("--budget", options.budget, "tokens that the digest may take")
      ->capture_default_str()
      ->check(CLI::Range(200, 1'000'000));
  digest->add_option("-o,--output", options.output, "write it to this file");
  digest->add_flag("-q,--quiet", options.quiet, "no summary on stderr");
  CLI::App* find = command->add_subcommand("find", "List the traces in the agents' own folders, newest first");
  find->add_option("--agent", options.agent, "only of this agent");
  find->add_option("-n", options.most, "how many to list")->capture_default_str();
  find->add_flag("--json", options.json, "print a list of objects");
}

ExitCode RunTrace(const CLI::App& app, const TraceOptions& options, Env& env) {
  const CLI::App* command = app.get_subcommand("trace");
  if (command->got_subcommand("show")) return RunShow(options, env);
  if (command->got_subcommand("digest")) return RunDigest(options, env);
  return RunFind(options, env);
}

}  // namespace upskill
