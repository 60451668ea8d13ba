// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "skill/suite.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

struct CaseReading {
  Case test_case;
  std::vector<std::string> warnings;  // things the case states that nothing will check or use
};

// Reads one element of a suite's list; `number` is its position from 1. Errors don't name the case; the caller adds it.
Result<CaseReading> ReadCase(const Json& raw, std::size_t number);

// `case 3 ("edition-line")`, or `case 3` if the case has no readable id.
std::string CaseLabel(const Json& raw, std::size_t number);

}  // namespace upskill
