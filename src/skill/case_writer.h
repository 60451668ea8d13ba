// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "skill/suite.h"
#include "util/json.h"

namespace upskill {

// The case as it was read (`raw`), with those fields put in whose value reading `raw` would not give.
Json WriteCase(const Case& test_case, std::size_t number);

}  // namespace upskill
