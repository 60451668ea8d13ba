// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "skill/suite.h"
#include "util/json.h"

namespace upskill {

// The case as it was read (`raw`), updated only with fields whose value differs from what reading `raw` gives.
Json WriteCase(const Case& test_case, std::size_t number);

}  // namespace upskill
