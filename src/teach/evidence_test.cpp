// SPDX-License-Identifier: Apache-2.0
#include "teach/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace upskill {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Material Items() {
  Material material;
  material.items = {{"d1", MaterialKind::kFile, "[general]\nname =  \"relu\"", {"a#1"}},
                    {"d2", MaterialKind::kEpisode, "the user asked for a kernel", {"a#2"}},
                    {"d3", MaterialKind::kFix, "unsupported architecture", {"a#3"}},
                    {"d4", MaterialKind::kCorrection, "use 9.0a", {"a#4"}}};
  return material;
}

TEST(LostFacts, AreCodeThatNoFileOfTheNewVersionHas) {
  SkillText before;
  before.body =
      "Run `make  all`, then `--fast`.\n\n```toml\n[general]\nedition = 5\n}\n```\nSet `edition` and `name`.\n";
  SkillText after;
  after.body = "Set `edition`.\n```toml\nedition=5\n```\n";
  after.references = {{"build.md", "Run `make all` first."}};
  EXPECT_THAT(LostFacts(before, after), ElementsAre("line 1: `--fast`", "line 4: `[general]`", "line 8: `name`"));
  EXPECT_THAT(LostFacts(before, before), IsEmpty());
}

TEST(LostFacts, AreRulesInProseOfWhichNoLineHasTheWords) {
  const std::vector<std::pair<std::string, std::string>> rules = {
      {"Always answer in two sentences, never in a list.",
       "Keep each reply to a couple of sentences; don't use lists."},
      {"Never promise a refund; only the finance team may do that.",
       "Refunds are decided by finance alone, so do not promise one."},
      {"Write dates with the month in words, because the readers are in several countries.",
       "Spell out the month in every date: readers come from different countries."},
      {"If the build fails, read the first error only; later ones follow from it.",
       "When a build breaks, look at the first error: the others are consequences."},
      {"Mention the warranty of two years in every answer about defects.",
       "Answers about defects name the two-year warranty."}};
  SkillText before;
  SkillText after;
  for (const auto& [old, reworded] : rules) {
    before.body += "- " + old + "\n";
    after.body += "- " + reworded + "\n";
  }
  EXPECT_THAT(LostFacts(before, after), IsEmpty());
  after.body.erase(0, after.body.find("- Spell"));
  EXPECT_THAT(LostFacts(before, after),
              ElementsAre("line 2: \"- Never promise a refund; only the finance team may do that.\""))
      << "the words of the first are in others";
}

TEST(IsSupported, OneBacktickedTextInOneCitedItem) {
  const Material material = Items();
  EXPECT_TRUE(IsSupported({"Set `name = \"relu\"`.", {"d1"}}, material)) << "apart from spaces";
  EXPECT_TRUE(IsSupported({"Set `name` or `edition`.", {"d2", "d1"}}, material));
  EXPECT_FALSE(IsSupported({"Set `edition`.", {"d1", "d2"}}, material));
  EXPECT_FALSE(IsSupported({"Set `name`.", {"d2"}}, material)) << "another item has it";
}

TEST(IsSupported, ALineOfCodeMayHaveOtherNames) {
  Material material;
  material.items = {{"d1",
                     MaterialKind::kFile,
                     "await self.redis.setex(\n    f\"token:{token}\", ttl,\n    json.dumps(user))",
                     {"a#1"}}};
  EXPECT_TRUE(IsSupported({"`await client.setex(key, seconds, json.dumps(record))`", {"d1"}}, material));
  EXPECT_FALSE(IsSupported({"`await client.hset(hash_name, field, json_text)`", {"d1"}}, material));
}

TEST(IsSupported, WithoutBackticksOrItemsThereIsNothingToCheck) {
  EXPECT_TRUE(IsSupported({"Kernels are built twice.", {"d1"}}, Items()));
  EXPECT_TRUE(IsSupported({"Set `edition`.", {}}, Items()));
  EXPECT_TRUE(IsSupported({"A file:\n\n```toml\nx = `y`\n```", {"d1"}}, Items())) << "fenced text isn't in backticks";
}

// Rules as teachers write them from real traces, each with a shortened item that it is from.
TEST(IsSupported, ARuleMayShowItsSourceInOtherWords) {
  Material material;
  material.items = {
      {"d1",
       MaterialKind::kFile,
       "docker run --rm \\\n    --mount type=bind,source=$(pwd),target=/code \\\n    builder:main build",
       {"a#1"}},
      {"d2", MaterialKind::kFile, "[kernel.adaln]\nsrc = [\"kernel_src/adaln.cu\"]\nbackend = \"cuda\"\n", {"a#2"}},
      {"d3", MaterialKind::kFile, "issues: {\n  team_id: string | null\n}\nteam_members: {", {"a#3"}},
      {"d4", MaterialKind::kFile, "\"scripts\": { \"check-types\": \"tsc --noEmit\" }", {"a#4"}},
      {"d5", MaterialKind::kFile, "ops.def(\"adaln_forward(Tensor! out) -> ()\");", {"a#5"}}};
  const std::string command =
      "Build with `docker run --rm --mount type=bind,source=$(pwd),target=/code builder:main build`.";
  EXPECT_TRUE(IsSupported({command, {"d1"}}, material)) << "on one line here, continued there";
  const std::string file =
      "Complete `a/NAME.toml`:\n\n```toml\n[kernel.NAME]\nsrc = [\"x/NAME.cu\"]\nbackend = \"cuda\"\n```";
  EXPECT_TRUE(IsSupported({file, {"d2"}}, material)) << "a line of the block is in the item";
  EXPECT_TRUE(IsSupported({"Kernels are in `kernel_src/NAME.cu`.", {"d2"}}, material));
  EXPECT_TRUE(IsSupported({"Register `NAME_forward` first.", {"d5"}}, material));
  EXPECT_TRUE(IsSupported({"Join on `issue.team_id` or `issues.team_id`.", {"d3"}}, material));
  EXPECT_TRUE(IsSupported({"Check with `pnpm check-types`.", {"d4"}}, material));
}

