// SPDX-License-Identifier: Apache-2.0
#include "cli/options/option_row.h"

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

}  // namespace upskill
