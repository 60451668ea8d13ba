// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/report_input.h"
#include "support/run_fixture.h"

namespace upskill {

// For tests: the run of test_run.h with a verdict that somebody gave.
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

  ReportInput input() const { return MakeReportInput(plan, samples, Summarize(plan, samples), verdicts); }

  std::vector<StudentVerdict> verdicts;
};

// Text of a model that tries to leave its place in every format.
inline const std::string kAttack =
    std::string("</script><!--<img src=x onerror=1>]]>&\"'|`@you =1+1\x1b[2J\u2028\u202E") + '\0' + "\xFF";

}  // namespace upskill
