// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "skill/suite.h"

namespace upskill {

// Which of these cases (indices into the suite) are the same request to a model, so that their answers may be copies: a
// number from 0 for each, equal for equal inputs and files, in the order of first appearance.
std::vector<std::size_t> InputClusters(const Suite& suite, const std::vector<std::size_t>& cases);

// The first case with each input and files (indices into the suite, ascending): the suite has as many units of
// evidence.
std::vector<std::size_t> FirstOfEachInput(const Suite& suite);

}  // namespace upskill
