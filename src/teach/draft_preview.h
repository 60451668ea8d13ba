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

// Reports what `generate` will do with a draft, or with the corrected draft in a critique, before it is handed in: how
// its length compares with the target, and which rules are left out and why. Empty: it has no rules. Error (kInput): it
// can't be used. A body is rejected only if it is far too long, because `target` may count tokens differently.
Result<std::vector<std::string>> PreviewDraft(Json draft, const Material& material, const Prompts& prompts,
                                              const BodyTarget& target);

}  // namespace upskill
