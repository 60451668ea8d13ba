// SPDX-License-Identifier: Apache-2.0
// validate, read-properties, to-prompt and init.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "support/command_line.h"
#include "support/source_dir.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class Validate : public CommandLineTest {
 protected:
  // Writes a SKILL.md and returns its folder.
  std::string Skill(const std::string& name, const std::string& fields) {
    return folder.Write(fmt::format("{}/SKILL.md", name), fmt::format("---\n{}---\nbody\n", fields))
        .parent_path()
        .string();
  }
  std::string GoodSkill(const std::string& name) {
    return Skill(name, fmt::format("name: {}\ndescription: d\n", fs::path(name).filename().string()));
  }
};

TEST_F(Validate, ValidSkill) {
  const std::string skill = GoodSkill("x");
  EXPECT_EQ(Run({"validate", skill}), 0);
  EXPECT_EQ(out, fmt::format("Valid skill: {}\n", skill));
  EXPECT_THAT(error, IsEmpty());
  EXPECT_EQ(Run({"validate", skill + "//SKILL.md"}), 0);
  EXPECT_EQ(out, fmt::format("Valid skill: {}\n", skill));
}

TEST_F(Validate, AllErrorsOfASkill) {
  const std::string skill = Skill("x", "name: A-\ndescription: ''\nmodel: m\n");
  EXPECT_EQ(Run({"validate", skill}), 1);
  EXPECT_THAT(out, IsEmpty());
  EXPECT_EQ(error, fmt::format("Validation failed for {}:\n"
                               "  - Unexpected fields in frontmatter: model. Only ['allowed-tools', 'compatibility', "
                               "'description', 'license', 'metadata', 'name'] are allowed.\n"
                               "  - Skill name 'A-' must be lowercase\n"
                               "  - Skill name cannot start or end with a hyphen\n"
                               "  - Directory name 'x' must match skill name 'A-'\n"
                               "  - Field 'description' must be a non-empty string\n",
                               skill));
}

TEST_F(Validate, SaysWhereYamlIsInvalid) {
  const std::string skill = Skill("x", "name: [x]\n");
  EXPECT_EQ(Run({"validate", skill}), 1);
  EXPECT_THAT(error, HasSubstr("  - Invalid YAML in frontmatter: line 2, column 7: `[…]` and `{…}` aren't allowed; "));
}

// GitHub Actions takes a line of a log that begins with `::` for a command.
TEST_F(Validate, NothingFromASkillBeginsALine) {
  for (const char* fields : {"name: s\ndescription: d\n\"a\\n::set-output name=x::y\": q\n",
                             "name: \"x\\n::set-env name=x::y\"\ndescription: d\n", "name: s\n::add-mask::x\n"}) {
    folder.Write("s/SKILL.md", "---\n" + std::string(fields) + "---\nText.\n");
    EXPECT_EQ(Run({"validate", (folder.path() / "s").string()}), 1);
    EXPECT_THAT(out + error, Not(HasSubstr("\n::"))) << fields;
  }
}

TEST_F(Validate, NamesWhatInitWroteAndNobodyReplaced) {
  const std::string skills = (folder.path() / "new").string();
  ASSERT_EQ(Run({"init", "pdf-tools", "-o", skills}), 0) << error;
  const std::string skill = skills + "/pdf-tools";
  EXPECT_EQ(Run({"validate", skill}), 0) << error;
  EXPECT_EQ(Run({"validate", "--strict", skill}), 1);
  EXPECT_THAT(error, testing::AllOf(HasSubstr("3:14: the description is the one that `upskill init` wrote"),
                                    HasSubstr("8:1: these instructions are those that `upskill init` wrote"),
                                    HasSubstr("tests.json has the case that `upskill init` wrote")));
}

TEST_F(Validate, AFolderOfSkillsIsNoSkill) {
  folder.Write("all/s/SKILL.md", "---\nname: s\ndescription: d\n---\nText.\n");
  EXPECT_EQ(Run({"validate", (folder.path() / "all").string()}), 1);
  EXPECT_THAT(error, AllOf(HasSubstr("Missing required file: SKILL.md"), HasSubstr("for the skills below it, add -r")));
  folder.Write("all/.upskill-s.new1/SKILL.md", "---\nname: s\ndescription: d\n---\nText.\n");
  EXPECT_EQ(Run({"validate", "-r", (folder.path() / "all").string()}), 0) << error;
}

TEST_F(Validate, MissingPathIsAUsageError) {
  EXPECT_EQ(Run({"validate", (folder.path() / "none").string()}), 2);
  EXPECT_THAT(error, HasSubstr("none' does not exist"));
  EXPECT_EQ(Run({"validate"}), 2);
  EXPECT_EQ(Run({"validate", "--json", "--format", "github", GoodSkill("x")}), 2);
}

