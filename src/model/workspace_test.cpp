// SPDX-License-Identifier: Apache-2.0
#include "model/workspace.h"

#include <gtest/gtest.h>

#include <string>

namespace upskill {
namespace {

TEST(Workspace, ChangesLeadFromOneStateToTheOther) {
  const WorkspaceFiles before = {{"a", "1"}, {"b", "2"}, {"c", "3"}};
  const WorkspaceFiles after = {{"a", "1"}, {"b", "changed"}, {"d/e", "new"}};
  const FileChanges changes = ChangesBetween(before, after);
  EXPECT_EQ(changes.written, (WorkspaceFiles{{"b", "changed"}, {"d/e", "new"}}));
  EXPECT_EQ(changes.removed, std::vector<std::string>{"c"});
  EXPECT_EQ(WithChanges(before, changes), after);
  EXPECT_TRUE(ChangesBetween(before, before).empty());
}

TEST(Workspace, RecordIsStoredAndReadBack) {
  WorkRecord work;
  work.changes = {{{"text", "ö\n"}, {"binary", std::string("\x00\xff\x7f", 3)}}, {"gone"}};
  work.turns = 3;
  work.tool_calls = 4;
  work.tool_errors = 1;
  work.tools = {{"bash", 3}, {"read_file", 1}};
  work.limit = "turns";
  work.skill = SkillUse{10, 20, 30, {"SKILL.md"}, {"scripts/a.sh"}, {"charts"}, true};
  work.transcript = Json::array({{{"text", "I look"}, {"calls", Json::array()}}});
  const Json json = WorkRecordToJson(work);
  EXPECT_TRUE(json.at("written").at("text").is_string());
  const Result<WorkRecord> read = WorkRecordFromJson(ParseJson(DumpJson(json), "test").value());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, work);
}

TEST(Workspace, StoredRecordCannotNameFilesOutside) {
  for (const std::string name : {"../a", "/etc/passwd", "a/../../b", "a//b", ""}) {
    EXPECT_FALSE(FileChangesFromJson({{"written", {{name, "x"}}}, {"removed", Json::array()}}).ok()) << name;
    EXPECT_FALSE(FileChangesFromJson({{"written", Json::object()}, {"removed", {name}}}).ok()) << name;
  }
  EXPECT_FALSE(FileChangesFromJson({{"written", Json::array()}, {"removed", Json::array()}}).ok());
  EXPECT_FALSE(WorkRecordFromJson(Json::object()).ok());
}

TEST(Workspace, LongTextKeepsItsEnds) {
  EXPECT_EQ(WithoutMiddle("short", 10), "short");
  const std::string text = "begin" + std::string(100, 'x') + "end";
  EXPECT_EQ(WithoutMiddle(text, 10), "begin\n[… 98 bytes left out …]\nxxend");
  const std::string umlauts = WithoutMiddle("äöüäöüäöü", 6);  // never half a character
  EXPECT_EQ(umlauts, "ä\n[… 14 bytes left out …]\nü");
}

}  // namespace
}  // namespace upskill
