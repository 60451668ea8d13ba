// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/option_row.h"

#include <fmt/format.h>

#include <algorithm>

namespace upskill {

std::string LongNameOf(const EvalOption& row) {
  const std::size_t at = row.names.find("--");
  return at == std::string::npos ? "" : row.names.substr(at, row.names.find(',', at) - at);
}

const EvalOption* FindEvalOption(std::string_view name) {
  const std::vector<EvalOption>& rows = EvalOptionRows();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return LongNameOf(row) == name; });
  return found == rows.end() ? nullptr : &*found;
}

CLI::Option* LikeRow(CLI::Option* option, const EvalOption& row) {
  if (!row.value.empty()) option->type_name(row.value);
  if (row.parser) row.parser(*option);
  if ((row.traits & kShowsDefault) != 0) option->capture_default_str();
  if (!row.default_text.empty()) option->default_str(row.default_text);
  return option;
}

void AddParallelOption(CLI::App& command, int& parallel, const std::string& names, const std::string& of) {
  LikeRow(command.add_option(names, parallel, "Maximum concurrent requests per " + of), *FindEvalOption("--jobs"));
}

void AddSandboxOptions(CLI::App& command, SandboxChoice& choice, const std::string& what, const std::string& trusted) {
  AddOptionOfEval(
      command, "--no-sandbox", choice.none,
      fmt::format("Run {} without a sandbox, with all of your rights: only for {} that you trust", what, trusted));
  AddOptionOfEval(command, "--toolchain", choice.toolchains);
}

void AddMcpOptions(CLI::App& command, McpChoice& choice) {
  AddOptionOfEval(command, "--mcp-url", choice.urls);
  AddOptionOfEval(command, "--mcp-env", choice.variables);
}

void AddJudgeOption(CLI::App& command, std::string& judge_model, const std::string& without) {
  AddOptionOfEval(command, "--judge-model", judge_model,
                  "Model that judges answers for checks of the type `judge`; without one, " + without);
}

}  // namespace upskill
