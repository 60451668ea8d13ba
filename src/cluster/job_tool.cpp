// SPDX-License-Identifier: Apache-2.0
#include "cluster/job_tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "util/child_environment.h"
#include "util/child_process.h"
#include "util/run_child.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxToolOutput = std::size_t{16} << 20U;
constexpr int kNotFoundByShell = 127;

// What the tools print, in lowercase, when their service can't be reached or asks to come again.
constexpr std::array<std::string_view, 28> kOutOfReach = {"unable to contact",
                                                          "connection refused",
                                                          "was refused",
                                                          "connection reset",
                                                          "connect failure",
                                                          "connectionerror",
                                                          "connection error",
                                                          "unable to connect",
                                                          "max retries exceeded",
                                                          "timed out",
                                                          "i/o timeout",
                                                          "handshake timeout",
                                                          "deadline exceeded",
                                                          "temporarily",
                                                          "temporary failure",
                                                          "name resolution",
                                                          "no route to host",
                                                          "network is unreachable",
                                                          "too many requests",
                                                          "bad gateway",
                                                          "service unavailable",
                                                          "server error",
                                                          "could not connect",
                                                          "timeout on endpoint",
                                                          "slowdown",
                                                          "reduce your request rate",
                                                          "internalerror",
                                                          "connection was closed"};

// "; install …", or nothing for a program that comes with its cluster.
std::string HowToInstall(std::string_view tool) {
  if (tool == "hf") return "; install it: pip install -U huggingface_hub";
  if (tool == "aws") return "; install the AWS CLI: pip install awscli";
  if (tool == "kubectl") return "; install it: https://kubernetes.io/docs/tasks/tools";
  return "";
}

}  // namespace

Result<JobToolOutcome> RunTool(const std::vector<std::string>& words, std::string_view input,
                               std::chrono::seconds limit) {
  // Jobs get the environment of the tool that submits them, and this command's mark would end them with it wherever
  // they run on this machine.
  std::string command = fmt::format("unset {}; exec", kCommandMark);
  for (const std::string& word : words) command += " " + ShellWord(word);
  ChildLimits limits;
  limits.time = limit;
  limits.output_bytes = kMaxToolOutput;
  ASSIGN_OR_RETURN(const ChildOutcome child, RunChild(command, ChildEnvironment({"*"}), input, limits));
  const std::string& tool = words.front();
  switch (child.ending) {
    case ChildOutcome::Ending::kExited:
      break;
    case ChildOutcome::Ending::kTimeLimit:
      return Error{ErrorKind::kUnavailable, fmt::format("{} didn't answer within {} s", tool, limit.count())};
    case ChildOutcome::Ending::kOutputLimit:
      return Error{ErrorKind::kUnavailable, fmt::format("{} printed more than {}", tool, BytesText(kMaxToolOutput))};
    case ChildOutcome::Ending::kStopped:
      return Error{ErrorKind::kCancelled, tool + " was stopped"};
  }
  if (child.exit_code == kNotFoundByShell)
    return Error{ErrorKind::kNotFound,
                 fmt::format("'{}' is not installed, or not in PATH{}", tool, HowToInstall(tool))};
  return JobToolOutcome{child.exit_code, child.output, std::string(Trim(child.error_tail))};
}

Error ToolError(const std::vector<std::string>& words, const JobToolOutcome& outcome) {
  const std::string& said = outcome.error.empty() ? outcome.output : outcome.error;
  return Error{ErrorKind::kUnavailable, fmt::format("{} failed with exit code {}{}{}", words.front(), outcome.exit_code,
                                                    Trim(said).empty() ? "" : ": ", ExcerptLine(Trim(said), 400))};
}

Error RefusedByTool(const std::vector<std::string>& words, const JobToolOutcome& outcome) {
  const std::string said = ToLowerAscii(outcome.error + "\n" + outcome.output);
  const bool out_of_reach = std::any_of(kOutOfReach.begin(), kOutOfReach.end(),
                                        [&](std::string_view text) { return said.find(text) != std::string::npos; });
  Error error = ToolError(words, outcome);
  if (!out_of_reach) error.kind = ErrorKind::kPermanent;
  return error;
}

Result<Json> ToolJson(std::string_view output, const std::string& tool) {
  Result<Json> json = ParseJson(output, "what " + tool + " printed");
  if (json) return json;
  Error error = json.error();
  error.kind = ErrorKind::kUnavailable;
  return error;
}

}  // namespace upskill
