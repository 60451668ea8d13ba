// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sandbox/sandbox.h"
#include "util/files.h"
#include "util/result.h"

namespace upskill {

// A sandboxed command's outcome, and whether it was started at all.
struct ConfinedOutcome {
  bool started = false;  // false: bubblewrap could not make the sandbox; `outcome.error` says why
  SandboxOutcome outcome;
  std::string files;  // what was written to kFilesFd
};

// Starts a command line that bubblewrap is a part of (sandbox/bubblewrap.h), with `input` as its standard input and
// `filter`, if valid, as kFilterFd; collects what it prints, and ends all its processes when it exits, or at a limit.
// Up to `most_files` bytes of what it writes to kFilesFd are kept; 0: it doesn't have this descriptor. Errors: the
// system's.
Result<ConfinedOutcome> RunConfined(const std::vector<std::string>& words, const Fd& input, const Fd& filter,
                                    const SandboxLimits& limits, const StopFlag* stop, std::size_t most_files = 0);

}  // namespace upskill
