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

// The teacher without a model: extracts what the trace itself says, word for word. Rules cite places (`file#event`).
// Answers to the user's requests first, then findings, error → fix pairs and commands that worked, as far as `target`
// allows; corrections and files as they were in the end go into references/.
// A trace without any of that gives what was asked and what came of it.
// Error (kInput): there is nothing to extract.
Result<Draft> ExtractDraft(const Material& material, const std::string& name, const BodyTarget& target);

// Cases that replay the user's requests and the failures that were fixed: the answer must hold the name, value or
// command that settled it then. At most `most`.
VettedCases ExtractCases(const Material& material, std::size_t most);

// Parts, for tests. Sentences with code in backticks that state something, in order; where there are none, those with a
// bare path, identifier, version or time.
std::vector<std::string> StatementsOf(const std::string& text);
// The texts in backticks of one line.
std::vector<std::string> CodeSpansOf(const std::string& text);

}  // namespace upskill
