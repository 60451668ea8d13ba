// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "check/check.h"
#include "sandbox/sandbox.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// The file of the workspace that has the whole answer.
inline constexpr const char* kAnswerFile = "answer.md";

// A check that runs a command in the sandbox, in a workspace with the files of the answer, those of the check
// (`files`), which the answer can't replace, and the answer itself (kAnswerFile). It passes if the command ends within
// `timeout_seconds` (60) with `exit_code` (a number or a list, 0), and the patterns `stdout` and `stderr` match. It is
// skipped if there is no sandbox, or if one of the programs that it `needs` is missing; where `needs` isn't stated, the
// command's first word is one, if it names a program. Errors: no command, an option of the wrong type, a pattern that
// RE2 rejects.
Result<std::unique_ptr<Check>> MakeCommandCheck(const CheckSpec& spec, CaseParts& parts);

// The files that a command finds: those of the case and the answer, and the answer as kAnswerFile.
std::map<std::string, std::string> FilesForCommand(const CheckedAnswer& answer);

// Why a command's outcome isn't a result that it gave itself (a limit it ran into); empty if it ended by itself.
std::string LimitOf(const SandboxOutcome& outcome, const SandboxLimits& limits);

// Whether the check, or one of its group, failed because a time limit ended what it ran.
bool ReachedTimeLimit(const CheckResult& result);

// The last lines of what a command printed, for a message: escape sequences and control characters removed.
std::string EndOfOutput(const SandboxOutcome& outcome);

}  // namespace upskill