TEST_F(Validate, SeveralSkillsAndTrees) {
  GoodSkill("tree/b");
  GoodSkill("tree/deep/er/a");
  GoodSkill("tree/b/inside");
  Skill("tree/node_modules/n", "");
  Skill("tree/.git/g", "");
  const std::string tree = (folder.path() / "tree").string();
  EXPECT_EQ(Run({"validate", "-r", tree}), 0);
  EXPECT_EQ(out, fmt::format("Valid skill: {0}/b\nValid skill: {0}/deep/er/a\n", tree));
  const std::string bad = Skill("tree/bad", "name: bad\n");
  EXPECT_EQ(Run({"validate", "-r", tree, tree + "/b"}), 1);
  EXPECT_EQ(out, fmt::format("Valid skill: {0}/b\nValid skill: {0}/deep/er/a\nValid skill: {0}/b\n", tree));
  EXPECT_EQ(error,
            fmt::format("Validation failed for {}:\n  - Missing required field in frontmatter: description\n", bad));
  fs::create_directories(folder.path() / "empty");
  EXPECT_EQ(Run({"validate", "-r", (folder.path() / "empty").string()}), 2);
  EXPECT_THAT(error, HasSubstr("no skills below"));
}

TEST_F(Validate, Json) {
  const std::string good = GoodSkill("x");
  const std::string bad = Skill("y", "name: y\ndescription: d\nmodel: m\n");
  const std::string none = (folder.path() / "none").string();
  fs::create_directories(none);
  EXPECT_EQ(Run({"validate", "--json", good, bad, none}), 1);
  EXPECT_EQ(out, fmt::format("{{\"path\":\"{}\",\"valid\":true,\"errors\":[],\"advice\":[]}}\n"
                             "{{\"path\":\"{}\",\"valid\":false,\"errors\":[{{\"message\":\"Unexpected fields in "
                             "frontmatter: model. Only ['allowed-tools', 'compatibility', 'description', 'license', "
                             "'metadata', 'name'] are allowed.\",\"line\":4,\"column\":1}}],\"advice\":[]}}\n"
                             "{{\"path\":\"{}\",\"valid\":false,\"errors\":[{{\"message\":\"Missing required file: "
                             "SKILL.md\",\"line\":null,\"column\":null}}],\"advice\":[]}}\n",
                             good, bad, none));
  EXPECT_THAT(error, IsEmpty());
}

TEST_F(Validate, GithubAnnotations) {
  const std::string bad = Skill("a,b:c%", "name: 'a%0A::b'\ndescription: d\n");
  EXPECT_EQ(Run({"validate", "--format", "github", bad, GoodSkill("x")}), 1);
  const std::string file = fmt::format("{}/a%2Cb%3Ac%25/SKILL.md", folder.path().string());
  EXPECT_EQ(out, fmt::format("::error file={0},line=2,col=7::Skill name 'a%250A::b' must be lowercase\n"
                             "::error file={0},line=2,col=7::Skill name 'a%250A::b' contains invalid characters. Only "
                             "letters, digits, and hyphens are allowed.\n"
                             "::error file={0},line=2,col=7::Directory name 'a,b:c%25' must match skill name "
                             "'a%250A::b'\n"
                             "Valid skill: {1}/x\n",
                             file, folder.path().string()));
  EXPECT_EQ(Run({"validate", "--format", "github", Skill("y", "name: [y]\n")}), 1);
  EXPECT_THAT(out, HasSubstr("line=2,col=7::Invalid YAML in frontmatter: line 2, column 7: "));
  EXPECT_EQ(SplitLines(out).size(), 1U);
}

TEST_F(Validate, StrictGivesAdvice) {
  const std::string good = Skill("x", "name: x\ndescription: Does this. Use it then.\n");
  EXPECT_EQ(Run({"validate", "--strict", good}), 0) << error;
  const std::string skill = GoodSkill("y");
  EXPECT_EQ(Run({"validate", skill}), 0);
  EXPECT_THAT(error, IsEmpty());
  EXPECT_EQ(Run({"validate", "--strict", skill}), 1);
  EXPECT_EQ(out, fmt::format("Valid skill: {}\n", skill));
  EXPECT_THAT(error, StartsWith(fmt::format("Advice for {}:\n  - 3:14: the description doesn't say when", skill)));
  EXPECT_EQ(Run({"validate", "--strict", "--json", skill}), 1);
  EXPECT_EQ(OutAsJson()["valid"], true);
  EXPECT_EQ(OutAsJson()["advice"][0]["line"], 3);
  EXPECT_EQ(Run({"validate", "--strict", "--format", "github", skill}), 1);
  EXPECT_THAT(out, HasSubstr(fmt::format("::warning file={}/SKILL.md,line=3,col=14::the description", skill)));
}

