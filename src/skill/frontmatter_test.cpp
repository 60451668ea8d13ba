// SPDX-License-Identifier: Apache-2.0
#include "skill/frontmatter.h"

#include <gmock/gmock.h>

#include <string>

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string SplitError(const std::string& text) {
  const Result<SkillParts> parts = SplitFrontmatter(text, "s/SKILL.md");
  EXPECT_FALSE(parts.ok()) << text;
  return parts ? "" : parts.error().message;
}

std::string ParseError(const std::string& yaml) {
  const Result<Skill> fields = ParseFrontmatter(yaml, "s/SKILL.md");
  EXPECT_FALSE(fields.ok()) << yaml.substr(0, 200);
  return fields ? "" : fields.error().message;
}

Skill ParseFields(const std::string& yaml) {
  Result<Skill> fields = ParseFrontmatter(yaml, "s/SKILL.md");
  EXPECT_TRUE(fields.ok()) << (fields ? "" : fields.error().message);
  return fields ? *fields : Skill{};
}

TEST(SplitFrontmatter, CutsAtDelimiterLines) {
  const Result<SkillParts> parts = SplitFrontmatter("---\nname: a\n---\n\nBody\n---\nmore\n", "f");
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(parts->frontmatter, "name: a\n");
  EXPECT_EQ(parts->body, "Body\n---\nmore");
}

TEST(SplitFrontmatter, CrLfAndSpacesAfterDelimiters) {
  const Result<SkillParts> parts = SplitFrontmatter("---\r\nname: a\r\n--- \t\r\nBody\r\n", "f");
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(parts->frontmatter, "name: a\r\n");
  EXPECT_EQ(parts->body, "Body");
}

TEST(SplitFrontmatter, LeavesOutAByteOrderMark) {
  const Result<SkillParts> parts = SplitFrontmatter("\xEF\xBB\xBF---\nname: a\n---\nBody\n", "f");
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(parts->frontmatter, "name: a\n");
  EXPECT_EQ(parts->body, "Body");
}

TEST(SplitFrontmatter, DelimiterIsALineOfItsOwn) {
  const Result<SkillParts> parts = SplitFrontmatter("---\nd: one --- two\n----\n --- \n---\nB", "f");
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(parts->frontmatter, "d: one --- two\n----\n --- \n");
  EXPECT_EQ(parts->body, "B");
}

TEST(SplitFrontmatter, EmptyFrontmatterOrBody) {
  const Result<SkillParts> parts = SplitFrontmatter("---\n---", "f");
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(parts->frontmatter, "");
  EXPECT_EQ(parts->body, "");
}

TEST(SplitFrontmatter, Rejects) {
  for (const char* text :
       {"", "\n---\na: b\n---\nB", "# Title\n", "----\na: b\n---\n", " ---\na: b\n---\n", "--", "--- x\n"}) {
    EXPECT_THAT(SplitError(text), AllOf(StartsWith("s/SKILL.md:1: "), HasSubstr("must start with YAML frontmatter")));
  }
  for (const char* text : {"---", "---\n", "---\nname: a\n", "---\nname: a\n ---\n", "---\nname: a\n--- b"}) {
    EXPECT_THAT(SplitError(text), AllOf(StartsWith("s/SKILL.md:1: "), HasSubstr("not closed")));
  }
  EXPECT_THAT(SplitError("---\nname: a\n---\nab\xFF"), StartsWith("s/SKILL.md:4:3: not UTF-8"));
  EXPECT_THAT(SplitError("---\nname: " + std::string(70000, 'a') + "\n---\nB"), HasSubstr("larger than 64 KiB"));
}

