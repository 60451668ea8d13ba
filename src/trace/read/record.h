// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "util/json.h"

namespace upskill {

// Lenient access beyond util/json.h. A missing key or a value of another type gives null, empty or nothing. Strings are
// moved out of the record, so that a large text is held only once.
std::string TakeString(Json& object, const char* key);
std::optional<long long> NumberAt(const Json& object, const char* key);
std::optional<std::int64_t> TimeAt(const Json& object, const char* key);  // ISO text, or ms since 1970

// The text of a message's content: a string, a block or a list of blocks of any known type. Images and files become
// `[image]` and `[file]`. The strings are moved out.
std::string TakeText(Json& content);

}  // namespace upskill
