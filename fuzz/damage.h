// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "util/rng.h"

namespace upskill {

// A damaged copy: bytes changed or inserted, parts duplicated or removed.
std::string Damage(const std::string& input, Rng& rng);

}  // namespace upskill
