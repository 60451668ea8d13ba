// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace upskill {

// Valid UTF-8 with each character replaced by its simple case folding (Unicode 14, CaseFolding.txt, statuses C and S):
// texts that differ only in case become equal.
std::string FoldCase(std::string_view text);

}  // namespace upskill
