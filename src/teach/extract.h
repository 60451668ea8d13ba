// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "teach/body_target.h"
#include "teach/draft.h"
#include "teach/material.h"
#include "teach/write_cases.h"
#include "util/result.h"

namespace upskill {

// The teacher without a model: extracts what the trace says. Rules cite places (`file#event`).
// Answers to the user's requests come first, then findings, error → fix pairs and commands that worked, as far as
// `target` allows; corrections and the final versions of files go into references/. A trace without any of these gives
// its requests and their outcomes. Error (kInput): there is nothing to extract.
Result<Draft> ExtractDraft(const Material& material, const std::string& name, const BodyTarget& target);

// At most `most` cases that replay the user's requests and the failures that were fixed: the answer must contain the
// name, value or command that was the solution in the trace.
VettedCases ExtractCases(const Material& material, std::size_t most);

// Exposed for tests. The sentences that state something with code in backticks, in order; if there are none, those with
// a bare path, identifier, version or time.
std::vector<std::string> StatementsOf(const std::string& text);
// The texts in backticks in one line.
std::vector<std::string> CodeSpansOf(const std::string& text);

}  // namespace upskill
