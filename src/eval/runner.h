// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "check/check.h"
#include "eval/budget.h"
#include "eval/cell.h"
#include "eval/journal.h"
#include "eval/plan.h"
#include "eval/run_data.h"
#include "eval/sample.h"
#include "model/model.h"
#include "util/clock.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// How far a run has come; handed to RunObserver.
struct RunProgress {
  std::size_t total = 0;   // cells of the plan
  std::size_t done = 0;    // with an answer, reused ones included
  std::size_t reused = 0;  // of these: from the cache or from the run that is resumed
  std::size_t errors = 0;  // cells given up with an error
  std::size_t retries = 0;
  std::size_t in_flight = 0;
  std::int64_t output_tokens = 0;  // generated in this run
  double cost_usd = 0.0;           // of this run's own answers whose cost is known
  std::size_t saved = 0;           // cells not asked for because the verdict was known
  double seconds = 0.0;            // since the first request
};

// Told of what happens, on the runner's thread.
class RunObserver {
 public:
  RunObserver() = default;
  virtual ~RunObserver() = default;
  RunObserver(const RunObserver&) = delete;
  RunObserver& operator=(const RunObserver&) = delete;

  virtual void OnProgress(const RunProgress& /*progress*/) {}  // after every sample, and at least 5 times a second
  virtual void OnStopping(const RunProgress& /*progress*/, bool /*now*/) {}  // the person asked for the end
};

struct RunInput {
  const Plan* plan = nullptr;
  std::vector<Model*> models;  // one for each of plan->students, in their order
  Journal* journal = nullptr;  // may be null: nothing is stored
  // Samples that are there already: of the resumed run (kept as they are) and of the cache (written to the journal).
  std::vector<Sample> resumed;
  std::vector<Sample> cached;
  int attempts = 4;  // of a cell, before it is given up with an error
  RunLimits limits;
  Budget* budget = nullptr;  // shared with others, instead of the limits on cost and tokens; may be null
  const StopFlag* stop = nullptr;
  const Clock* clock = nullptr;
  RunObserver* observer = nullptr;
};

struct RunOutcome {
  RunData data;  // with the final sample of each cell that has one
  RunProgress progress;
  bool interrupted = false;
  std::vector<std::string> stopped_models;  // "NAME: reason": given up as a whole, their errors don't go away
  std::string exhausted;                    // why the limits ended the run; empty: they didn't
  std::vector<std::string> caveats;         // what the limits don't count, by model (Budget::caveats)
};

// Does the work of a plan: sends cells to the models, checks the answers, writes the journal. An error is returned only
// when the journal can't be written; whatever was stored by then stays usable.
Result<RunOutcome> RunPlan(RunInput input);

}  // namespace upskill
