// SPDX-License-Identifier: Apache-2.0
// How frontmatter is cut out of a SKILL.md and read as StrictYAML.
#include "skill/strict_yaml.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "skill/skill_properties.h"
#include "support/skill_rows.h"
#include "support/work_meter.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

// The content is the whole SKILL.md.
constexpr std::string_view kTexts = R"rows(
x    =>  SKILL.md must start with YAML frontmatter (---)
x  ---  =>  SKILL.md frontmatter not properly closed with ---
x  ---\n  =>  SKILL.md frontmatter not properly closed with ---
x  ------  =>  SKILL.md frontmatter must be a YAML mapping
x  ---\n---  =>  SKILL.md frontmatter must be a YAML mapping
x  ---\n---\n  =>  SKILL.md frontmatter must be a YAML mapping
x  --- ---  =>  SKILL.md frontmatter must be a YAML mapping
x  ----  =>  SKILL.md frontmatter not properly closed with ---
x  -----\n  =>  SKILL.md frontmatter not properly closed with ---
x  ---\nname: x\ndescription: d\n  =>  SKILL.md frontmatter not properly closed with ---
x  ---\nname: x\ndescription: d\n---  =>  valid
x  ---\nname: x\ndescription: d\n--  =>  SKILL.md frontmatter not properly closed with ---
x  ---\nname: x\ndescription: d\n- --  =>  SKILL.md frontmatter not properly closed with ---
x  ---\nname: x\ndescription: d\n--- trailing  =>  valid
x  ---\nname: x\ndescription: d\n----  =>  valid
x  ---\nname: x\ndescription: d\n***  =>  SKILL.md frontmatter not properly closed with ---
x  ---name: x\ndescription: d\n---  =>  valid
x  ---name: x\ndescription: d---  =>  valid
x  --- name: x\n    description: d\n---  =>  not YAML @2:16
x  \n---\nname: x\ndescription: d\n---  =>  SKILL.md must start with YAML frontmatter (---)
x   ---\nname: x\ndescription: d\n---  =>  SKILL.md must start with YAML frontmatter (---)
x  \t---\nname: x\ndescription: d\n---  =>  SKILL.md must start with YAML frontmatter (---)
x  \xef\xbb\xbf---\nname: x\ndescription: d\n---  =>  SKILL.md must start with YAML frontmatter (---), not with a byte order mark
x  # T\n---\nname: x\ndescription: d\n---  =>  SKILL.md must start with YAML frontmatter (---)
x  --\nname: x\ndescription: d\n--  =>  SKILL.md must start with YAML frontmatter (---)
x  —\nname: x\ndescription: d\n—  =>  SKILL.md must start with YAML frontmatter (---)
x  ---\r\nname: x\r\ndescription: d\r\n---\r\nbody\r\n  =>  valid
x  ---\rname: x\rdescription: d\r---\rbody  =>  valid
x  ---\r\nname: x\ndescription: d\r\n---  =>  valid
x  ---\r\nname: x\r\nname: y\r\n---  =>  not YAML @3:1
x  ---\nname: x\ndescription: d\n...\n---  =>  valid
x  ---\nname: x\ndescription: d\n...\na: b\n---  =>  not YAML @5:1
x  ---\n...\nname: x\ndescription: d\n---  =>  not YAML @3:1
x  ---\n%YAML 1.1\nname: x\ndescription: d\n---  =>  not YAML @2:1
x  ---\nname: x\ndescription: d\n%YAML 1.2\n---  =>  not YAML @4:1
x  ---\n# only\n---  =>  SKILL.md frontmatter must be a YAML mapping
x  ---\nplain\n---  =>  SKILL.md frontmatter must be a YAML mapping
x  ---\n'quoted'\n---  =>  SKILL.md frontmatter must be a YAML mapping
x  ---\n- a\n- b\n---  =>  SKILL.md frontmatter must be a YAML mapping
x  ---\nnull\n---  =>  SKILL.md frontmatter must be a YAML mapping
x  ---\n{}\n---  =>  not YAML @2:1
x  ---\n[]\n---  =>  not YAML @2:1
x  ---\n{name: x, description: d}\n---  =>  not YAML @2:1
x  ---\n[a, b]\n---  =>  not YAML @2:1
x  ---\nname: [x]\ndescription: d\n---  =>  not YAML @2:7
x  ---\nname: x\ndescription: {a: b}\n---  =>  not YAML @3:14
x  ---\nname: &a x\ndescription: d\n---  =>  not YAML @2:7
x  ---\nname: x\ndescription: *a\n---  =>  not YAML @3:14
x  ---\nname: &a x\ndescription: *a\n---  =>  not YAML @2:7
x  ---\nname: !!str x\ndescription: d\n---  =>  not YAML @2:7
x  ---\n!!map\nname: x\ndescription: d\n---  =>  not YAML @2:1
x  ---\nname: !x\n---  =>  not YAML @2:7
x  ---\nname: x\nname: x\ndescription: d\n---  =>  not YAML @3:1
x  ---\nname: x\ndescription: d\ndescription: d\n---  =>  not YAML @4:1
x  ---\nname: x\ndescription: d\nmetadata:\n  a: 1\n  a: 2\n---  =>  not YAML @6:3
x  ---\nname: x\ndescription: d\nmetadata:\n  a: 1\n  a: 2\nname: y\n---  =>  not YAML @6:3
x  ---\n\tname: x\n---  =>  not YAML @2:1
x  ---\nname:\tx\ndescription: d\n---  =>  not YAML @2:6
x  ---\nname: x\n\tdescription: d\n---  =>  not YAML @3:1
x  ---\nname: x\n description: d\n---  =>  not YAML @3:13
x  ---\n name: x\ndescription: d\n---  =>  not YAML @3:1
x  ---\n name: x\n description: d\n---  =>  valid
x  ---\nname: x\n  description: d\n---  =>  not YAML @3:14
x  ---\nname:x\ndescription: d\n---  =>  not YAML @3:12
x  ---\nname\ndescription: d\n---  =>  not YAML @3:12
x  ---\nname: x\ndescription\n---  =>  not YAML @3:1
x  ---\nname: x\ndescription: 'd\n---  =>  not YAML @3:14
x  ---\nname: x\ndescription: "d\n---  =>  not YAML @3:14
x  ---\nname: x\ndescription: d'\n---  =>  valid
x  ---\nname: x\ndescription: d\nlicense: MIT: x\n---  =>  not YAML @4:13
x  ---\nname: x\ndescription: d\n- a\n---  =>  not YAML @4:1
x  ---\nname: x\ndescription: d\na\n---  =>  not YAML @4:1
x  ---\nname: x\ndescription: d\n]\n---  =>  not YAML @4:1
x  ---\nname: x\ndescription: d\n}\n---  =>  not YAML @4:1
x  ---\nname: x\ndescription: d\n@\n---  =>  not YAML @4:1
x  ---\nname: x\ndescription: d\n`a`: b\n---  =>  not YAML @4:1
x  ---\ndescription: d\n---  =>  Missing required field in frontmatter: name
x  ---\nname: x\n---  =>  Missing required field in frontmatter: description
x  ---\nlicense: MIT\n---  =>  Missing required field in frontmatter: name ;; Missing required field in frontmatter: description
x  ---\nNAME: x\ndescription: d\n---  =>  Unexpected fields in frontmatter: NAME. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed. ;; Missing required field in frontmatter: name
x  ---\nname: x\ndescription: d\nx: \x07\n---  =>  not YAML @4:4  # traceback
x  ---\nname: x\ndescription: d\nx: \x1b[31m\n---  =>  not YAML @4:4  # traceback
x  ---\nname: x\ndescription: d\nx: \x7f\n---  =>  not YAML @4:4  # traceback
x  ---\nname: x\ndescription: d\n---\n\x07 \x00 body  =>  valid
x  ---\nname: x\ndescription: d\nlicense: \xe2\x80\xa8\n---  =>  valid
x  ---\nname: x\ndescription: d\nlicense: a\xc2\x85b\n---  =>  valid
x  ---\nname: x\ndescription: d\nlicense: \xef\xbb\xbf\n---  =>  valid
x  ---\nname: x\ndescription: d\n{k*1025}: v\n---  =>  not YAML @4:1026
x  ---\nname: x\ndescription: d\n{k*1000}: v\n---  =>  Unexpected fields in frontmatter: {k*1000}. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed.
x  ---\nname: x\ndescription: d\nlicense: {[*300}\n---  =>  not YAML @4:10
x  ---\nname: x\ndescription: d\nlicense: {[*2000}\n---  =>  not YAML @4:10
x  ---\n{- *100}x\n---  =>  SKILL.md frontmatter must be a YAML mapping
x  ---\nname: x\ndescription: d\nmetadata:\n{ *80}a: {b*90}: c\n---  =>  not YAML @5:174
x  ---\nname: x\ndescription: d\nlicense: {z*80}: {y*80}\n---  =>  not YAML @4:90
x  ---\nname: x\ndescription: d\nmetadata:\n  - a\n  b: c\n---  =>  not YAML @6:3
x  ---\nname: x\ndescription: d\nmetadata:\n  a: b\n  - c\n---  =>  not YAML @6:3
x  ---\nname: x\ndescription: d\nlicense: a\n  b: c\n---  =>  not YAML @5:4
x  ---\nname: x\ndescription: d\nlicense: |\n  a\n b\n---  =>  not YAML @6:2
x  ---\nname: x\ndescription: d\nlicense: |\n\n\n   a\n  b\n---  =>  not YAML @8:3
x  ---\nname: x\ndescription: d\nlicense: >\n\n # c\n---  =>  valid
x  ---\nname: x\ndescription: |#c\n  d\n---  =>  not YAML @3:15
x  ---\nname: x\ndescription: |\t\n  d\n---  =>  not YAML @3:15
x  ---\nname: x\ndescription: |  # c\td\n  d\td\n---  =>  valid
x  ---\nname: x\ndescription: 'd\td'#\td\n---  =>  valid
x  ---\nname: x\ndescription: d#\td\n---  =>  not YAML @3:16
x  ---\nname: x\ndescription:\n'd'\n---  =>  not YAML @4:1
x  ---\nname: x\ndescription:\nnull\n---  =>  not YAML @4:1
x  ---\nname: x\ndescription:\n|\n d\n---  =>  valid
x  ---\nname: x\ndescription: "it\\'s"\n---  =>  not YAML @3:17
x  ---\nname: "x\\_"\ndescription: "\\N\\ud83d\\ude80"\n---  =>  valid
x  ---\nname:\nnull: y\ndescription: d\n---  =>  Unexpected fields in frontmatter: null. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed. ;; Field 'name' must be a non-empty string
null  ---\nname:\n  null\ndescription: ~\n---  =>  valid
)rows";

std::string MessageOf(std::string_view yaml) {
  const auto read = ReadStrictYaml(yaml);
  const auto* const problem = std::get_if<StrictYamlProblem>(&read);
  return problem == nullptr ? "" : problem->message;
}

std::string Repeated(std::string_view text, std::size_t count) {
  std::string repeated;
  repeated.reserve(text.size() * count);
  for (; count > 0; --count) repeated += text;
  return repeated;
}

TEST(StrictYaml, FrontmatterIsReadLikeTheReference) {
  EXPECT_GE(CheckSkillRows(kTexts, [](const std::string& text) { return text; }), 100U);
}

TEST(StrictYaml, DeepNestingIsAProblem) {
  EXPECT_EQ(MessageOf(Repeated("- ", kMaxStrictYamlDepth - 1) + "x"), "");
  EXPECT_EQ(MessageOf(Repeated("- ", kMaxStrictYamlDepth) + "x"), "nested more than 200 levels deep");
  EXPECT_EQ(MessageOf(Repeated("- ", 500'000) + "x"), "nested more than 200 levels deep");
  std::string steps;
  for (std::size_t i = 0; i < 400; ++i) steps += fmt::format("{}a:\n", Repeated(" ", i));
  EXPECT_EQ(MessageOf(steps), "nested more than 200 levels deep");
}

// Each text ten times as long may take little more than ten times the work.
TEST(StrictYaml, WorkGrowsWithTheText) {
  const WorkMeter meter;
  const double slack = meter.counts_instructions() ? 1e7 : 0.05;  // instructions, or seconds
  for (const char* part :
       {"k",    "[",           "{",       "'",   "\"",  "# ",  "\n",  " ",  "- ",           "a: b\n", "? a\n", "- a\n",
        "|\n ", "a: |\n  b\n", "\n\n#\n", "%A ", "&a ", "*a ", "!a ", ": ", "\xE2\x80\xA8", "a\n",    "\"\\",  "''"}) {
    SCOPED_TRACE(part);
    for (const char* before : {"", "a: ", "a: '", "a: \"", "a: >\n "}) {
      const std::string small = before + Repeated(part, 2'000);
      const std::string large = before + Repeated(part, 20'000);
      const double small_work = meter.Of([&] { static_cast<void>(ReadStrictYaml(small)); });
      const double large_work = meter.Of([&] { static_cast<void>(ReadStrictYaml(large)); }, 1);
      EXPECT_LT(large_work, 25 * small_work + slack) << before;
    }
  }
}

TEST(StrictYaml, LineOfAMebibyteIsRead) {
  const std::string text = "name: " + std::string(kMaxStrictYamlBytes - 6, 'x');
  const auto read = ReadStrictYaml(text);
  EXPECT_EQ(std::get<StrictYaml>(read).Find("name")->text.size(), kMaxStrictYamlBytes - 6);
  EXPECT_EQ(MessageOf(text + "x"), "larger than 1 MiB");
}

TEST(SkillProperties, AreThoseOfTheReference) {
  const TempFolder folder;
  const std::string file =
      folder
          .Write("x/SKILL.md",
                 "---\nname: ' x '\ndescription: >\n  a\n  b\nmetadata:\n  n: 1.0\n  m:\n    k: it's\n    l:\n"
                 "    - \"q\\n\\u00e9\"\n    - \nallowed-tools:\n- A\nlicense: \nother: z\n---\n")
          .string();
  const auto read = ReadSkillProperties(file);
  EXPECT_EQ(DumpJson(std::get<Json>(read)),
            R"({"name":"x","description":"a b","license":"","allowed-tools":["A"],"metadata":{"n":"1.0",)"
            R"("m":"{'k': \"it's\", 'l': ['q\\né', '']}"}})");
}

TEST(SkillProperties, NeedNameAndDescription) {
  const TempFolder folder;
  const auto problem_of = [&](const char* text) {
    const auto read = ReadSkillProperties(folder.Write("x/SKILL.md", text).string());
    return std::get<SkillFinding>(read).message;
  };
  EXPECT_EQ(problem_of("---\ndescription: d\n---"), "Missing required field in frontmatter: name");
  EXPECT_EQ(problem_of("---\nname: x\n---"), "Missing required field in frontmatter: description");
  EXPECT_EQ(problem_of("---\nname:\ndescription: d\n---"), "Field 'name' must be a non-empty string");
  EXPECT_EQ(problem_of("name: x"), "SKILL.md must start with YAML frontmatter (---)");
}

}  // namespace
}  // namespace upskill
