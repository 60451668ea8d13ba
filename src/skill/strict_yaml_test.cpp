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
x  --- name: x\n    description: d\n---  =>  Invalid YAML in frontmatter: mapping values are not allowed here @2:16
x  \n---\nname: x\ndescription: d\n---  =>  SKILL.md must start with YAML frontmatter (---)
x   ---\nname: x\ndescription: d\n---  =>  SKILL.md must start with YAML frontmatter (---)
x  \t---\nname: x\ndescription: d\n---  =>  SKILL.md must start with YAML frontmatter (---)
x  \xef\xbb\xbf---\nname: x\ndescription: d\n---  =>  SKILL.md must start with YAML frontmatter (---)
x  # T\n---\nname: x\ndescription: d\n---  =>  SKILL.md must start with YAML frontmatter (---)
x  --\nname: x\ndescription: d\n--  =>  SKILL.md must start with YAML frontmatter (---)
x  —\nname: x\ndescription: d\n—  =>  SKILL.md must start with YAML frontmatter (---)
x  ---\r\nname: x\r\ndescription: d\r\n---\r\nbody\r\n  =>  valid
x  ---\rname: x\rdescription: d\r---\rbody  =>  valid
x  ---\r\nname: x\ndescription: d\r\n---  =>  valid
x  ---\r\nname: x\r\nname: y\r\n---  =>  Invalid YAML in frontmatter: While parsing @3:1 | Duplicate key 'name' found @3:5
x  ---\nname: x\ndescription: d\n...\n---  =>  valid
x  ---\nname: x\ndescription: d\n...\na: b\n---  =>  Invalid YAML in frontmatter: expected a single document in the stream @2:1 | but found another document @5:1
x  ---\n...\nname: x\ndescription: d\n---  =>  Invalid YAML in frontmatter: while parsing a block node | expected the node content, but found '<document end>' @2:1
x  ---\n%YAML 1.1\nname: x\ndescription: d\n---  =>  Invalid YAML in frontmatter: mapping values are not allowed here @3:5
x  ---\nname: x\ndescription: d\n%YAML 1.2\n---  =>  Invalid YAML in frontmatter: expected '<document start>', but found '<stream end>' @5:1
x  ---\n# only\n---  =>  SKILL.md frontmatter must be a YAML mapping
x  ---\nplain\n---  =>  SKILL.md frontmatter must be a YAML mapping
x  ---\n'quoted'\n---  =>  SKILL.md frontmatter must be a YAML mapping
x  ---\n- a\n- b\n---  =>  SKILL.md frontmatter must be a YAML mapping
x  ---\nnull\n---  =>  SKILL.md frontmatter must be a YAML mapping
x  ---\n{}\n---  =>  Invalid YAML in frontmatter: While scanning @2:1 | Found ugly disallowed JSONesque flow mapping (surround with ' and ' to make text appear literally) @2:2
x  ---\n[]\n---  =>  Invalid YAML in frontmatter: While scanning @2:1 | Found ugly disallowed JSONesque flow mapping (surround with ' and ' to make text appear literally) @2:2
x  ---\n{name: x, description: d}\n---  =>  Invalid YAML in frontmatter: While scanning @2:1 | Found ugly disallowed JSONesque flow mapping (surround with ' and ' to make text appear literally) @2:2
x  ---\n[a, b]\n---  =>  Invalid YAML in frontmatter: While scanning @2:1 | Found ugly disallowed JSONesque flow mapping (surround with ' and ' to make text appear literally) @2:2
x  ---\nname: [x]\ndescription: d\n---  =>  Invalid YAML in frontmatter: While scanning @2:7 | Found ugly disallowed JSONesque flow mapping (surround with ' and ' to make text appear literally) @2:8
x  ---\nname: x\ndescription: {a: b}\n---  =>  Invalid YAML in frontmatter: While scanning @3:14 | Found ugly disallowed JSONesque flow mapping (surround with ' and ' to make text appear literally) @3:15
x  ---\nname: &a x\ndescription: d\n---  =>  Invalid YAML in frontmatter: While scanning @2:7 | Found confusing disallowed anchor token (surround with ' and ' to make text appear literally) @2:9
x  ---\nname: x\ndescription: *a\n---  =>  Invalid YAML in frontmatter: found undefined alias 'a' @3:14
x  ---\nname: &a x\ndescription: *a\n---  =>  Invalid YAML in frontmatter: While scanning @2:7 | Found confusing disallowed anchor token (surround with ' and ' to make text appear literally) @2:9
x  ---\nname: !!str x\ndescription: d\n---  =>  Invalid YAML in frontmatter: While scanning @2:12 | Found disallowed tag tokens (do not specify types in markup) @2:7
x  ---\n!!map\nname: x\ndescription: d\n---  =>  Invalid YAML in frontmatter: While scanning @2:6 | Found disallowed tag tokens (do not specify types in markup) @2:1
x  ---\nname: !x\n---  =>  Invalid YAML in frontmatter: While scanning @2:9 | Found disallowed tag tokens (do not specify types in markup) @2:7
x  ---\nname: x\nname: x\ndescription: d\n---  =>  Invalid YAML in frontmatter: While parsing @3:1 | Duplicate key 'name' found @3:5
x  ---\nname: x\ndescription: d\ndescription: d\n---  =>  Invalid YAML in frontmatter: While parsing @4:1 | Duplicate key 'description' found @4:12
x  ---\nname: x\ndescription: d\nmetadata:\n  a: 1\n  a: 2\n---  =>  Invalid YAML in frontmatter: While parsing @6:3 | Duplicate key 'a' found @6:4
x  ---\nname: x\ndescription: d\nmetadata:\n  a: 1\n  a: 2\nname: y\n---  =>  Invalid YAML in frontmatter: While parsing @6:3 | Duplicate key 'a' found @6:4
x  ---\n\tname: x\n---  =>  Invalid YAML in frontmatter: while scanning for the next token | found character '\\t' that cannot start any token @2:1
x  ---\nname:\tx\ndescription: d\n---  =>  Invalid YAML in frontmatter: while scanning for the next token | found character '\\t' that cannot start any token @2:6
x  ---\nname: x\n\tdescription: d\n---  =>  Invalid YAML in frontmatter: while scanning for the next token | found character '\\t' that cannot start any token @3:1
x  ---\nname: x\n description: d\n---  =>  Invalid YAML in frontmatter: mapping values are not allowed here @3:13
x  ---\n name: x\ndescription: d\n---  =>  Invalid YAML in frontmatter: expected a single document in the stream @2:2 | but found another document @3:1
x  ---\n name: x\n description: d\n---  =>  valid
x  ---\nname: x\n  description: d\n---  =>  Invalid YAML in frontmatter: mapping values are not allowed here @3:14
x  ---\nname:x\ndescription: d\n---  =>  Invalid YAML in frontmatter: mapping values are not allowed here @3:12
x  ---\nname\ndescription: d\n---  =>  Invalid YAML in frontmatter: mapping values are not allowed here @3:12
x  ---\nname: x\ndescription\n---  =>  Invalid YAML in frontmatter: while scanning a simple key @3:1 | could not find expected ':' @4:1
x  ---\nname: x\ndescription: 'd\n---  =>  Invalid YAML in frontmatter: while scanning a quoted scalar @3:14 | found unexpected end of stream @4:1
x  ---\nname: x\ndescription: "d\n---  =>  Invalid YAML in frontmatter: while scanning a quoted scalar @3:14 | found unexpected end of stream @4:1
x  ---\nname: x\ndescription: d'\n---  =>  valid
x  ---\nname: x\ndescription: d\nlicense: MIT: x\n---  =>  Invalid YAML in frontmatter: mapping values are not allowed here @4:13
x  ---\nname: x\ndescription: d\n- a\n---  =>  Invalid YAML in frontmatter: while parsing a block mapping @2:1 | expected <block end>, but found '-' @4:1
x  ---\nname: x\ndescription: d\na\n---  =>  Invalid YAML in frontmatter: while scanning a simple key @4:1 | could not find expected ':' @5:1
x  ---\nname: x\ndescription: d\n]\n---  =>  Invalid YAML in frontmatter: while parsing a block mapping @2:1 | expected <block end>, but found ']' @4:1
x  ---\nname: x\ndescription: d\n}\n---  =>  Invalid YAML in frontmatter: while parsing a block mapping @2:1 | expected <block end>, but found '}' @4:1
x  ---\nname: x\ndescription: d\n@\n---  =>  Invalid YAML in frontmatter: while scanning for the next token | found character '@' that cannot start any token @4:1
x  ---\nname: x\ndescription: d\n`a`: b\n---  =>  Invalid YAML in frontmatter: while scanning for the next token | found character '`' that cannot start any token @4:1
x  ---\ndescription: d\n---  =>  Missing required field in frontmatter: name
x  ---\nname: x\n---  =>  Missing required field in frontmatter: description
x  ---\nlicense: MIT\n---  =>  Missing required field in frontmatter: name ;; Missing required field in frontmatter: description
x  ---\nNAME: x\ndescription: d\n---  =>  Unexpected fields in frontmatter: NAME. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed. ;; Missing required field in frontmatter: name
x  ---\nname: x\ndescription: d\nx: \x07\n---  =>  Invalid YAML in frontmatter: unacceptable character #x0007: special characters are not allowed |   in "<unicode string>", position 27  # traceback
x  ---\nname: x\ndescription: d\nx: \x1b[31m\n---  =>  Invalid YAML in frontmatter: unacceptable character #x001b: special characters are not allowed |   in "<unicode string>", position 27  # traceback
x  ---\nname: x\ndescription: d\nx: \x7f\n---  =>  Invalid YAML in frontmatter: unacceptable character #x007f: special characters are not allowed |   in "<unicode string>", position 27  # traceback
x  ---\nname: x\ndescription: d\n---\n\x07 \x00 body  =>  valid
x  ---\nname: x\ndescription: d\nlicense: \xe2\x80\xa8\n---  =>  valid
x  ---\nname: x\ndescription: d\nlicense: a\xc2\x85b\n---  =>  valid
x  ---\nname: x\ndescription: d\nlicense: \xef\xbb\xbf\n---  =>  valid
x  ---\nname: x\ndescription: d\n{k*1025}: v\n---  =>  Invalid YAML in frontmatter: while scanning a simple key @4:1 | could not find expected ':' @4:1026
x  ---\nname: x\ndescription: d\n{k*1000}: v\n---  =>  Unexpected fields in frontmatter: {k*1000}. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed.
x  ---\nname: x\ndescription: d\nlicense: {[*300}\n---  =>  Invalid YAML in frontmatter: While scanning @4:10 | Found ugly disallowed JSONesque flow mapping (surround with ' and ' to make text appear literally) @4:11
x  ---\nname: x\ndescription: d\nlicense: {[*2000}\n---  =>  Invalid YAML in frontmatter: While scanning @4:10 | Found ugly disallowed JSONesque flow mapping (surround with ' and ' to make text appear literally) @4:11
x  ---\n{- *100}x\n---  =>  SKILL.md frontmatter must be a YAML mapping
x  ---\nname: x\ndescription: d\nmetadata:\n{ *80}a: {b*90}: c\n---  =>  Invalid YAML in frontmatter: mapping values are not allowed here @5:174
x  ---\nname: x\ndescription: d\nlicense: {z*80}: {y*80}\n---  =>  Invalid YAML in frontmatter: mapping values are not allowed here @4:90
x  ---\nname: x\ndescription: d\nmetadata:\n  - a\n  b: c\n---  =>  Invalid YAML in frontmatter: while parsing a block collection @5:3 | expected <block end>, but found '?' @6:3
x  ---\nname: x\ndescription: d\nmetadata:\n  a: b\n  - c\n---  =>  Invalid YAML in frontmatter: while parsing a block mapping @5:3 | expected <block end>, but found '-' @6:3
x  ---\nname: x\ndescription: d\nlicense: a\n  b: c\n---  =>  Invalid YAML in frontmatter: mapping values are not allowed here @5:4
x  ---\nname: x\ndescription: d\nlicense: |\n  a\n b\n---  =>  Invalid YAML in frontmatter: while parsing a block mapping @2:1 | expected <block end>, but found '<scalar>' @6:2
x  ---\nname: x\ndescription: d\nlicense: |\n\n\n   a\n  b\n---  =>  Invalid YAML in frontmatter: while parsing a block mapping @2:1 | expected <block end>, but found '<scalar>' @8:3
x  ---\nname: x\ndescription: d\nlicense: >\n\n # c\n---  =>  valid
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

TEST(StrictYaml, MessagesShowTheLine) {
  EXPECT_EQ(
      MessageOf("\nname: x\nlicense: [MIT]\n"),
      "While scanning\n  in \"<unicode string>\", line 3, column 10:\n    license: [MIT]\n             ^ (line: 3)\n"
      "Found ugly disallowed JSONesque flow mapping (surround with ' and ' to make text appear literally)\n"
      "  in \"<unicode string>\", line 3, column 11:\n    license: [MIT]\n              ^ (line: 3)");
}

TEST(StrictYaml, LongLinesAreShownInPart) {
  EXPECT_EQ(
      MessageOf(fmt::format("{}: a: {}", Repeated("k", 60), Repeated("v", 60))),
      fmt::format("mapping values are not allowed here\n  in \"<unicode string>\", line 1, column 64:\n     ... {}: a: "
                  "{} ... \n{}^ (line: 1)",
                  Repeated("k", 29), Repeated("v", 30), Repeated(" ", 41)));
}

TEST(StrictYaml, DeepNestingIsAProblem) {
  EXPECT_EQ(MessageOf(Repeated("- ", kMaxStrictYamlDepth - 1) + "x"), "");
  EXPECT_EQ(MessageOf(Repeated("- ", 1'000'000) + "x").substr(0, 33), "nested more than 200 levels deep\n");
  std::string steps;
  for (std::size_t i = 0; i < 400; ++i) steps += fmt::format("{}a:\n", Repeated(" ", i));
  EXPECT_EQ(MessageOf(steps).substr(0, 33), "nested more than 200 levels deep\n");
}

// Each text ten times as long may take little more than ten times the work.
TEST(StrictYaml, WorkGrowsWithTheText) {
  const WorkMeter meter;
  for (const char* part :
       {"k",    "[",           "{",       "'",   "\"",  "# ",  "\n",  " ",  "- ",           "a: b\n", "? a\n", "- a\n",
        "|\n ", "a: |\n  b\n", "\n\n#\n", "%A ", "&a ", "*a ", "!a ", ": ", "\xE2\x80\xA8", "a\n",    "\"\\",  "''"}) {
    SCOPED_TRACE(part);
    for (const char* before : {"", "a: ", "a: '", "a: \"", "a: >\n "}) {
      const std::string small = before + Repeated(part, 5'000);
      const std::string large = before + Repeated(part, 50'000);
      const double small_work = meter.Of([&] { static_cast<void>(ReadStrictYaml(small)); });
      const double large_work = meter.Of([&] { static_cast<void>(ReadStrictYaml(large)); });
      EXPECT_LT(large_work, 25 * small_work + 1e7) << before;
    }
  }
}

TEST(StrictYaml, LineOfTenMegabytesIsRead) {
  const std::string line = Repeated("long ", 2'000'000);
  const auto read = ReadStrictYaml(fmt::format("\nname: {}\n", line));
  EXPECT_EQ(std::get<StrictYaml>(read).Find("name")->text.size(), line.size() - 1);
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
