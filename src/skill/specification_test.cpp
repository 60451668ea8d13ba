// SPDX-License-Identifier: Apache-2.0
// Which skills are valid, and what is said about the others: names, and the other fields.
#include "skill/specification.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "support/skill_rows.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

// The content is the name.
constexpr std::string_view kNames = R"rows(
x  x  =>  valid
pdf-tools  pdf-tools  =>  valid
a1  a1  =>  valid
1a  1a  =>  valid
42  42  =>  valid
a-b-c  a-b-c  =>  valid
{a*63}  {a*63}  =>  valid
{a*64}  {a*64}  =>  valid
{a*65}  {a*65}  =>  Skill name '{a*65}' exceeds 64 character limit (65 chars)
{é*64}  {é*64}  =>  valid
{é*65}  {é*65}  =>  Skill name '{é*65}' exceeds 64 character limit (65 chars)
{中*64}  {中*64}  =>  valid
{中*65}  {中*65}  =>  Skill name '{中*65}' exceeds 64 character limit (65 chars)
-a  -a  =>  Skill name cannot start or end with a hyphen
a-  a-  =>  Skill name cannot start or end with a hyphen
-  -  =>  not YAML @2:7
--  --  =>  Skill name cannot start or end with a hyphen ;; Skill name cannot contain consecutive hyphens
a--b  a--b  =>  Skill name cannot contain consecutive hyphens
a---b  a---b  =>  Directory name 'a---b' must match skill name 'a' ;; Missing required field in frontmatter: description
-a-  -a-  =>  Skill name cannot start or end with a hyphen
--a  --a  =>  Skill name cannot start or end with a hyphen ;; Skill name cannot contain consecutive hyphens
a_b  a_b  =>  Skill name 'a_b' contains invalid characters. Only letters, digits, and hyphens are allowed.
a.b  a.b  =>  Skill name 'a.b' contains invalid characters. Only letters, digits, and hyphens are allowed.
a b  a b  =>  Skill name 'a b' contains invalid characters. Only letters, digits, and hyphens are allowed.
a  a/b  =>  Skill name 'a/b' contains invalid characters. Only letters, digits, and hyphens are allowed. ;; Directory name 'a' must match skill name 'a/b'
a+b  a+b  =>  Skill name 'a+b' contains invalid characters. Only letters, digits, and hyphens are allowed.
a@b  a@b  =>  Skill name 'a@b' contains invalid characters. Only letters, digits, and hyphens are allowed.
A  A  =>  Skill name 'A' must be lowercase
Pdf-Tools  Pdf-Tools  =>  Skill name 'Pdf-Tools' must be lowercase
PDF  PDF  =>  Skill name 'PDF' must be lowercase
aB  aB  =>  Skill name 'aB' must be lowercase
ÉCOLE  ÉCOLE  =>  Skill name 'ÉCOLE' must be lowercase
école  école  =>  valid
中文-技能  中文-技能  =>  valid
数据分析  数据分析  =>  valid
данные  данные  =>  valid
Данные  Данные  =>  Skill name 'Данные' must be lowercase
ελληνικά  ελληνικά  =>  valid
Σ  Σ  =>  Skill name 'Σ' must be lowercase
ς  ς  =>  valid
ß  ß  =>  valid
ẞ  ẞ  =>  Skill name 'ẞ' must be lowercase
naïve  naïve  =>  valid
日本語スキル  日本語スキル  =>  valid
한국어  한국어  =>  valid
ก  ก  =>  valid
हिंदी  हिंदी  =>  Skill name 'हिंदी' contains invalid characters. Only letters, digits, and hyphens are allowed.
عربى  عربى  =>  valid
🚀  🚀  =>  Skill name '🚀' contains invalid characters. Only letters, digits, and hyphens are allowed.
a🚀  a🚀  =>  Skill name 'a🚀' contains invalid characters. Only letters, digits, and hyphens are allowed.
café  café  =>  valid
cafe\xcc\x81  cafe\xcc\x81  =>  valid
ﬁle  ﬁle  =>  valid
ｐｄｆ  ｐｄｆ  =>  valid
ＰＤＦ  ＰＤＦ  =>  Skill name 'PDF' must be lowercase
ａ-１  ａ-１  =>  valid
①  ①  =>  valid
½  ½  =>  Skill name '1⁄2' contains invalid characters. Only letters, digits, and hyphens are allowed.
²  ²  =>  valid
Ⅷ  Ⅷ  =>  Skill name 'VIII' must be lowercase
ⅷ  ⅷ  =>  valid
ǅ  ǅ  =>  Skill name 'Dž' must be lowercase
İ  İ  =>  Skill name 'İ' must be lowercase
ı  ı  =>  valid
a\xc2\xadb  a\xc2\xadb  =>  Skill name 'a\xc2\xadb' contains invalid characters. Only letters, digits, and hyphens are allowed.
a\xe2\x80\x8bb  a\xe2\x80\x8bb  =>  Skill name 'a\xe2\x80\x8bb' contains invalid characters. Only letters, digits, and hyphens are allowed.
a\xc2\xa0b  a\xc2\xa0b  =>  Skill name 'a b' contains invalid characters. Only letters, digits, and hyphens are allowed.
a–b  a–b  =>  Skill name 'a–b' contains invalid characters. Only letters, digits, and hyphens are allowed.
a\xe2\x80\x91b  a\xe2\x80\x91b  =>  Skill name 'a‐b' contains invalid characters. Only letters, digits, and hyphens are allowed.
_  _  =>  Skill name '_' contains invalid characters. Only letters, digits, and hyphens are allowed.
café  cafe\xcc\x81  =>  valid
cafe\xcc\x81  café  =>  valid
file  ﬁle  =>  valid
ﬁle  file  =>  valid
pdf  ｐｄｆ  =>  valid
ｐｄｆ  pdf  =>  valid
kg  ㎏  =>  valid
b  a  =>  Directory name 'b' must match skill name 'a'
A  a  =>  Directory name 'A' must match skill name 'a'
a  A  =>  Skill name 'A' must be lowercase ;; Directory name 'a' must match skill name 'A'
x  x y  =>  Skill name 'x y' contains invalid characters. Only letters, digits, and hyphens are allowed. ;; Directory name 'x' must match skill name 'x y'
x  'x'  =>  valid
x  "x"  =>  valid
x  "x\\u0041"  =>  Skill name 'xA' must be lowercase ;; Directory name 'x' must match skill name 'xA'
x  ' x '  =>  valid
x  'x\xc2\xa0'  =>  valid
x  'x\xe2\x80\x83'  =>  valid
x  x     =>  valid
{fi*32}  {ﬁ*32}  =>  valid
{fi*33}  {ﬁ*33}  =>  Skill name '{fi*33}' exceeds 64 character limit (66 chars)
{é*64}  {e\xcc\x81*64}  =>  valid
{é*65}  {e\xcc\x81*65}  =>  Skill name '{é*65}' exceeds 64 character limit (65 chars)
x  ﷺ  =>  Skill name 'صلى الله عليه وسلم' contains invalid characters. Only letters, digits, and hyphens are allowed. ;; Directory name 'x' must match skill name 'صلى الله عليه وسلم'
x  A--_  =>  Skill name 'A--_' must be lowercase ;; Skill name cannot contain consecutive hyphens ;; Skill name 'A--_' contains invalid characters. Only letters, digits, and hyphens are allowed. ;; Directory name 'x' must match skill name 'A--_'
x  -A_{b*70}  =>  Skill name '-A_{b*70}' exceeds 64 character limit (73 chars) ;; Skill name '-A_{b*70}' must be lowercase ;; Skill name cannot start or end with a hyphen ;; Skill name '-A_{b*70}' contains invalid characters. Only letters, digits, and hyphens are allowed. ;; Directory name 'x' must match skill name '-A_{b*70}'
{x*64}  '{x*64} '  =>  valid
x  '#x'  =>  Skill name '#x' contains invalid characters. Only letters, digits, and hyphens are allowed. ;; Directory name 'x' must match skill name '#x'
x#y  x#y  =>  Skill name 'x#y' contains invalid characters. Only letters, digits, and hyphens are allowed.
x  x #y  =>  valid
true  true  =>  valid
null  null  =>  valid
x  ~  =>  Skill name '~' contains invalid characters. Only letters, digits, and hyphens are allowed. ;; Directory name 'x' must match skill name '~'
1.0  1.0  =>  Skill name '1.0' contains invalid characters. Only letters, digits, and hyphens are allowed.
0x10  0x10  =>  valid
yes  yes  =>  valid
x  ''  =>  Field 'name' must be a non-empty string
x  " "  =>  Field 'name' must be a non-empty string
x  '\xe3\x80\x80'  =>  Field 'name' must be a non-empty string
x    =>  Field 'name' must be a non-empty string
x  \n- a  =>  Field 'name' must be a non-empty string
x  \n  a: b  =>  Field 'name' must be a non-empty string
x  |\n  x\n  =>  valid
x  >-\n  x\n  =>  valid
x y  x\n  y  =>  Skill name 'x y' contains invalid characters. Only letters, digits, and hyphens are allowed.
x  "x\\ny"  =>  Skill name 'x | y' contains invalid characters. Only letters, digits, and hyphens are allowed. ;; Directory name 'x' must match skill name 'x | y'
it's  'it''s'  =>  Skill name 'it's' contains invalid characters. Only letters, digits, and hyphens are allowed.
ai-anthropic  ai-anthropic  =>  valid
claude  claude  =>  valid
)rows";

