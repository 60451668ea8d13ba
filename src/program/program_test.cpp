// SPDX-License-Identifier: Apache-2.0
#include "program/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/source_dir.h"
#include "util/files.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kSmall =
    "[[program]]\nid = \"x\"\nname = \"X\"\nagent = \"codex\"\nexecutable = \"x\"\ncommand = \"x\"\n";

std::string ErrorOf(const std::string& text) {
  const Result<std::vector<AgentProgram>> programs = ParsePrograms(text, "a.toml");
  return programs.ok() ? "" : programs.error().message;
}

TEST(Programs, AreThoseOfTheFile) {
  const Result<std::vector<AgentProgram>> programs = LoadPrograms(std::nullopt, "");
  ASSERT_TRUE(programs.ok()) << programs.error().message;
  std::vector<std::string> ids;
  for (const AgentProgram& program : *programs) ids.push_back(program.id);
  EXPECT_THAT(ids, ElementsAre("claude-code", "codex", "opencode", "gemini", "pi", "qwen"));
  EXPECT_THAT(FindProgram(*programs, "claude").error().message, HasSubstr("did you mean 'claude-code'?"));
}

TEST(Programs, AreInTheDocumentation) {
  const Result<std::string> text = ReadFile(SourceDir() / "docs" / "agents.md");
  ASSERT_TRUE(text.ok());
  Result<std::string> tests = ReadFile(SourceDir() / "tests" / "agents" / "package.json");
  *tests += ReadFile(SourceDir() / "tests" / "agents" / "run").value();
  const Result<std::vector<AgentProgram>> programs = LoadPrograms(std::nullopt, "");
  for (const AgentProgram& program : *programs) {
    EXPECT_THAT(*text, HasSubstr("`agent:" + program.id + "`"));
    EXPECT_THAT(*text, HasSubstr("`" + program.package + "`"));
    EXPECT_THAT(*text, HasSubstr(program.name + " " + program.tested));
    EXPECT_THAT(*tests, HasSubstr(program.package + (program.id == "claude-code" ? "@" : "\": \"") + program.tested));
  }
}

TEST(Programs, OfTheUserReplaceThoseOfTheSameName) {
  std::string own = kSmall;
  own.replace(own.find("\"x\""), 3, "\"codex\"");
  const Result<std::vector<AgentProgram>> programs = LoadPrograms(own + "protocols = { chat = \"c\" }\n", "own.toml");
  ASSERT_TRUE(programs.ok()) << programs.error().message;
  EXPECT_EQ(programs->size(), LoadPrograms(std::nullopt, "")->size());
  EXPECT_EQ(FindProgram(*programs, "codex")->name, "X");
}

TEST(Programs, ThatAreWrongAreNamedByLine) {
  EXPECT_THAT(ErrorOf(std::string(kSmall) + "protocols = { smoke = \"s\" }\n"),
              StartsWith("a.toml:7:13: unknown protocol 'smoke'"));
  EXPECT_THAT(ErrorOf(kSmall), HasSubstr("needs 'protocols'"));
  EXPECT_THAT(ErrorOf(std::string(kSmall) + "colour = 1\n"), HasSubstr("unknown key 'colour'"));
  EXPECT_THAT(ErrorOf(std::string(kSmall) + "files = { \"../x\" = \"\" }\n"), StartsWith("a.toml:7:"));
  EXPECT_THAT(ErrorOf(std::string(kSmall) + "sessions = [\"x\"]\n"), HasSubstr("a folder and a pattern"));
  EXPECT_THAT(ErrorOf(std::string(kSmall) + "mcp = { separator = \",\" }\n"), HasSubstr("'mcp' needs 'server'"));
  EXPECT_THAT(ErrorOf(std::string(kSmall) + "mcp = { servers = \"x\" }\n"),
              HasSubstr("unknown key 'servers' in 'mcp'"));
  EXPECT_THAT(ErrorOf("[[program]]\nid = 1\n"), HasSubstr("'id' must be a string"));
  EXPECT_THAT(ErrorOf("program = 1\n"), HasSubstr("expected [[program]] tables"));
  EXPECT_THAT(ErrorOf("program = [\n"), StartsWith("a.toml:"));
  EXPECT_EQ(ErrorOf("# nothing\n"), "");
}

TEST(Programs, PlaceholdersAreFilledAndOtherBracesKept) {
  EXPECT_EQ(Filled("{a} {\"b\": {\"{a}\": {}}} {env:X} {", {{"a", "1"}, {"b", "2"}}),
            "1 {\"b\": {\"1\": {}}} {env:X} {");
}

}  // namespace
}  // namespace upskill