TEST_F(Validate, StrictFindsSecrets) {
  const std::string skill = Skill("x", "name: x\ndescription: Use it.\n");
  const std::string token = std::string("ghp_") + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5";
  folder.Write("x/SKILL.md", fmt::format("---\nname: x\ndescription: Use it.\n---\n\xC3\xA9 {}\n", token));
  folder.Write("x/references/notes.md", fmt::format("a\n{}\n", token));
  EXPECT_EQ(Run({"validate", "--strict", skill}), 1);
  EXPECT_THAT(error, HasSubstr("  - 5:3: this looks like a secret ("));
  EXPECT_THAT(error, HasSubstr("  - references/notes.md:2 looks like a secret ("));
  EXPECT_THAT(error, Not(HasSubstr(token)));
}

TEST_F(Validate, ExamplesAreValid) {
  EXPECT_EQ(Run({"validate", "-r", (SourceDir() / "examples/skills").string()}), 0);
}

TEST_F(Validate, ReadProperties) {
  const std::string skill = Skill("x", "name: x\ndescription: Caf\xC3\xA9\nmetadata:\n  v: 1.0\nallowed-tools:\n- A\n");
  EXPECT_EQ(Run({"read-properties", skill}), 0);
  EXPECT_EQ(out,
            "{\n  \"name\": \"x\",\n  \"description\": \"Caf\\u00e9\",\n  \"allowed-tools\": [\n    \"A\"\n  ],\n"
            "  \"metadata\": {\n    \"v\": \"1.0\"\n  }\n}\n");
  EXPECT_EQ(Run({"read-properties", Skill("y", "name: y\n")}), 1);
  EXPECT_EQ(error, "Error: Missing required field in frontmatter: description\n");
  EXPECT_EQ(Run({"read-properties", folder.path().string()}), 1);
  EXPECT_EQ(error, fmt::format("Error: SKILL.md not found in {}\n", folder.path().string()));
  EXPECT_EQ(Run({"read-properties", skill, skill}), 2);
  EXPECT_EQ(Run({"read-properties", skill + "/none"}), 2);
}

TEST_F(Validate, ToPrompt) {
  const std::string x = Skill("x", "name: x\ndescription: a < b & \"c\" 'd'\n");
  const std::string y = GoodSkill("y");
  EXPECT_EQ(Run({"to-prompt", x, y + "/SKILL.md"}), 0);
  const std::string real = fs::canonical(folder.path()).string();
  EXPECT_EQ(out, fmt::format("<available_skills>\n<skill>\n<name>\nx\n</name>\n<description>\na &lt; b &amp; "
                             "&quot;c&quot; &#x27;d&#x27;\n</description>\n<location>\n{0}/x/SKILL.md\n</location>\n"
                             "</skill>\n<skill>\n<name>\ny\n</name>\n<description>\nd\n</description>\n<location>\n"
                             "{0}/y/SKILL.md\n</location>\n</skill>\n</available_skills>\n",
                             real));
  folder.Write("b\x1b[2J/y/SKILL.md", "---\nname: y\ndescription: d\n---\n");
  EXPECT_EQ(Run({"to-prompt", (folder.path() / "b\x1b[2J/y").string()}), 0) << error;
  EXPECT_THAT(out, Not(HasSubstr("\x1b")));
  EXPECT_EQ(Run({"to-prompt", x, folder.path().string()}), 1);
  EXPECT_THAT(out, IsEmpty());
  EXPECT_THAT(error, StartsWith("Error: SKILL.md not found in "));
  EXPECT_EQ(Run({"to-prompt"}), 2);
}

TEST_F(Validate, InitMakesASkillThatPasses) {
  const std::string parent = (folder.path() / "skills").string();
  EXPECT_EQ(Run({"init", "pdf-tools", "-o", parent}), 0) << error;
  EXPECT_THAT(out, HasSubstr("pdf-tools/SKILL.md"));
  EXPECT_EQ(Run({"validate", parent + "/pdf-tools"}), 0) << error;
  EXPECT_EQ(Run({"check", parent + "/pdf-tools"}), 0) << out << error;
  EXPECT_EQ(Run({"init", "pdf-tools", "-o", parent}), 2);
  EXPECT_THAT(error, HasSubstr("already exists and is left unchanged; choose another name"));
}

TEST_F(Validate, InitRefusesNames) {
  const std::string parent = (folder.path() / "skills").string();
  for (const char* name : {"Pdf", "a--b", "a_b", "../x", "a/b", ".", "", "a\nb"}) {
    EXPECT_EQ(Run({"init", "-o", parent, "--", name}), 2) << name;
    EXPECT_THAT(error, StartsWith("error: ")) << name;
  }
  EXPECT_EQ(Run({"init", "-o", parent, std::string(65, 'a')}), 2);
  EXPECT_THAT(error, HasSubstr("exceeds 64 character limit"));
  EXPECT_FALSE(fs::exists(parent));
}

}  // namespace
}  // namespace upskill
