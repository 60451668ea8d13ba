// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace upskill {

// On how many processors this process may run; at least 1.
std::uint32_t AvailableProcessors();

}  // namespace upskill
