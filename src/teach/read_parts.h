// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "prompts/prompts.h"
#include "teach/material.h"
#include "teach/teacher.h"
#include "trace/trace.h"
#include "util/result.h"

namespace upskill {

// The number of requests in which a teacher reads the material before the others; 1: each request has all of it.
std::size_t CountParts(const Material& material, std::size_t context_tokens);

// The same for all of what redacted traces tell.
std::size_t CountPartsOfAll(const std::vector<Trace>& traces, std::size_t context_tokens);

// The material in a form that fits into one request of `context_tokens`: as it is, or, if there is too much, the
// teacher's notes on it, as items with the ids of those that they are about. The teacher reads it part by part; items
// longer than a part are divided. Notes that are too long together are condensed in the same way. A part whose notes
// can't be used is read again in two halves; error (kInput) if that happens too often.
Result<Material> FitMaterial(Teacher& teacher, const Material& material, std::size_t context_tokens,
                             const Prompts& prompts = BuiltInPrompts());

// The items of FitMaterial as text.
Result<std::string> FitItems(Teacher& teacher, const Material& material, std::size_t context_tokens,
                             const Prompts& prompts = BuiltInPrompts());

}  // namespace upskill
