// SPDX-License-Identifier: Apache-2.0
#include "trace/read/tool_use.h"

#include <gtest/gtest.h>

namespace upskill {
namespace {

TEST(ToolUseTest, EditsOfPatchesAndHereDocuments) {
  Event call;
  call.kind = EventKind::kToolCall;
  call.tool = "apply_patch";
  call.text =
      "*** Begin Patch\n*** Add File: b.txt\n+one\n+two\n*** Update File: a.txt\n@@\n-x\n+y\n*** Delete File: c\n*** "
      "End Patch";
  const std::vector<FileEdit> edits = EditsOfCall(call);
  ASSERT_EQ(edits.size(), 3U);
  EXPECT_EQ(edits[0].after, "one\ntwo\n");
  EXPECT_EQ(edits[1].after, "@@\n-x\n+y\n");
  EXPECT_EQ(edits[2].kind, FileEdit::Kind::kDelete);
  call.tool = "bash";
  call.command = "cat > dir/f.py <<'EOF'\nprint(1)\nEOF\npython dir/f.py";
  const std::vector<FileEdit> written = EditsOfCall(call);
  ASSERT_EQ(written.size(), 1U);
  EXPECT_EQ(written[0].path, "dir/f.py");
  EXPECT_EQ(written[0].after, "print(1)\n");
}

}  // namespace
}  // namespace upskill