TEST(ParseFrontmatter, UnquotedValuesThatAgentsReadAsText) {
  const Skill skill = ParseFields("name: a\ndescription: It's teal. Note: use when asked: yes #1\nlicense: MIT\n");
  EXPECT_EQ(skill.description, "It's teal. Note: use when asked: yes #1");
  EXPECT_EQ(skill.name, "a");
  EXPECT_EQ(skill.other_fields, "license: MIT\n");
  EXPECT_THAT(skill.warnings, ElementsAre(StartsWith("s/SKILL.md:3: ")));
  EXPECT_EQ(ParseFields("name: a\r\ndescription: Use for: x\r\n").description, "Use for: x");
  EXPECT_EQ(ParseFields("name: a\ndescription: Use when asked:\n").description, "Use when asked:");
  EXPECT_EQ(ParseFields("name: a\nmetadata:\n  k: v\ndescription: a\ncompatibility: Needs: gcc\n").description, "a");
  for (const char* yaml : {"name: a\ndescription: Note: use\n  when asked\n", "name: a\ndescription: \"Note: x\n",
                           "name: a\n  b: c: d\n", "description: a\n\tb: c: d\n"})
    ParseError(yaml);
}

TEST(ParseFrontmatter, WarnsOfADescriptionThatEndsAtAComment) {
  const Skill skill = ParseFields("name: a\ndescription: Use for C # and F # code.\n");
  EXPECT_EQ(skill.description, "Use for C");
  EXPECT_EQ(skill.warnings.size(), 1U);
  for (const char* description : {"'Use for C # code.'", "Use for C# code.", "Use. Note: C # too."})
    EXPECT_LE(ParseFields(std::string("name: a\ndescription: ") + description + "\n").warnings.size(), 1U);
  EXPECT_EQ(ParseFields("name: a\ndescription: 'C # code'\n").warnings.size(), 0U);
}

TEST(ParseFrontmatter, ScalarsOfEveryStyle) {
  EXPECT_EQ(ParseFields("name: a\ndescription: plain text\n").description, "plain text");
  EXPECT_EQ(ParseFields("description: \"with: colon, \\\"quotes\\\" \\u00e9\"").description,
            "with: colon, \"quotes\" é");
  EXPECT_EQ(ParseFields("description: 'it''s'").description, "it's");
  EXPECT_EQ(ParseFields("description: >\n  folded\n  text\nname: a").description, "folded text");
  EXPECT_EQ(ParseFields("description: |\n  line 1\n  line 2\n").description, "line 1\nline 2");
  EXPECT_EQ(ParseFields("description: a # comment").description, "a");
  EXPECT_EQ(ParseFields("name: 123\ndescription: yes").name, "123");
  EXPECT_EQ(ParseFields("name: a\r\ndescription: b\r\n").description, "b");
}

TEST(ParseFrontmatter, OtherFieldsAreIgnored) {
  const Skill fields = ParseFields(
      "name: a-1\ndescription: d\nlicense: MIT\nallowed-tools: [Bash, Read]\nmetadata:\n  x: {y: [1, 2]}\n? "
      "[complex]\n: key\n");
  EXPECT_EQ(fields.name, "a-1");
  EXPECT_THAT(fields.warnings, IsEmpty());
}

TEST(ParseFrontmatter, AbsentAndNullAreEmpty) {
  for (const char* yaml :
       {"license: MIT", "name:\ndescription:", "name: ~\ndescription: null", "name: ''\ndescription: \" \""}) {
    const Skill fields = ParseFields(yaml);
    EXPECT_EQ(fields.name, "") << yaml;
    EXPECT_EQ(fields.description, "") << yaml;
    EXPECT_THAT(fields.warnings, ElementsAre(HasSubstr("no \"name\""))) << yaml;
  }
}

TEST(ParseFrontmatter, YamlErrorsCountLinesInTheFile) {
  EXPECT_THAT(ParseError("name: a\ndescription: [open\n"), StartsWith("s/SKILL.md:4:1: "));
  EXPECT_THAT(ParseError("name: a\ndescription: Use it: always\n  and often\n"),
              AllOf(StartsWith("s/SKILL.md:3:20: "), HasSubstr("must be quoted")));
  EXPECT_THAT(ParseError("name: a\n\tb: c\n"), StartsWith("s/SKILL.md:3:"));
  EXPECT_THAT(ParseError("name: *unknown\n"), StartsWith("s/SKILL.md:2:"));
}

