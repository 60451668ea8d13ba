// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "prompts/prompts.h"
#include "teach/body_target.h"
#include "teach/material.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Tells a teacher, before it submits a draft or a critique's corrected draft, how `generate` would treat it: the length
// compared with the target, and which rules would be left out and why. Empty if the draft has no rules. Error (kInput):
// the draft can't be used. A body is rejected only if it is far too long, because `target` may count tokens
// differently.
Result<std::vector<std::string>> PreviewDraft(Json draft, const Material& material, const Prompts& prompts,
                                              const BodyTarget& target);

}  // namespace upskill
