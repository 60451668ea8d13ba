// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "teach/material.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// The material is stored in the generation's folder, so that a resumed generation continues with the same material.
Json MaterialToJson(const Material& material);
// Also reads the earlier form, in which the edits of a fix are only part of the text.
Result<Material> MaterialFromJson(const Json& json, const std::string& source);

}  // namespace upskill