// The content is what follows the name in the frontmatter.
constexpr std::string_view kFields = R"rows(
x  description: {d*1023}  =>  valid
x  description: {d*1024}  =>  valid
x  description: {d*1025}  =>  Description exceeds 1024 character limit (1025 chars)
x  description: {é*1024}  =>  valid
x  description: {é*1025}  =>  Description exceeds 1024 character limit (1025 chars)
x  description: {🚀*1024}  =>  valid
x  description: {🚀*1025}  =>  Description exceeds 1024 character limit (1025 chars)
x  description: '{d*1024} '  =>  Description exceeds 1024 character limit (1025 chars)
x  description: ' {d*1023}'  =>  valid
x  description: {d *512}  =>  valid
x  description: {d *513}d  =>  Description exceeds 1024 character limit (1027 chars)
x  description:   =>  Field 'description' must be a non-empty string
x  description: ''  =>  Field 'description' must be a non-empty string
x  description: ' '  =>  Field 'description' must be a non-empty string
x  description: "\\t"  =>  Field 'description' must be a non-empty string
x  description: "\\u00a0"  =>  Field 'description' must be a non-empty string
x  description: null  =>  valid
x  description: ~  =>  valid
x  description: true  =>  valid
x  description: 1  =>  valid
x  description: 1.0  =>  valid
x  description: 2020-01-01  =>  valid
x  description: \n- a\n- b  =>  Field 'description' must be a non-empty string
x  description: \n  a: b  =>  Field 'description' must be a non-empty string
x  description: |\n  one\n  two  =>  valid
x  description: |-\n  one  =>  valid
x  description: |+\n  one\n\n  =>  valid
x  description: >\n  one\n  two\n\n  three  =>  valid
x  description: >2\n   one  =>  valid
x  description: |1-\n two  =>  valid
x  description: |0\n x  =>  not YAML @3:16
x  description: |x\n  a  =>  not YAML @3:15
x  description: one\n  two  =>  valid
x  description: one\n\n  two  =>  valid
x  description: one\ntwo  =>  not YAML @4:1
x  description: 'one\n  two'  =>  valid
x  description: one --- two  =>  valid
x  description: one---  =>  valid
x  description: ---  =>  Field 'description' must be a non-empty string
x  description: 'one\n---\ntwo'  =>  not YAML @3:14
x  description: a # comment  =>  valid
x  description: a#b  =>  valid
x  description: "a # b"  =>  valid
x  description: a: b  =>  not YAML @3:15
x  description: 'a: b'  =>  valid
x  description: a:b  =>  valid
x  description: https://x.y/z  =>  valid
x  description: a :b  =>  valid
x  description: <b>  =>  valid
x  description: a & b  =>  valid
x  description: & a  =>  not YAML @3:15
x  description: * a  =>  not YAML @3:15
x  description: ! a  =>  not YAML @3:14
x  description: % a  =>  not YAML @3:14
x  description: @ a  =>  not YAML @3:14
x  description: ` a  =>  not YAML @3:14
x  description: '@a'  =>  valid
x  description: - a  =>  not YAML @3:14
x  description: -a  =>  valid
x  description: ? a  =>  not YAML @3:14
x  description: ?a  =>  valid
x  description: : a  =>  not YAML @3:14
x  description: :a  =>  valid
x  description: , a  =>  not YAML @3:14
x  description: [a  =>  not YAML @3:14
x  description: a]  =>  valid
x  description: {a  =>  not YAML @3:14
x  description: a}  =>  valid
x  description: a, b  =>  valid
x  description: it's  =>  valid
x  description: 'it's'  =>  not YAML @3:18
x  description: "a" b  =>  not YAML @3:18
x  description: a "b"  =>  valid
x  description: "a\\/b"  =>  valid
x  description: "\\x41\\u00e9\\U0001F600"  =>  valid
x  description: "\\e[31mred"  =>  Field 'description' contains a control character
x  description: "\\q"  =>  not YAML @3:17
x  description: "\\x4"  =>  not YAML @3:19
x  description: "a\\\n  b"  =>  valid
x  description: tab\there  =>  not YAML @3:17
x  description: a\t  =>  not YAML @3:15
x  description: \ta  =>  not YAML @3:14
x  description: d\ncompatibility: {c*499}  =>  valid
x  description: d\ncompatibility: {c*500}  =>  valid
x  description: d\ncompatibility: {c*501}  =>  Compatibility exceeds 500 character limit (501 chars)
x  description: d\ncompatibility: {é*500}  =>  valid
x  description: d\ncompatibility: {é*501}  =>  Compatibility exceeds 500 character limit (501 chars)
x  description: d\ncompatibility:  =>  valid
x  description: d\ncompatibility: ''  =>  valid
x  description: d\ncompatibility:\n- a  =>  Field 'compatibility' must be a string
x  description: d\ncompatibility:\n  a: b  =>  Field 'compatibility' must be a string
x  description: d\ncompatibility: 1  =>  valid
x  description: d\nlicense: MIT  =>  valid
x  description: d\nlicense:  =>  valid
x  description: d\nlicense:\n- a  =>  valid
x  description: d\nlicense:\n  a: b  =>  valid
x  description: d\nallowed-tools: Bash(git:*) Read  =>  valid
x  description: d\nallowed-tools:\n- Read\n- Bash  =>  valid
x  description: d\nallowed-tools: Read, Bash  =>  valid
x  description: d\nallowed-tools:\n  - Read  =>  valid
x  description: d\nmetadata:\n  version: 1.0\n  author: me  =>  valid
x  description: d\nmetadata: text  =>  valid
x  description: d\nmetadata:  =>  valid
x  description: d\nmetadata:\n- a  =>  valid
x  description: d\nmetadata:\n  a:\n    b: c  =>  valid
x  description: d\nmetadata:\n  a:\n   b: c\n  d:\n    e: f  =>  not YAML @8:5
x  description: d\nversion: 1  =>  Unexpected fields in frontmatter: version. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed.
x  description: d\nz: 1\na: 2  =>  Unexpected fields in frontmatter: a, z. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed.
x  description: d\nName: x  =>  Unexpected fields in frontmatter: Name. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed.
x  description: d\nname : y  =>  not YAML @4:1
x  description: d\nargument-hint: x\nuser-invocable: false  =>  Unexpected fields in frontmatter: argument-hint, user-invocable. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed.
x  description: d\n1: 2  =>  Unexpected fields in frontmatter: 1. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed.
x  description: d\n'': x  =>  Unexpected fields in frontmatter: . Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed.
x  description: d\n? q\n: r  =>  Unexpected fields in frontmatter: q. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed.
x  description: d\n? name\n: y  =>  not YAML @4:3
x  description: d\nmodel: opus\nmetadata:\n  z: 1  =>  Unexpected fields in frontmatter: model. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed.
x  description: d\nallowed_tools: Read  =>  Unexpected fields in frontmatter: allowed_tools. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed.
x  description: d\n"license": MIT  =>  valid
x  description: d\n'compatibility': {c*501}  =>  Compatibility exceeds 500 character limit (501 chars)
x  description: d\n<<: x  =>  not YAML @4:5
x  description: d\n<<:\n  name: y  =>  valid
x  description: d\n=: x  =>  Unexpected fields in frontmatter: =. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed.
x  description: d\n? - a\n: b  =>  not YAML @4:3  # traceback
x  description: d\n? a: b\n: c  =>  not YAML @4:3
x  description: d\n# comment  =>  valid
x  description: d\n\n\nlicense: MIT  =>  valid
x  description: d\n  # comment  =>  valid
x  description: d\nlicense: MIT # why  =>  valid
)rows";

TEST(Specification, NamesAreJudgedLikeTheReference) {
  const std::size_t rows = CheckSkillRows(
      kNames, [](const std::string& name) { return fmt::format("---\nname: {}\ndescription: d\n---\nbody\n", name); });
  EXPECT_GT(rows, 100U);
}

TEST(Specification, FieldsAreJudgedLikeTheReference) {
  const std::size_t rows = CheckSkillRows(
      kFields, [](const std::string& fields) { return fmt::format("---\nname: x\n{}\n---\nbody\n", fields); });
  EXPECT_GT(rows, 100U);
}

TEST(Specification, ErrorsSayWhere) {
  const auto read = ReadSpecifiedSkill("---name: A\ndescription:\nmodel: x\ncompatibility:\n- a\n---\n\nBody");
  const auto& skill = std::get<SpecifiedSkill>(read);
  EXPECT_EQ(skill.body, "Body");
  EXPECT_EQ(skill.body_line, 8U);
  std::string places;
  for (const SkillFinding& error : FindFieldErrors(skill, "A"))
    places += fmt::format("{}:{} {}\n", error.line, error.column, error.message.substr(0, 20));
  EXPECT_EQ(
      places,
      "3:1 Unexpected fields in\n1:10 Skill name 'A' must \n2:13 Field 'description' \n5:1 Field 'compatibility\n");
}

TEST(Specification, TextThatIsNotUtf8IsAnError) {
  const auto read = ReadSpecifiedSkill("---\nname: x\ndescription: \xE9t\xE9\n---\n");
  const auto& problem = std::get<SkillFinding>(read);
  EXPECT_EQ(problem.message, "SKILL.md is not UTF-8 text");
  EXPECT_EQ(problem.line, 3U);
  EXPECT_EQ(problem.column, 14U);
}

TEST(Specification, PathsAreWrittenPlainly) {
  for (const auto& [path, plain] : {std::pair{"./a//b/", "a/b"},
                                    {".", "."},
                                    {"", "."},
                                    {"./", "."},
                                    {"..", ".."},
                                    {"/", "/"},
                                    {"//a", "//a"},
                                    {"///a/.", "/a"},
                                    {"a/../b", "a/../b"}}) {
    EXPECT_EQ(PlainPath(path), plain) << path;
  }
}

TEST(Specification, FoldersWithoutSkillsAreErrors) {
  const TempFolder folder;
  const std::string missing = (folder.path() / "none").string();
  EXPECT_EQ(ValidateSkill(missing).errors.front().message, fmt::format("Path does not exist: {}", missing));
  const std::string file = folder.Write("notes.md", "x").string();
  EXPECT_EQ(ValidateSkill(file).errors.front().message, fmt::format("Not a directory: {}", file));
  EXPECT_EQ(ValidateSkill(folder.path().string()).errors.front().message, "Missing required file: SKILL.md");
  folder.Write("x/skill.md", "---\nname: x\ndescription: d\n---\n");
  EXPECT_TRUE(ValidateSkill((folder.path() / "x").string()).errors.empty());
  EXPECT_TRUE(ValidateSkill((folder.path() / "x/skill.md").string()).errors.empty());
  EXPECT_TRUE(ValidateSkill((folder.path() / "x/../x/.").string()).errors.empty());
}

}  // namespace
}  // namespace upskill
