// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace upskill {

// Whether a word of a skill is one in capitals, such as NAME or PACKAGE, that stands for what a new job fills in.
bool IsPlaceholder(std::string_view word);

// The number of the first line in `body` that becomes `text`, or has it as a part, when its placeholders are replaced
// by names: "kernel_src/NAME.cu" for "kernel_src/relu.cu". At least four characters of it must be the line's own. Texts
// of more than 200 bytes match none.
std::optional<std::size_t> LineWithPlaceholderFor(std::string_view text, std::string_view body);

}  // namespace upskill
