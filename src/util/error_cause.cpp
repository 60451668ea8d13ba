// SPDX-License-Identifier: Apache-2.0
#include "util/error_cause.h"

namespace upskill {

const char* ErrorCauseName(ErrorCause cause) {
  switch (cause) {
    case ErrorCause::kUnknown:
      break;
    case ErrorCause::kNotSent:
      return "not_sent";
    case ErrorCause::kUnreachable:
      return "unreachable";
    case ErrorCause::kRateLimit:
      return "rate_limit";
    case ErrorCause::kOverloaded:
      return "overloaded";
    case ErrorCause::kRejected:
      return "rejected";
    case ErrorCause::kTimeout:
      return "timeout";
    case ErrorCause::kBroken:
      return "broken";
    case ErrorCause::kTooLong:
      return "too_long";
    case ErrorCause::kUnusable:
      return "unusable";
    case ErrorCause::kFiltered:
      return "filtered";
    case ErrorCause::kServerError:
      return "server_error";
    case ErrorCause::kCrash:
      return "crash";
    case ErrorCause::kCommand:
      return "command";
    case ErrorCause::kLimit:
      return "limit";
  }
  return "unknown";
}

ErrorCause ErrorCauseFromName(std::string_view name) {
  for (const ErrorCause cause : kErrorCauses) {
    if (name == ErrorCauseName(cause)) return cause;
  }
  return ErrorCause::kUnknown;
}

bool MayDependOnAnswer(ErrorCause cause) {
  switch (cause) {
    case ErrorCause::kNotSent:
    case ErrorCause::kUnreachable:
    case ErrorCause::kRateLimit:
    case ErrorCause::kOverloaded:
    case ErrorCause::kRejected:
      return false;
    case ErrorCause::kUnknown:
    case ErrorCause::kTimeout:
    case ErrorCause::kBroken:
    case ErrorCause::kTooLong:
    case ErrorCause::kUnusable:
    case ErrorCause::kFiltered:
    case ErrorCause::kServerError:
    case ErrorCause::kCrash:
    case ErrorCause::kCommand:
    case ErrorCause::kLimit:
      break;
  }
  return true;
}

}  // namespace upskill
