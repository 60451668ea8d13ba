// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "skill/suite.h"

namespace upskill {

// Which of these cases (indices into the suite) come from one source and so aren't independent of each other: a number
// for each, equal for equal sources. A case without a source is a cluster of its own.
std::vector<std::size_t> SourceClusters(const Suite& suite, const std::vector<std::size_t>& cases);

}  // namespace upskill
