// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "check/suite_check.h"
#include "report/terminal/style.h"
#include "skill/suite.h"
#include "util/json.h"
#include "util/terminal_text.h"

namespace upskill {

// What `upskill check` found: a row for each case, what isn't as it should be, what was skipped and why.
// `all_results`: also each check of each answer.
TerminalText SuiteReportText(const Suite& suite, const SuiteReport& report, bool all_results, const Style& style);

// {"cases": [{"id", "answers": [{"name", "right", "result", "problem", "seconds", "checks"}], "skipped",
// "weaknesses"}], …}
Json SuiteReportToJson(const SuiteReport& report);

}  // namespace upskill
