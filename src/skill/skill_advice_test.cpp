// SPDX-License-Identifier: Apache-2.0
#include "skill/skill_advice.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kGoodFields = "name: x\ndescription: Reads PDF files. Use it when asked about one.\n";

class SkillAdvice : public testing::Test {
 protected:
  // "line:column message" of each piece of advice.
  std::vector<std::string> Advice(const std::string& fields, const std::string& body) {
    const auto read = ReadSpecifiedSkill(fmt::format("---\n{}---\n\n{}\n", fields, body));
    std::vector<std::string> lines;
    for (const SkillFinding& one : FindSkillAdvice(std::get<SpecifiedSkill>(read), folder.path()))
      lines.push_back(fmt::format("{}:{} {}", one.line, one.column, one.message));
    return lines;
  }
  std::vector<std::string> AdviceOnBody(const std::string& body) { return Advice(kGoodFields, body); }

  TempFolder folder;
};

std::string Lines(std::size_t count, const std::string& line) {
  std::string lines;
  for (; count > 0; --count) lines += line + "\n";
  return lines;
}

TEST_F(SkillAdvice, NamesAByteOrderMarkInCases) {
  folder.Write("tests.json", "\xEF\xBB\xBF[]");
  EXPECT_THAT(Advice(kGoodFields, "B"), ElementsAre(HasSubstr("tests.json starts with a byte order mark")));
}

TEST_F(SkillAdvice, GoodSkillNeedsNone) { EXPECT_THAT(AdviceOnBody("Do this."), IsEmpty()); }

TEST_F(SkillAdvice, LongBodies) {
  EXPECT_THAT(AdviceOnBody(Lines(500, "a")), IsEmpty());
  EXPECT_THAT(AdviceOnBody(Lines(501, "a")), ElementsAre(StartsWith("6:1 the body has 501 lines; move ")));
  EXPECT_THAT(AdviceOnBody(std::string(15'000, 'a')), IsEmpty());
  EXPECT_THAT(AdviceOnBody(std::string(15'001, 'a')), ElementsAre(StartsWith("6:1 the body has about 5,001 tokens; ")));
}

TEST_F(SkillAdvice, DeadLinks) {
  folder.Write("references/a b.md", "x");
  EXPECT_THAT(AdviceOnBody("[a](references/a%20b.md#part) [b](<references/a b.md>) [c](https://x.y/z) [d](#top) "
                           "[e](mailto:a@b.c) [f](?q) `[g](none)` [h](references) ![i](//x.y/z)\n```\n[j](none)\n```"),
              IsEmpty());
  EXPECT_THAT(AdviceOnBody("a\n\xC3\xA9 [a](none.md) [b](../y.md \"t\")\n[c](/etc/x)"),
              ElementsAre("7:7 the link 'none.md' doesn't exist in the skill's folder",
                          "7:20 the link '../y.md' is outside the skill's folder",
                          "8:5 the link '/etc/x' is an absolute path; write it relative to the skill"));
}

TEST_F(SkillAdvice, PathsOfOneMachine) {
  EXPECT_THAT(AdviceOnBody("x/home/a /home/ /usr/bin/env"), IsEmpty());
  EXPECT_THAT(AdviceOnBody("```\ncd /home/ada/x && ls\n```\nC:\\Users\\ada"),
              ElementsAre(StartsWith("7:4 '/home/ada/x' is a path of one machine"),
                          StartsWith("9:2 ':\\Users\\ada' is a path of one machine")));
}

TEST_F(SkillAdvice, Fields) {
  EXPECT_THAT(Advice("name: claude-x\ndescription: Reads <b>\nlicence: MIT\nargument-hint: y\n", "b"),
              ElementsAre(StartsWith("4:1 the key 'licence' isn't part of the specification; keep such values under "
                                     "'metadata'; did you mean 'license'?"),
                          StartsWith("5:1 the key 'argument-hint' is read by Claude Code"),
                          StartsWith("2:7 names with 'claude' are reserved"),
                          StartsWith("3:14 the description doesn't say when"),
                          StartsWith("3:14 skill-creator's validator refuses '<' and '>'")));
  EXPECT_THAT(Advice("name: 数据\ndescription: Use it.\n", "b"),
              ElementsAre(StartsWith("2:7 OpenCode and skill-creator accept only a to z")));
  EXPECT_THAT(Advice(fmt::format("{}metadata:\n  short-description: {}\n", kGoodFields, std::string(501, 's')), "b"),
              ElementsAre(StartsWith("5:22 Codex refuses")));
  EXPECT_THAT(Advice("name: x\ndescription: Use it --- always\n", "b"),
              ElementsAre(StartsWith("3:1 a '---' that delimits the frontmatter shares its line")));
}

TEST_F(SkillAdvice, ScriptsThatCannotBeRun) {
  const auto script = folder.Write("scripts/run.sh", "#!/bin/sh\n");
  folder.Write("scripts/data.txt", "x");
  EXPECT_THAT(AdviceOnBody("b"),
              ElementsAre("0:0 scripts/run.sh starts with '#!' but isn't executable; run `chmod +x scripts/run.sh`"));
  std::filesystem::permissions(script, std::filesystem::perms::owner_exec, std::filesystem::perm_options::add);
  EXPECT_THAT(AdviceOnBody("b"), IsEmpty());
}

TEST_F(SkillAdvice, HostileBodiesTakeLittleTime) {
  for (const char* part : {"](", "[a](b", "`", "/home/", "](x) ", "```\n", "- "}) {
    std::string body;
    while (body.size() < 300'000) body += part;
    Advice(kGoodFields, body);
  }
}

}  // namespace
}  // namespace upskill
