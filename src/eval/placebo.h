// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace upskill {

// Instructions about a subject that no suite asks about (baking bread), as Markdown, `bytes` long within a word: what a
// model gets in the arm kPlacebo in place of the skill, so that "any text of this length helps" shows. The same for the
// same length.
std::string PlaceboText(std::size_t bytes);

}  // namespace upskill
