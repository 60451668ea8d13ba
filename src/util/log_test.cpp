// SPDX-License-Identifier: Apache-2.0
#include "util/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(Log, WritesOneEscapedLinePerEntry) {
  const TempFolder folder;
  ASSERT_TRUE(SetLogFile(folder.path() / "log").ok());
  Log("model", "rejected:\nfake entry \x1b[2J\n");
  ASSERT_TRUE(SetLogFile("/dev/null").ok());
  const Result<std::string> text = ReadFile(folder.path() / "log", 1000);
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_THAT(*text, AllOf(EndsWith("Z model: rejected: fake entry \\x1b[2J\n"), Not(HasSubstr("\x1b"))));
}

TEST(Log, AFileThatCannotBeOpenedIsAnError) {
  const TempFolder folder;
  const Status status = SetLogFile(folder.path() / "none" / "log");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, AllOf(HasSubstr("opening the log file"), EndsWith("No such file or directory")));
}

}  // namespace
}  // namespace upskill
