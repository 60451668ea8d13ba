// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace upskill {

// What went wrong with a request to a model. Journaled by name (ErrorCauseName): never rename.
enum class ErrorCause {
  kUnknown,  // also of journals that don't tell
  // Before there is an answer. Whether the request fails doesn't depend on what the model would answer.
  kNotSent,      // the program couldn't send the request
  kUnreachable,  // no connection: unknown host, connection refused, TLS
  kRateLimit,    // too many requests
  kOverloaded,   // the server declined at once
  kRejected,     // the server doesn't accept the request: wrong key, unknown model, prompt too long
  // While there may be an answer, perhaps because of it: long answers are cut off more often than short ones.
  kTimeout,
  kBroken,       // the connection or the stream ended before the answer did
  kTooLong,      // the answer exceeds a limit of upskill
  kUnusable,     // the response can't be read
  kFiltered,     // a filter rejected the request or the answer
  kServerError,  // the server failed, or declined after a while
  kCrash,        // the local engine failed
  kCommand,      // the command failed
  kLimit,        // the budget had no room for the rest of the work
};

inline constexpr std::array kErrorCauses = {ErrorCause::kUnknown,   ErrorCause::kNotSent,    ErrorCause::kUnreachable,
                                            ErrorCause::kRateLimit, ErrorCause::kOverloaded, ErrorCause::kRejected,
                                            ErrorCause::kTimeout,   ErrorCause::kBroken,     ErrorCause::kTooLong,
                                            ErrorCause::kUnusable,  ErrorCause::kFiltered,   ErrorCause::kServerError,
                                            ErrorCause::kCrash,     ErrorCause::kCommand,    ErrorCause::kLimit};

const char* ErrorCauseName(ErrorCause cause);  // "timeout", "rate_limit", …

// kUnknown for a name from a newer version.
ErrorCause ErrorCauseFromName(std::string_view name);

// Whether failing answers may be lost to such an error more often than passing ones, or the reverse. An unknown cause
// may depend on the answer.
bool MayDependOnAnswer(ErrorCause cause);

}  // namespace upskill
