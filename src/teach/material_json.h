// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "teach/material.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Materials are kept in the folder of their generation, so that it goes on with what it began with.
Json MaterialToJson(const Material& material);
// Also reads the form before this one, in which the edits of a fix are part of the text only.
Result<Material> MaterialFromJson(const Json& json, const std::string& source);

}  // namespace upskill
