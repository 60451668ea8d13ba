// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace upskill {

// Instructions about a subject that no suite asks about (baking bread), in Markdown, `bytes` long to within a word. In
// the arm kPlacebo a model gets them instead of the skill, which shows whether any text of that length would help.
// Depends on the length alone.
std::string PlaceboText(std::size_t bytes);

}  // namespace upskill
