// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "skill/suite.h"

namespace upskill {

// The files that the case's commands can't do without and that neither the case nor the checks bring, so that the
// answer must: those named in the commands, and those that the checks' own files import or name in quotation marks. If
// the input names some of them, only these; if there are none, those that the input names.
std::vector<std::string> AskedFiles(const Case& test_case);

}  // namespace upskill
