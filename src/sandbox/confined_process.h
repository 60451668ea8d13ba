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

// Files that a confined command line is started with.
struct ConfinedFiles {
  Fd input;                  // its standard input
  Fd filter;                 // kFilterFd, if valid
  std::vector<Fd> settings;  // from kFirstSettingFd on
};

// Starts a command line that bubblewrap is a part of (sandbox/bubblewrap.h); collects what it prints, and ends all its
// processes when it exits, or at a limit of `command`. Up to `most_files` bytes of what it writes to kFilesFd are kept;
// 0: it doesn't have this descriptor. Errors: the system's.
Result<ConfinedOutcome> RunConfined(const std::vector<std::string>& words, const ConfinedFiles& files,
                                    const SandboxCommand& command, std::size_t most_files);

}  // namespace upskill
