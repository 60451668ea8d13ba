// SPDX-License-Identifier: Apache-2.0
#include "cli/resume_line.h"

#include <fmt/format.h>

#include "util/text.h"

namespace upskill {

std::string ResumeLine(const EvalOptions& options, const EvalSession& session) {
  std::string line = fmt::format("upskill {} {}", options.table_first ? "benchmark" : "eval", ShellWord(options.skill));
  for (const Student& student : session.plan.students) line += " -m " + ShellWord(student.spec);
  if (session.plan.judge) line += " --judge-model " + ShellWord(session.plan.judge->spec);
  for (const std::string& url : options.base_urls) line += " --base-url " + ShellWord(url);
  if (options.parallel > 0) line += fmt::format(" -j {}", options.parallel);
  if (options.batch) line += " --batch";
  for (const std::string& url : options.workspace.mcp.urls) line += " --mcp-url " + ShellWord(url);
  for (const std::string& name : options.workspace.mcp.variables) line += " --mcp-env " + ShellWord(name);
  if (options.max_cost_usd) line += fmt::format(" --max-cost {}", *options.max_cost_usd);
  if (options.max_tokens_total) line += fmt::format(" --max-tokens-total {}", *options.max_tokens_total);
  if (options.timeout_seconds) line += fmt::format(" --timeout {}s", *options.timeout_seconds);
  if (!options.gate.empty()) line += " --gate " + ShellWord(options.gate);
  if (options.sandbox.none) line += " --no-sandbox";
  for (const std::string& folder : options.sandbox.toolchains) line += " --toolchain " + ShellWord(folder);
  if (!options.runs_dir.empty()) line += " --runs-dir " + ShellWord(options.runs_dir);
  return line + " --resume " + ShellWord(session.plan.run);
}

}  // namespace upskill
