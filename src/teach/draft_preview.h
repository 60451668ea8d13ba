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

// What `generate` will make of a draft, or of a critique with a corrected one, before it is handed in: its length
// compared with the target, and each rule that is left out, with the reason. Empty: there are no rules in it. Error
// (kInput): it can't be used. Its length is only an error where it is far too large, because `target` may count other
// tokens than a student.
Result<std::vector<std::string>> PreviewDraft(Json draft, const Material& material, const Prompts& prompts,
                                              const BodyTarget& target);

}  // namespace upskill