TEST(ParseFrontmatter, MustBeAMapOfText) {
  for (const char* yaml : {"", "just text", "- a\n- b\n", "~", "# comment only\n"}) {
    EXPECT_THAT(ParseError(yaml), AllOf(StartsWith("s/SKILL.md:2: "), HasSubstr("must be a map"))) << yaml;
  }
  EXPECT_THAT(ParseError("name: a\ndescription: [a, b]\n"),
              AllOf(StartsWith("s/SKILL.md:3:14: "), HasSubstr("\"description\" must be text")));
  EXPECT_THAT(ParseError("name: {a: b}\n"), AllOf(StartsWith("s/SKILL.md:2:7: "), HasSubstr("\"name\" must be text")));
}

TEST(ParseFrontmatter, ControlCharactersAreErrors) {
  EXPECT_THAT(ParseError(std::string("name: a\nb: \0\n", 12)), StartsWith("s/SKILL.md:3:4: control character"));
  // yaml-cpp would end the text here and never see the rest.
  EXPECT_THAT(ParseError("description: d\n\x04\nname: a\n"), StartsWith("s/SKILL.md:3:1: control character"));
  EXPECT_THAT(ParseError("name: \"a\\e[2J\"\n"),
              AllOf(StartsWith("s/SKILL.md:2:7: "), HasSubstr("control character"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(ParseError("name: \"a\\0b\"\n"), HasSubstr("control character"));
}

TEST(ParseFrontmatter, WarnsAboutViolationsOfTheSpecification) {
  for (const char* name : {"Upper", "a_b", "-a", "a-", "a--b", "ä", "a b", "../x"}) {
    const Skill fields = ParseFields(std::string("description: d\nname: '") + name + "'\n");
    EXPECT_EQ(fields.name, name);
    EXPECT_THAT(fields.warnings, ElementsAre(HasSubstr("lowercase letters, digits and single hyphens"))) << name;
  }
  EXPECT_THAT(ParseFields("name: " + std::string(64, 'a')).warnings, IsEmpty());
  EXPECT_EQ(ParseFields("name: " + std::string(65, 'a')).warnings.size(), 1U);
  std::string umlauts;
  for (int i = 0; i < 1024; ++i) umlauts += "ä";
  EXPECT_THAT(ParseFields("name: a\ndescription: " + umlauts).warnings, IsEmpty());
  EXPECT_THAT(ParseFields("name: a\ndescription: x" + umlauts).warnings, ElementsAre(HasSubstr("1,024")));
}

TEST(ParseFrontmatter, OtherFieldsStayUnchanged) {
  EXPECT_EQ(ParseFields("name: a\ndescription: d\n").other_fields, "");
  EXPECT_EQ(
      ParseFields("# top\nlicense: MIT  # free\nname: a\nmetadata:\n  author: me\n  # by hand\ndescription: >\n  d\n  "
                  "e\nallowed-tools: Bash\n")
          .other_fields,
      "license: MIT  # free\nmetadata:\n  author: me\n  # by hand\nallowed-tools: Bash\n");
  EXPECT_EQ(ParseFields("{name: a, description: d, license: MIT}\n").other_fields, "");
}

TEST(ParseFrontmatter, YamlBombs) {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string p = "*a" + std::to_string(i - 1);
    std::string list;
    for (int k = 0; k < 9; ++k) list += (k == 0 ? "" : ", ") + p;
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + list + "]\n";
  }
  EXPECT_EQ(ParseFields(laughs + "name: a\ndescription: d\n").description, "d");
  EXPECT_EQ(ParseFields("x: &x [*x, *x]\nname: &n a\ndescription: *n\n").description, "a");
  EXPECT_THAT(ParseError(std::string(60000, '[')), StartsWith("s/SKILL.md"));
  EXPECT_THAT(ParseError("a: " + std::string(30000, '{')), StartsWith("s/SKILL.md"));
  std::string nested;
  for (int i = 0; i < 20000; ++i) nested += "- ";
  EXPECT_THAT(ParseError(nested), StartsWith("s/SKILL.md"));
}

}  // namespace
}  // namespace upskill
