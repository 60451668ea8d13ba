// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "eval/verdict/judged_run.h"

namespace upskill {

// One HTML file for one or several runs (at least one; the last is shown first): no network, a strict content security
// policy, and every text of a model only as data (docs/reports.md).
std::string HtmlReport(std::span<const JudgedRun> runs);

}  // namespace upskill
