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
  SetLogFile(folder.path() / "log");
  Log("model", "rejected:\nfake entry \x1b[2J\n");
  SetLogFile("/dev/null");
  const Result<std::string> text = ReadFile(folder.path() / "log", 1000);
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_THAT(*text, AllOf(EndsWith("Z model: rejected: fake entry \\x1b[2J\n"), Not(HasSubstr("\x1b"))));
}

}  // namespace
}  // namespace upskill
