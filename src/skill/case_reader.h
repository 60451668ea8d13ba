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
  std::vector<std::string> warnings;  // what the case states but nothing will check or use
};

// One element of a suite's list; `number` is its position from 1. Errors don't name the case, the caller does.
Result<CaseReading> ReadCase(const Json& raw, std::size_t number);

// `case 3 ("edition-line")`, or `case 3` when it states no id that can be read.
std::string CaseLabel(const Json& raw, std::size_t number);

}  // namespace upskill
