// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "check/check.h"
#include "eval/journal/journal.h"
#include "eval/journal/run_data.h"
#include "eval/journal/sample.h"
#include "eval/plan/cell.h"
#include "eval/plan/plan.h"
#include "eval/run/backoff.h"
#include "eval/run/budget.h"
#include "model/model.h"
#include "sandbox/sandbox.h"
#include "util/clock.h"
#include "util/rate_limits.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// Progress of a run, passed to RunObserver.
struct RunProgress {
  std::size_t total = 0;   // cells of the plan
  std::size_t done = 0;    // answered, including reused answers
  std::size_t reused = 0;  // of these: from the cache or the resumed run
  std::size_t errors = 0;  // cells abandoned with an error
  std::size_t retries = 0;
  std::size_t in_flight = 0;
  std::size_t worked_on = 0;       // of those in flight; the others wait for their model
  std::int64_t output_tokens = 0;  // generated in this run
  double cost_usd = 0.0;           // of this run's own answers whose cost is known
  std::size_t saved = 0;           // cells skipped because the verdict was known
  std::size_t may_be_saved = 0;    // cells of later rounds, which start only if they are needed
  double seconds = 0.0;            // since the first request
  RateLimits rate_limits;          // of all models together; host and next try: of the one that waits longest
};

// Called on the runner's thread.
class RunObserver {
 public:
  RunObserver() = default;
  virtual ~RunObserver() = default;
  RunObserver(const RunObserver&) = delete;
  RunObserver& operator=(const RunObserver&) = delete;

  virtual void OnProgress(const RunProgress& /*progress*/) {}  // after every sample, and at least 5 times a second
  virtual void OnStopping(const RunProgress& /*progress*/, bool /*now*/) {}  // the user asked to stop
};

struct RunInput {
  const Plan* plan = nullptr;
  std::vector<Cell> cells;     // the plan's, if they are known already
  std::vector<Model*> models;  // one for each of plan->students, in their order
  Model* judge = nullptr;      // asked by checks of the type `judge`; null: they are skipped
  Journal* journal = nullptr;  // null: nothing is stored
  // Existing samples: of the resumed run (kept as they are) and from the cache (written to the journal).
  std::vector<Sample> resumed;
  std::vector<Sample> cached;
  int attempts = kMaxAttempts;  // per cell, before it is abandoned with an error
  RunLimits limits;
  Budget* budget = nullptr;  // a shared budget, in place of the limits on cost and tokens; may be null
  const StopFlag* stop = nullptr;
  const Clock* clock = nullptr;
  RunObserver* observer = nullptr;
  const Sandbox* sandbox = &DefaultSandbox();  // where checks run commands
};

struct RunOutcome {
  RunData data;  // with the final sample of each cell that has one
  RunProgress progress;
  bool interrupted = false;
  std::vector<std::string> stopped_models;  // "NAME: reason": stopped because of permanent errors
  std::string exhausted;                    // which limit ended the run; empty: none did
  Spending needed;                          // by the next answer, if the limits on cost and tokens have no room for it
  std::vector<std::string> caveats;         // what the limits can't count, and models that changed
};

// Carries out a plan: sends cells to the models, checks the answers, writes the journal. Errors: a check is invalid, or
// the journal can't be written; everything stored until then stays usable.
Result<RunOutcome> RunPlan(RunInput input);

}  // namespace upskill
