// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "teach/body_target.h"
#include "teach/draft.h"
#include "teach/material.h"
#include "teach/write_cases.h"
#include "util/result.h"

namespace upskill {

// The teacher without a model: extracts what the trace says. Rules cite places (`file#event`).
// The skill has the project's layout, its configuration files as they ended, how functions are registered, commands,
// what the user insisted on, fixed errors and answers to questions, each under a title of its own and as far as
// `target` allows; configuration files that don't fit go into references/. Empty `name`: one from the task, or from the
// user's request. Error (kNotFound): the recording has too little of the kind; the message says what a teacher would
// add.
Result<Draft> ExtractDraft(const Material& material, const std::string& name, const BodyTarget& target);

// At most `most` cases that replay the user's requests and the failures that were fixed: the answer must contain the
// name, value or command that was the solution in the trace.
VettedCases ExtractCases(const Material& material, std::size_t most);

}  // namespace upskill
