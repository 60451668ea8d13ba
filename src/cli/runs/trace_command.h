// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/env/env.h"
#include "trace/digest/digest.h"

namespace CLI {
class App;
}

namespace upskill {

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

// `trace show`, `trace digest`, `trace find`.
void AddTraceCommand(CLI::App& app, TraceOptions& options);
ExitCode RunTrace(const CLI::App& app, const TraceOptions& options, Env& env);

}  // namespace upskill
