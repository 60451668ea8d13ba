// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/report_input.h"

namespace upskill {

// One HTML file for one or several runs (at least one; the last is shown first): no network, a strict content security
// policy, and every text of a model only as data (docs/reports.md).
std::string HtmlReport(const std::vector<ReportInput>& runs);

}  // namespace upskill
