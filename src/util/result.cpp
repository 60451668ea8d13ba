// SPDX-License-Identifier: Apache-2.0
#include "util/result.h"

namespace upskill {

const char* ErrorKindName(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInput:
      return "input";
    case ErrorKind::kNotFound:
      return "not_found";
    case ErrorKind::kIo:
      return "io";
    case ErrorKind::kUnavailable:
      return "unavailable";
    case ErrorKind::kPermanent:
      return "permanent";
    case ErrorKind::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

}  // namespace upskill
