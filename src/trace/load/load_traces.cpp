// SPDX-License-Identifier: Apache-2.0
#include "trace/load/load_traces.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// The last `parts` parts of a path.
std::string TailOf(const fs::path& path, std::size_t parts) {
  std::vector<fs::path> all(path.begin(), path.end());
  fs::path tail;
  for (std::size_t i = all.size() - std::min(parts, all.size()); i < all.size(); ++i) tail /= all[i];
  return tail.string();
}

// Some agents give all files the same name ("<session>/events.jsonl"), so that only the folder identifies them.
void TellApart(std::vector<TraceName>& names) {
  constexpr std::size_t kMaxParts = 8;
  for (std::size_t parts = 1; parts <= kMaxParts; ++parts) {
    std::map<std::string, std::size_t> count;
    for (const TraceName& name : names) ++count[name.shown];
    bool changed = false;
    for (TraceName& name : names) {
      if (name.path == "-" || (parts > 1 && count[name.shown] == 1)) continue;
      const std::string longer = TailOf(name.path, parts);
      changed = changed || longer != name.shown;
      name.shown = longer;
    }
    if (!changed && parts > 1) return;
  }
}

}  // namespace

Result<std::vector<TraceName>> ExpandTraceArguments(const std::vector<std::string>& arguments,
                                                    const VariableLookup& variable) {
  std::vector<TraceName> names;
  std::set<std::string> known;
  const auto add = [&](const std::string& path) {
    if (known.insert(path).second) names.push_back({path, path == "-" ? "stdin" : path});
  };
  for (const std::string& argument : arguments) {
    if (argument == "-") {
      add(argument);
    } else if (argument == "latest") {
      ASSIGN_OR_RETURN(const std::vector<FoundTrace> found, FindTraces(variable, ""));
      if (found.empty()) return Error{ErrorKind::kNotFound, "latest: no traces in the agents' folders; give a file"};
      add(found.front().path.string());
    } else {
      ASSIGN_OR_RETURN(const std::vector<fs::path> files, ExpandTraceArgument(argument));
      for (const fs::path& file : files) add(file.string());
    }
  }
  TellApart(names);
  return names;
}

Result<LoadedTrace> LoadTrace(const TraceName& name, const TraceLoadOptions& options, Redactor& redactor) {
  Result<Trace> trace = name.path == "-"
                            ? ReadTrace(LineSource::FromDescriptor(Fd(::dup(STDIN_FILENO)), name.shown), options.read)
                            : ReadTrace(fs::path(name.path), options.read);
  if (!trace) return trace.error();
  LoadedTrace loaded{std::move(*trace), {}};
  loaded.trace.source = name.shown;
  if (options.keep_secrets) return loaded;
  const auto before = static_cast<std::ptrdiff_t>(redactor.redactions().size());
  RedactTrace(loaded.trace, redactor);
  loaded.trace.source = redactor.ApplyQuietly(std::move(loaded.trace.source));
  loaded.redactions.assign(redactor.redactions().begin() + before, redactor.redactions().end());
  return loaded;
}

Result<LoadedTraces> LoadTraces(const std::vector<std::string>& arguments, const VariableLookup& variable,
                                const TraceLoadOptions& options) {
  Redactor redactor(options.redact);
  return LoadTraces(arguments, variable, options, redactor);
}

Result<LoadedTraces> LoadTraces(const std::vector<std::string>& arguments, const VariableLookup& variable,
                                const TraceLoadOptions& options, Redactor& redactor) {
  ASSIGN_OR_RETURN(const std::vector<TraceName> names, ExpandTraceArguments(arguments, variable));
  LoadedTraces loaded;
  for (const TraceName& name : names) {
    Result<LoadedTrace> trace = LoadTrace(name, options, redactor);
    if (trace) {
      loaded.redactions.insert(loaded.redactions.end(), trace->redactions.begin(), trace->redactions.end());
      loaded.traces.push_back(std::move(trace->trace));
    } else if (trace.error().kind == ErrorKind::kCancelled) {
      return trace.error();
    } else {
      loaded.unread.push_back(trace.error());
    }
  }
  if (loaded.traces.empty()) return NoTraceRead(loaded.unread);
  return loaded;
}

Error NoTraceRead(const std::vector<Error>& errors) {
  constexpr std::size_t kMax = 5;
  if (errors.size() == 1) return errors.front();
  std::string reasons;
  for (std::size_t i = 0; i < std::min(errors.size(), kMax); ++i) reasons += "\n  " + errors[i].message;
  if (errors.size() > kMax) reasons += fmt::format("\n  and {} more", errors.size() - kMax);
  return InputError(fmt::format("none of the {} traces could be read:{}", errors.size(), reasons));
}

std::vector<std::string> DamageWarnings(const Trace& trace) {
  constexpr std::size_t kMax = 3;
  std::vector<std::string> warnings;
  for (const TraceProblem& problem : trace.problems) {
    if (warnings.size() == kMax) break;
    const std::string line = problem.line == 0 ? "" : fmt::format(":{}", problem.line);
    warnings.push_back(fmt::format("{}{}: {}; the rest was read", trace.source, line, problem.message));
  }
  if (trace.problems.size() > kMax)
    warnings.push_back(
        fmt::format("{}: {} more damaged", trace.source, Counted(trace.problems.size() - kMax, "record")));
  return warnings;
}

}  // namespace upskill
