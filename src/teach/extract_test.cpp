// SPDX-License-Identifier: Apache-2.0
#include "teach/extract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "trace/digest/digest.h"
#include "trace/load/load_traces.h"
#include "trace/load/read_trace.h"

namespace upskill {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(StatementsOf, TakesWhatStatesSomethingWithCode) {
  EXPECT_THAT(StatementsOf("I'll look.\n- The header is `a.h`. Nothing here.\n```\nThe code is `x`.\n```\n**Note** the "
                           "key is `k = 1.5`.\n# The title `t`\nWhat is `y`?"),
              ElementsAre("The header is `a.h`.", "Note the key is `k = 1.5`."));
}

TEST(StatementsOf, LeavesOutFencedCodeOfEveryKind) {
  EXPECT_THAT(StatementsOf("~~~\nThe code is `x`.\n~~~\n````\n```\nThe code is `y`.\n````\nThe header is `a.h`.\n"),
              ElementsAre("The header is `a.h`."));
}

TEST(StatementsOf, WithoutCodeTakesWhatHoldsATellingWord) {
  EXPECT_THAT(
      StatementsOf("Fine.\nIt is 15:00 UTC. The workspace is /workspace.\nNothing e.g. this. There are 2 of them."),
      ElementsAre("It is 15:00 UTC.", "The workspace is /workspace."));
  EXPECT_THAT(StatementsOf("The workspace is /workspace. The key is `k`."), ElementsAre("The key is `k`."));
}

TEST(CodeSpansOf, OfOneLine) { EXPECT_THAT(CodeSpansOf("use `a b` and `` or `c`, `open"), ElementsAre("a b", "c")); }

Material OneTalk() {
  Material material;
  material.requests.push_back({"Port it all.", "The port needs `build.toml`.", "a.jsonl:1"});
  material.requests.push_back({"It failed again. What is the header for bfloat16?",
                               "I see.\nThe header for bfloat16 is `cuda_bf16.h`.", "a.jsonl:7"});
  material.requests.push_back({"yes", "The header is `x.h`.", "a.jsonl:9"});
  material.requests.push_back(
      {"What is the header `cuda_fp16.h` for?", "The header `cuda_fp16.h` is for half.", "a.jsonl:11"});
  return material;
}

TEST(ExtractDraft, EveryRuleHasItsPlace) {
  const Result<Draft> draft = ExtractDraft(OneTalk(), "", BodyTarget{});
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  for (const Section& section : draft->sections) {
    for (const Rule& rule : section.rules) EXPECT_THAT(rule.cites, Contains(HasSubstr("a.jsonl:"))) << rule.text;
  }
  EXPECT_THAT(DraftToSkill(*draft).body, HasSubstr("The header for bfloat16 is `cuda_bf16.h`."));
  EXPECT_EQ(draft->name, "port-it-all");
}

TEST(ExtractDraft, ATraceWithoutCodeGivesWhatWasAskedAndAnswered) {
  Material material;
  material.requests.push_back({"Hello there, how are you?", "Fine.", "a.jsonl:1"});
  material.items.push_back(
      {"d1", "Episode", "Goal: Hello there, how are you?\nOutcome: Fine.", {"a.jsonl:1"}, "", "", "", "", ""});
  const Result<Draft> draft = ExtractDraft(material, "", BodyTarget{});
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  EXPECT_EQ(DraftToSkill(*draft).body, "# What is known\n\nGoal: Hello there, how are you? Outcome: Fine.\n");
}

TEST(ExtractDraft, NothingToTakeOverIsSaid) {
  Material material;
  material.requests.push_back({"Hello there, how are you?", "Fine.", "a.jsonl:1"});
  const Result<Draft> draft = ExtractDraft(material, "", BodyTarget{});
  ASSERT_FALSE(draft.ok());
  EXPECT_THAT(draft.error().message, HasSubstr("nothing could be taken over"));
}

TEST(ExtractCases, ReplaysQuestionsWithWhatSettledThem) {
  const VettedCases vetted = ExtractCases(OneTalk(), 16);
  ASSERT_THAT(vetted.cases, SizeIs(1));  // no answer that the question gives away, no "yes"
  EXPECT_EQ(vetted.cases[0].input, "What is the header for bfloat16?");
  EXPECT_THAT(vetted.cases[0].checks, ElementsAre(Field(&CheckSpec::values, ElementsAre("cuda_bf16.h"))));
}

TEST(ExtractCases, ReplaysMendedFailures) {
  Material material;
  material.items.push_back({"d1",
                            DigestKindTitle(DigestKind::kFix),
                            "",
                            {"a.jsonl:4"},
                            "make check",
                            "x.c:3: error: unknown type name 'half'",
                            "x.c:\n-#include <old.h>\n+#include <cuda_fp16.h>",
                            "",
                            ""});
  const VettedCases vetted = ExtractCases(material, 16);
  ASSERT_THAT(vetted.cases, SizeIs(1));
  EXPECT_THAT(vetted.cases[0].input, testing::AllOf(HasSubstr("make check"), HasSubstr("unknown type name 'half'"),
                                                    HasSubstr("What mends it?")));
  EXPECT_THAT(vetted.cases[0].checks[0].values, ElementsAre("#include <cuda_fp16.h>"));
}

TEST(ExtractCases, AsksForBareWordsAndForCommandsByTheirPurpose) {
  Material material;
  material.requests.push_back({"What time is it there?", "The time is 15:00 UTC.", "a.jsonl:1"});
  MaterialItem command{"d1",
                       DigestKindTitle(DigestKind::kCommand),
                       "",
                       {"a.jsonl:4"},
                       "",
                       "",
                       "",
                       "mix deps.get",
                       "Install the dependencies."};
  material.items.push_back(command);
  command.works = "ls -la";
  command.purpose = "List all files";
  material.items.push_back(command);
  const VettedCases vetted = ExtractCases(material, 16);
  ASSERT_THAT(vetted.cases, SizeIs(2));
  EXPECT_THAT(vetted.cases[0].checks[0].values, ElementsAre("15:00"));
  EXPECT_EQ(vetted.cases[1].input, "Install the dependencies: which command does it?");
  EXPECT_THAT(vetted.cases[1].checks[0].values, ElementsAre("mix deps.get"));
  const Result<Draft> draft = ExtractDraft(material, "", BodyTarget{});
  ASSERT_TRUE(draft.ok());
  EXPECT_EQ(
      DraftToSkill(*draft).body,
      "# Facts\n\nThe time is 15:00 UTC.\n\n# Commands that worked\n\nInstall the dependencies: `mix deps.get`\n");
}

TEST(ExtractCases, TheExampleTraceGivesManySoundCases) {
  const Result<Trace> trace =
      ReadTrace(std::filesystem::path(UPSKILL_SOURCE_DIR) / "examples/traces/kernel-builder-h100.jsonl", {});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  Material material;
  AddTraces({*trace}, 24000, material);
  const VettedCases vetted = ExtractCases(material, 16);
  EXPECT_THAT(vetted.cases, SizeIs(16));
  EXPECT_THAT(vetted.cases, Contains(Field(&Case::input, "What is the launch stream?")));
  const Result<Draft> draft = ExtractDraft(material, "", BodyTarget{});
  ASSERT_TRUE(draft.ok());
  // What was wrong first and corrected then.
  const std::string body = DraftToSkill(*draft).body;
  for (const char* fact :
       {"`9.0`", "`TORCH_LIBRARY_EXPAND`", "`torch-ext/fast_norm`", "`edition = 5`", "`from ._ops import ops`"})
    EXPECT_THAT(body, HasSubstr(fact));
}

// The fixtures of all formats, and the recorded sessions where they are beside the source tree.
TEST(ExtractDraft, EveryTraceGivesAValidSkill) {
  namespace fs = std::filesystem;
  const fs::path source = UPSKILL_SOURCE_DIR;
  std::size_t skills = 0;
  std::size_t cases = 0;
  for (const fs::path& folder : {source / "tests/fixtures/traces", source / "../shared/traces"}) {
    std::error_code absent;
    for (const auto& entry : fs::recursive_directory_iterator(folder, absent)) {
      const std::string file = entry.path().string();
      if (!entry.is_regular_file() || file.find("LICENSES") != std::string::npos ||
          entry.path().filename() == "MANIFEST.md")
        continue;
      const Result<LoadedTraces> loaded = LoadTraces({file}, [](const std::string&) { return std::nullopt; }, {});
      ASSERT_TRUE(loaded.ok()) << loaded.error().message;
      Material material;
      AddTraces(loaded->traces, 24000, material);
      const Result<Draft> draft = ExtractDraft(material, "", BodyTarget{});
      if (!draft) {
        EXPECT_THAT(draft.error().message, HasSubstr("nothing could be taken over")) << file;
        continue;
      }
      ++skills;
      EXPECT_THAT(FindSkillProblems(DraftToSkill(*draft)), IsEmpty()) << file;
      for (const Section& section : draft->sections) {
        for (const Rule& rule : section.rules)
          EXPECT_THAT(rule.cites, testing::Not(IsEmpty())) << file << ": " << rule.text;
      }
      cases += ExtractCases(material, 16).cases.size();
    }
  }
  EXPECT_GE(skills, 12U);
  EXPECT_GE(cases, 3U);
}

TEST(Material, GoesThroughJson) {
  Material material = OneTalk();
  material.task = "t";
  material.items.push_back({"d1", "Fact", "text", {"p"}, "failed", "error", "change", "works", "purpose"});
  material.examples.push_back(ParseExample("2 + 2 -> 4"));
  material.existing = {"n", "d", "b", {{"r.md", "x"}}, {}, ""};
  const Json json = MaterialToJson(material);
  const Result<Material> back = MaterialFromJson(json, "x");
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(MaterialToJson(*back), json);
  EXPECT_EQ(back->examples[0].output, "4");
  EXPECT_FALSE(MaterialFromJson({{"task", 1}}, "x").ok());
  EXPECT_THAT(ParseExample("alone").output, IsEmpty());
}

}  // namespace
}  // namespace upskill
