// SPDX-License-Identifier: Apache-2.0
#include "util/error_cause.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "util/result.h"

namespace upskill {
namespace {

TEST(ErrorCause, NamesAreUniqueAndReadBack) {
  std::set<std::string> names;
  for (const ErrorCause cause : kErrorCauses) {
    EXPECT_TRUE(names.insert(ErrorCauseName(cause)).second) << ErrorCauseName(cause);
    EXPECT_EQ(ErrorCauseFromName(ErrorCauseName(cause)), cause);
  }
  EXPECT_EQ(ErrorCauseFromName("from a newer version"), ErrorCause::kUnknown);
}

TEST(ErrorCause, OnlyErrorsBeforeAnAnswerAreIndependentOfIt) {
  for (const ErrorCause cause : kErrorCauses) {
    const bool before = cause == ErrorCause::kNotSent || cause == ErrorCause::kUnreachable ||
                        cause == ErrorCause::kRateLimit || cause == ErrorCause::kOverloaded ||
                        cause == ErrorCause::kRejected;
    EXPECT_EQ(MayDependOnAnswer(cause), !before) << ErrorCauseName(cause);
  }
}

TEST(ErrorCause, StaysWithTheError) {
  const Error error = Error{ErrorKind::kUnavailable, "slow"}.Because(ErrorCause::kTimeout);
  EXPECT_EQ(error.With("model x").cause, ErrorCause::kTimeout);
  EXPECT_EQ(error.With("model x").message, "model x: slow");
}

}  // namespace
}  // namespace upskill
