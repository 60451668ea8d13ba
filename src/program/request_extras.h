// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program/program.h"
#include "util/json.h"

namespace upskill {

// A program's request without what would reach more than the model, or cost more than one answer of it: tools that the
// provider runs itself (web search, fetching pages, running code, MCP servers), several answers at once, other models
// to fall back to, faster and dearer service, answers that are fetched later.
Json WithoutExtras(Json body, Protocol protocol);

}  // namespace upskill
