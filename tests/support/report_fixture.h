// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/run_fixture.h"

namespace upskill {

// For tests: the run of run_fixture.h with a given verdict.
struct ReportRun : TestRun {
  ReportRun() {
    StudentVerdict verdict;
    verdict.word = Verdict::kHelps;
    verdict.lift = 0.5;
    verdict.low = 0.25;
    verdict.high = 0.75;
    verdict.tokens = PairedChange{46.0, 242.0, 190.0, 200.0};
    verdict.output_tokens = PairedChange{16.0, 12.0, -6.0, -2.0};
    verdicts = {verdict};
    for (Sample& sample : samples) sample.response.seconds = 1.5;
  }

  // Judged by `verdicts`.
  JudgedRun judged() const {
    JudgedRun run = TestRun::judged();
    run.verdicts = verdicts;
    run.verdicts.resize(plan.students.size());
    run.others.clear();
    return run;
  }

  std::vector<StudentVerdict> verdicts;
};

// The input of reports on several runs.
template <typename... Run>
std::vector<JudgedRun> Runs(Run... runs) {
  std::vector<JudgedRun> all;
  (all.push_back(std::move(runs)), ...);
  return all;
}

// A model's text that tries to break out of every format.
inline const std::string kAttack =
    std::string("</script><!--<img src=x onerror=1>]]>&\"'|`@you =1+1\x1b[2J\u2028\u202E") + '\0' + "\xFF";

}  // namespace upskill
