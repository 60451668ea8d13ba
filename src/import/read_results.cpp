// SPDX-License-Identifier: Apache-2.0
#include "import/read_results.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "import/read_plugin_eval.h"
#include "import/read_promptfoo.h"
#include "import/read_skill_creator.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

Result<ImportedResults> ResultsOfJson(const Json& json, const std::string& source, const ImportOptions& options) {
  if (IsPromptfooResults(json)) return ResultsOfPromptfoo(json, source, options);
  if (IsPluginEval(json)) return ResultsOfPluginEval(json, source, options);
  if (IsBenchmark(json)) return ResultsOfBenchmark(json, source, options);
  return InputError(
      fmt::format("{}: not a result file that upskill knows: skill-creator's benchmark.json or workspace, "
                  "aggregate-result.json of claude plugin eval, promptfoo's JSON output",
                  source));
}

}  // namespace

Result<ImportedResults> ReadResultsText(std::string_view text, const std::string& source,
                                        const ImportOptions& options) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, source));
  ASSIGN_OR_RETURN(ImportedResults results, ResultsOfJson(json, source, options));
  results.source = source;
  results.sha256 = Sha256Hex(text);
  return results;
}

Result<std::vector<ImportedResults>> ReadResults(const std::vector<fs::path>& paths, const ImportOptions& options) {
  std::vector<ImportedResults> all;
  for (const fs::path& path : paths) {
    std::error_code code;
    if (fs::is_directory(path, code)) {
      ASSIGN_OR_RETURN(std::vector<ImportedResults> of_folder, ResultsOfWorkspace(path, options));
      std::move(of_folder.begin(), of_folder.end(), std::back_inserter(all));
      continue;
    }
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    ASSIGN_OR_RETURN(ImportedResults results, ReadResultsText(text, path.string(), options));
    all.push_back(std::move(results));
  }
  return all;
}

}  // namespace upskill