TEST(IsSupported, OtherFilesNamesAndOptionsStayUnsupported) {
  Material material;
  material.items = {{"d1", MaterialKind::kFile, "issues: {\n  team_id: string\n}\nrun it the fast way: make", {"a#1"}},
                    {"d2", MaterialKind::kFile, "created_at: string", {"a#2"}}};
  EXPECT_FALSE(IsSupported({"Join on `issues.created_at`.", {"d1", "d2"}}, material)) << "no item has both";
  EXPECT_FALSE(IsSupported({"Pass `--fast`.", {"d1"}}, material));
  EXPECT_FALSE(IsSupported({"Set `NAME`.", {"d1"}}, material)) << "a name in capitals alone says nothing";
  EXPECT_FALSE(IsSupported({"Set `TEAM_NAME`.", {"d1"}}, material)) << "a constant";
  EXPECT_FALSE(IsSupported({"Run `make deploy`.", {"d1"}}, material));
  EXPECT_FALSE(IsSupported({"Set `edition`:\n\n```\n}\nedition = 2\n```", {"d1"}}, material)) << "braces are anywhere";
}

TEST(IsSupported, NamesOfTheSkillsOwnFilesNeedNoItem) {
  const Rule rule{"Before you write a page, read `references/templates.md`.", {"d1"}};
  EXPECT_TRUE(IsSupported(rule, Items(), {"templates.md"}));
  EXPECT_FALSE(IsSupported(rule, Items(), {"errors.md"}));
}

TEST(DropUnsupportedRules, KeepsTheirTextInFull) {
  Draft draft;
  const std::string text = "Set `edition`. " + std::string(300, 'x');
  draft.sections = {{"A", {{text, {"d1"}}}}, {"B", {{"Read `references/a.md`.", {"d1"}}}}};
  draft.references = {{"a.md", "text"}};
  EXPECT_THAT(DropUnsupportedRules(Items(), PromptCopies(BuiltInPrompts(), {}, Items()), draft),
              ElementsAre(text + " (d1)"));
  ASSERT_THAT(draft.sections, testing::SizeIs(1));
  EXPECT_EQ(draft.sections[0].title, "B");
}

TEST(CoverageOf, NamesWhatNoRuleAndNoTestCitesByImportance) {
  Case test_case;
  test_case.raw = {{"input", "x"}, {"cites", {"d1", 7}}};
  const Coverage coverage = CoverageOf(Items(), {}, {test_case});
  EXPECT_EQ(coverage.items, 4U);
  EXPECT_THAT(coverage.untouched, ElementsAre("d4", "d3", "d2"));
  EXPECT_THAT(CoverageLine(coverage, Items()),
              AllOf(HasSubstr("1 of 4 items with content in the material is in a rule or a test"),
                    HasSubstr("not touched: d4 ("), HasSubstr("use 9.0a")));
  EXPECT_THAT(CoverageOf(Items(), {{"rule", {"d2", "d3", "d4"}}}, {test_case}).untouched, testing::IsEmpty());
}

TEST(CoverageOf, ItemsWithoutContentDoNotCount) {
  Material material;
  material.items = {
      {"d1", MaterialKind::kFact, "(given to the agent by its program) <environment_context>\n <cwd>/src", {"a#1"}},
      {"d2", MaterialKind::kFinding, "(reasoning) **Searching for chart components**", {"a#2"}},
      {"d3", MaterialKind::kFact, "Read {\"file_path\":\"build.toml\"}\n→ \u00a0Read 37 lines", {"a#3"}},
      {"d4", MaterialKind::kFinding, "(reasoning) **Charts**\n\nrecharts is at 2.15.4", {"a#4"}},
      {"d5", MaterialKind::kFact, "Read {\"file_path\":\"a.toml\"}\n→ [general]\nRead 37 lines", {"a#5"}},
      {"d6", MaterialKind::kCommand, "$ mkdir -p torch-ext\n→ \u00a0(No content)", {"a#6"}}};
  const Coverage coverage = CoverageOf(material, {{"rule", {"d2"}}}, {});
  EXPECT_THAT(coverage.untouched, ElementsAre("d5", "d6", "d4"));
  EXPECT_EQ(coverage.items, 4U) << "and d2, which is cited";
}

}  // namespace
}  // namespace upskill
