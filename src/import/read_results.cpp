// SPDX-License-Identifier: Apache-2.0
#include "import/read_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "import/readers.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFiles = 20'000;
constexpr int kMaxFolders = 12;  // below each other

Result<ImportedResults> ResultsOfJson(const Json& json, const std::string& source, const ImportOptions& options) {
  if (IsPromptfooResults(json)) return ResultsOfPromptfoo(json, source, options);
  if (IsPluginEval(json)) return ResultsOfPluginEval(json, source, options);
  if (IsBenchmark(json)) return ResultsOfBenchmark(json, source, options);
  if (IsDriftproofReceipt(json)) return ResultsOfDriftproof(json, source, options);
  if (IsInspectLog(json)) return ResultsOfInspect(json, source, options);
  if (IsSkillsBench(json)) return ResultsOfSkillsBench(json, source, options);
  return InputError(fmt::format(
      "{}: not a result file that upskill knows: skill-creator's benchmark.json or workspace, "
      "aggregate-result.json of claude plugin eval, promptfoo's JSON output, a log of Inspect, results.jsonl "
      "of Vally, a receipt of Driftproof, results of SkillsBench",
      source));
}

Result<ImportedResults> ResultsOfText(std::string_view text, const std::string& source, const ImportOptions& options) {
  constexpr std::string_view kZip = "PK\x03\x04";
  if (text.starts_with(kZip)) return ResultsOfInspectArchive(text, source, options);
  if (IsVallyResults(text))
    return ResultsOfVally(text, source, fs::path(source).parent_path().filename().string(), options);
  ASSIGN_OR_RETURN(const Json json, ParseForeignJson(text, source));
  return ResultsOfJson(json, source, options);
}

// The regular files of this name below a folder, sorted. Links aren't followed.
Result<std::vector<fs::path>> FilesNamed(const char* name, const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code code;
  fs::recursive_directory_iterator walk(folder, fs::directory_options::skip_permission_denied, code);
  std::size_t entries = 0;
  for (const fs::recursive_directory_iterator end; !code && walk != end; walk.increment(code)) {
    if (++entries > kMaxFiles * 20 || found.size() > kMaxFiles)
      return InputError(fmt::format("{}: too many files; import a part of it", folder.string()));
    if (walk.depth() >= kMaxFolders) walk.disable_recursion_pending();
    std::error_code ignored;
    if (walk->path().filename() == name && fs::is_regular_file(walk->symlink_status(ignored)))
      found.push_back(walk->path());
  }
  if (code) return Error{ErrorKind::kIo, fmt::format("reading {}: {}", folder.string(), code.message())};
  std::sort(found.begin(), found.end());
  return found;
}

Result<ImportedResults> ResultsOfFile(const fs::path& file, const ImportOptions& options) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  return ReadResultsText(text, file.string(), options);
}

Result<std::vector<ImportedResults>> ResultsOfFolder(const fs::path& folder, const ImportOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<fs::path> variants, FilesNamed("results.jsonl", folder));
  std::vector<ImportedResults> all;
  for (const fs::path& file : variants) {
    ASSIGN_OR_RETURN(ImportedResults results, ResultsOfFile(file, options));
    all.push_back(std::move(results));
  }
  if (!all.empty()) return all;
  ASSIGN_OR_RETURN(const std::vector<fs::path> trials, FilesNamed("result.json", folder));
  if (trials.empty()) return ResultsOfWorkspace(folder, options);
  ASSIGN_OR_RETURN(ImportedResults results, ResultsOfTrials(folder, trials, options));
  all.push_back(std::move(results));
  return all;
}

// Adds results to the evaluation that they are a part of, if it is there.
void AddResults(ImportedResults results, std::vector<ImportedResults>& all) {
  const auto whole = std::find_if(all.begin(), all.end(), [&](const ImportedResults& earlier) {
    return earlier.is_part && results.is_part && earlier.format == results.format;
  });
  if (whole == all.end()) {
    all.push_back(std::move(results));
  } else {
    AddPart(*whole, std::move(results));
  }
}

}  // namespace

Result<ImportedResults> ReadResultsText(std::string_view text, const std::string& source,
                                        const ImportOptions& options) {
  ASSIGN_OR_RETURN(ImportedResults results, ResultsOfText(text, source, options));
  results.source = source;
  results.sha256 = Sha256Hex(text);
  return results;
}

Result<std::vector<ImportedResults>> ReadResults(const std::vector<fs::path>& paths, const ImportOptions& options) {
  std::vector<ImportedResults> all;
  for (const fs::path& path : paths) {
    std::error_code code;
    if (fs::is_directory(path, code)) {
      ASSIGN_OR_RETURN(std::vector<ImportedResults> of_folder, ResultsOfFolder(path, options));
      for (ImportedResults& results : of_folder) AddResults(std::move(results), all);
      continue;
    }
    ASSIGN_OR_RETURN(ImportedResults results, ResultsOfFile(path, options));
    AddResults(std::move(results), all);
  }
  return all;
}

}  // namespace upskill
