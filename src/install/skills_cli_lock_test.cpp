// SPDX-License-Identifier: Apache-2.0
#include "install/skills_cli_lock.h"

#include <gmock/gmock.h>

#include "util/hash.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

Result<std::vector<SkillsCliEntry>> ParseEntries(const std::string& entries, const std::string& version = "1") {
  return ParseSkillsCliLock("{\"version\": " + version + ", \"skills\": {" + entries + "}}", "skills-lock.json");
}

TEST(SkillsCliLock, ReadsWhereSkillsComeFrom) {
  const auto entries = ParseEntries(R"(
    "a": {"source": "o/r", "sourceType": "github", "skillPath": "skills/a/SKILL.md", "computedHash": "00"},
    "b": {"source": "o/r", "ref": "v1", "sourceType": "gitlab", "computedHash": "01"},
    "c": {"source": "r", "sourceUrl": "https://git.example.org/o/r.git", "sourceType": "git", "computedHash": "02"},
    "d": {"source": "./skills/d", "sourceType": "local", "computedHash": "03"})");
  ASSERT_TRUE(entries.ok());
  ASSERT_THAT(*entries, SizeIs(4));
  EXPECT_EQ(GitSourceText((*entries)[0].git), "git+https://github.com/o/r#:skills/a");
  EXPECT_EQ(GitSourceText((*entries)[1].git), "git+https://gitlab.com/o/r#v1");
  EXPECT_EQ(GitSourceText((*entries)[2].git), "git+https://git.example.org/o/r.git");
  EXPECT_EQ((*entries)[3].folder, "./skills/d");
  for (const SkillsCliEntry& entry : *entries) EXPECT_EQ(entry.problem, "");
}

TEST(SkillsCliLock, SaysWhatCannotBeFetched) {
  for (const char* source :
       {R"("source": "p", "sourceType": "node_modules")", R"("source": "/home/me/skill", "sourceType": "local")",
        R"("source": "https://me:hunter2@example.org/o/r", "sourceType": "git")",
        R"("source": "o/r", "sourceType": "github", "skillPath": "../../x/SKILL.md")",
        R"("source": "ext::sh -c x", "sourceType": "git")", R"("source": 1)"}) {
    const auto entries = ParseEntries(std::string(R"("a": {)") + source + "}");
    ASSERT_TRUE(entries.ok()) << source;
    EXPECT_NE((*entries)[0].problem, "") << source;
    EXPECT_EQ((*entries)[0].problem.find("hunter2"), std::string::npos);
  }
  EXPECT_FALSE(ParseEntries("", "2").ok());
  EXPECT_FALSE(ParseEntries(R"("../a": {})").ok());
  EXPECT_THAT(ParseSkillsCliLock("{\n<<<<<<< HEAD\n", "x").error().message, HasSubstr("x:2: a merge conflict"));
}

// The order is that of localeCompare in Node.js 20, from which the names come.
TEST(SkillsCliLock, HashIsThatOfTheProgram) {
  FileMap files;
  std::string text;
  for (const char* name : {"a",         "a_b",     "a-b",  "a.b",       "a/b",          "a1",       "A1",
                           "ab",        "aB",      "Ab",   "AB",        "abc",          "assets/y", "readme.md",
                           "README.md", "ref s/x", "refs", "refs/a.md", "scripts/x.py", "SKILL.md"}) {
    files[name] = {std::string("of ") + name, false};
    text += std::string(name) + "of " + name;
  }
  files["x/node_modules/y"] = {"left out", false};
  EXPECT_EQ(SkillsCliHash(files).value(), Sha256Hex(text));
  files["\xc3\xa4"] = {};
  EXPECT_FALSE(SkillsCliHash(files).ok());
}

}  // namespace
}  // namespace upskill
