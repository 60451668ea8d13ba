// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "check/check.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// `tool_call`: how often a student that works in a workspace has called a tool (`tool`: its name, or a list of names,
// any of which counts), at least `minimum` and at most `maximum` times; by default at least once, or with a `maximum`
// alone any number up to it. Only calls count whose `arguments` have the given members (objects within them too;
// everything else must be equal), or whose arguments as text match the RE2 `pattern`. It is skipped where there are no
// calls to look at, and where what was stored of long arguments doesn't decide. Errors: no tool, a member of the wrong
// type, a `maximum` below the `minimum`, arguments of more than 16 KiB, a pattern that RE2 rejects.
Result<std::unique_ptr<Check>> MakeToolCall(const CheckSpec& spec, CaseParts& parts);

}  // namespace upskill
