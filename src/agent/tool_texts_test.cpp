// SPDX-License-Identifier: Apache-2.0
#include "agent/tool_texts.h"

#include <gtest/gtest.h>

#include <string>

namespace upskill {
namespace {

TEST(ToolTexts, BuiltInToolsAreDescribed) {
  const std::vector<Tool> tools = WorkspaceTools();
  std::vector<std::string> names;
  for (const Tool& tool : tools) {
    names.push_back(tool.name);
    EXPECT_FALSE(tool.description.empty()) << tool.name;
    EXPECT_TRUE(tool.schema.at("properties").is_object()) << tool.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"bash", "read_file", "write_file", "edit_file", "list_files", "grep"}));
  EXPECT_EQ(tools[0].schema.at("required"), Json::array({"command"}));
  EXPECT_EQ(tools[0].schema.at("properties").at("timeout_seconds").at("type"), "integer");
  EXPECT_EQ(tools[2].schema.at("required"), Json::array({"path", "content"}));
}

TEST(ToolTexts, ErrorsNameTheLine) {
  const auto error = [](const std::string& text) {
    const Result<std::vector<Tool>> tools = ParseTools(text, "t.md");
    return tools.ok() ? std::string() : tools.error().message;
  };
  EXPECT_EQ(error("words\n"), "t.md:1: a tool begins with a line `# NAME`");
  EXPECT_TRUE(error("# Bash\n").starts_with("t.md:1: the name of a tool"));
  EXPECT_TRUE(error("# bash\n\nRuns.\n\n- command: what\n").starts_with("t.md:5: a parameter has the form"));
  EXPECT_EQ(error("# bash\n"), "t.md: bash has no description");
  EXPECT_EQ(error(""), "");
}

}  // namespace
}  // namespace upskill
