// SPDX-License-Identifier: Apache-2.0
// How `eval` breaks lines on a terminal.
#include <gtest/gtest.h>

#include <string>

#include "cli/command_messages_test.h"
#include "util/text.h"

namespace upskill {
namespace {

using LongLines = CommandMessages;

TEST_F(LongLines, AreBrokenBetweenWords) {
  terminal = true;
  columns = 60;
  variables["NO_COLOR"] = "1";
  EXPECT_EQ(Eval({}, "sim:base=0,skill=0"), 0) << error;
  std::size_t from = 0;
  for (std::size_t end = out.find('\n'); end != std::string::npos; from = end + 1, end = out.find('\n', from)) {
    const std::string line = out.substr(from, end - from);
    if (line.find('/') != std::string::npos) continue;
    EXPECT_LE(DisplayColumns(line), columns) << line;
  }
}

}  // namespace
}  // namespace upskill
