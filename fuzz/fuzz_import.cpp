// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_import.h"

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "eval/journal/run_data.h"
#include "eval/plan/plan.h"
#include "eval/verdict/judged_run.h"
#include "fuzz/fuzz_checks.h"
#include "import/imported_run.h"
#include "import/read_results.h"
#include "util/invariant.h"
#include "util/json.h"

namespace upskill {

void FuzzImportedResults(std::string_view input) {
  const ImportOptions options;
  Result<ImportedResults> results = ReadResultsText(input, "results.json", options);
  if (!Parsed(results)) return;
  CHECK(!results->answers.empty() && !results->format.empty() && results->sha256.size() == 64);
  const std::size_t answers = results->answers.size();
  Result<ImportedRun> run = ArrangeResults(std::move(results).value(), options);
  if (!Parsed(run)) return;
  CHECK(run->samples.size() <= answers && run->plan.imported.has_value());
  std::set<std::string> cells;
  for (const Sample& sample : run->samples) CHECK(cells.insert(CellName(sample)).second);
  run->plan.run = "run";
  const Result<Plan> again = PlanFromJson(PlanToJson(run->plan), "plan.json");
  CHECK(again.ok() && DumpJson(PlanToJson(*again)) == DumpJson(PlanToJson(run->plan)));
  // Verdicts take time for cases times rounds, which are more than the answers where cases differ in their number.
  constexpr std::size_t kMaxCells = 2000;
  if (run->plan.suite.cases.size() * static_cast<std::size_t>(run->plan.rounds) > kMaxCells) return;
  std::vector<Sample> samples;
  for (const Sample& sample : run->samples) {
    Result<Sample> stored = SampleFromJson(SampleToJson(sample));
    CHECK(stored.ok());
    samples.push_back(std::move(stored).value());
  }
  const JudgedRun judged = Judge(RunData(*again, std::move(samples)));
  CHECK(judged.summary.cells >= run->samples.size());
}

}  // namespace upskill
