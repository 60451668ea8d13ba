// SPDX-License-Identifier: Apache-2.0
#include "teach/extract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <variant>

#include "support/source_dir.h"
#include "teach/material_json.h"
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

TEST(StatementsOf, TakesStatementsWithCode) {
  EXPECT_THAT(StatementsOf("I'll look.\n- The header is `a.h`. Nothing here.\n```\nThe code is `x`.\n```\n**Note** the "
                           "key is `k = 1.5`.\n# The title `t`\nWhat is `y`?"),
              ElementsAre("The header is `a.h`.", "Note the key is `k = 1.5`."));
}

TEST(StatementsOf, LeavesOutFencedCodeOfEveryKind) {
  EXPECT_THAT(StatementsOf("~~~\nThe code is `x`.\n~~~\n````\n```\nThe code is `y`.\n````\nThe header is `a.h`.\n"),
              ElementsAre("The header is `a.h`."));
}

TEST(StatementsOf, WithoutCodeTakesStatementsWithATellingWord) {
  EXPECT_THAT(
      StatementsOf("Fine.\nIt is 15:00 UTC. The workspace is /workspace.\nNothing e.g. this. There are 2 of them."),
      ElementsAre("It is 15:00 UTC.", "The workspace is /workspace."));
  EXPECT_THAT(StatementsOf("The workspace is /workspace. The key is `k`."), ElementsAre("The key is `k`."));
}

TEST(CodeSpansOf, OfOneLine) { EXPECT_THAT(CodeSpansOf("use `a b` and `` or `c`, `open"), ElementsAre("a b", "c")); }

Material OneTalk() {
  Material material;
  material.requests.push_back({"Port it all.", "The port needs `build.toml`.", "a.jsonl#1"});
  material.requests.push_back({"It failed again. What is the header for bfloat16?",
                               "I see.\nThe header for bfloat16 is `cuda_bf16.h`.", "a.jsonl#7"});
  material.requests.push_back({"yes", "The header is `x.h`.", "a.jsonl#9"});
  material.requests.push_back(
      {"What is the header `cuda_fp16.h` for?", "The header `cuda_fp16.h` is for half.", "a.jsonl#11"});
  return material;
}

TEST(ExtractDraft, EveryRuleCitesAPlace) {
  const Result<Draft> draft = ExtractDraft(OneTalk(), "", BodyTarget{});
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  for (const Section& section : draft->sections) {
    for (const Rule& rule : section.rules) EXPECT_THAT(rule.cites, Contains(HasSubstr("a.jsonl#"))) << rule.text;
  }
  EXPECT_THAT(DraftToSkill(*draft).body, HasSubstr("The header for bfloat16 is `cuda_bf16.h`."));
  EXPECT_EQ(draft->name, "port-it-all");
}

TEST(ExtractDraft, ATraceWithoutCodeGivesRequestsAndAnswers) {
  Material material;
  material.requests.push_back({"Hello there, how are you?", "Fine.", "a.jsonl#1"});
  material.items.push_back(
      {"d1", MaterialKind::kEpisode, "Goal: Hello there, how are you?\nOutcome: Fine.", {"a.jsonl#1"}});
  const Result<Draft> draft = ExtractDraft(material, "", BodyTarget{});
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  EXPECT_EQ(DraftToSkill(*draft).body, "# Notes\n\nGoal: Hello there, how are you? Outcome: Fine.\n");
}

TEST(ExtractDraft, TheDescriptionEndsItsFirstSentenceOnce) {
  Material material = OneTalk();
  for (const auto& [task, end] :
       {std::pair("Why does it fail?", "fail? Use this skill"), std::pair("Port it", "Port it. Use this skill"),
        std::pair("Port it.", "Port it. Use this skill"), std::pair("Port it…", "Port it… Use this skill")}) {
    material.task = task;
    EXPECT_THAT(ExtractDraft(material, "", BodyTarget{})->description, HasSubstr(end));
  }
}

TEST(ExtractDraft, NothingToExtractIsAnError) {
  Material material;
  material.requests.push_back({"Hello there, how are you?", "Fine.", "a.jsonl#1"});
  const Result<Draft> draft = ExtractDraft(material, "", BodyTarget{});
  ASSERT_FALSE(draft.ok());
  EXPECT_THAT(draft.error().message, HasSubstr("nothing to extract"));
}

TEST(ExtractCases, ReplaysQuestionsWithTheirSolution) {
  const VettedCases vetted = ExtractCases(OneTalk(), 16);
  ASSERT_THAT(vetted.cases, SizeIs(1));  // not the answer that the question gives away, not "yes"
  EXPECT_EQ(vetted.cases[0].input, "What is the header for bfloat16?");
  EXPECT_THAT(vetted.cases[0].checks, ElementsAre(Field(&CheckSpec::values, ElementsAre("cuda_bf16.h"))));
}

Material OneFix() {
  FixDetail fix;
  fix.failed = "make check";
  fix.error = "x.c:3: error: unknown type name 'half'";
  fix.steps.push_back({FixStep::Kind::kCommand, {}, "+ not an added line"});
  fix.steps.push_back({FixStep::Kind::kEdit, {FileEdit::Kind::kWrite, "new.c", "", "+ nor this one\n"}, ""});
  fix.steps.push_back(
      {FixStep::Kind::kEdit, {FileEdit::Kind::kReplace, "x.c", "#include <old.h>", "#include <cuda_fp16.h>"}, ""});
  fix.works = "make check";
  Material material;
  material.items.push_back({"d1", MaterialKind::kFix, "", {"a.jsonl#4"}, fix});
  return material;
}

TEST(ExtractCases, ReplaysFixedFailures) {
  const VettedCases vetted = ExtractCases(OneFix(), 16);
  ASSERT_THAT(vetted.cases, SizeIs(1));
  EXPECT_EQ(vetted.cases[0].input,
            "make check\n\nfails with:\n\nx.c:3: error: unknown type name 'half'\n\nHow do you fix it?");
  EXPECT_THAT(vetted.cases[0].checks[0].values, ElementsAre("#include <cuda_fp16.h>"));
  EXPECT_EQ(vetted.cases[0].reference, "Fix it with `#include <cuda_fp16.h>`.");
}

TEST(ExtractDraft, AFixNamesTheErrorAndTheLine) {
  const Result<Draft> draft = ExtractDraft(OneFix(), "fixes", BodyTarget{});
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  EXPECT_EQ(DraftToSkill(*draft).body,
            "# Troubleshooting\n\nFix `x.c:3: error: unknown type name 'half'` with `#include <cuda_fp16.h>`.\n");
}

TEST(ExtractCases, AsksForBareWordsAndForCommandsByTheirPurpose) {
  Material material;
  material.requests.push_back({"What time is it there?", "The time is 15:00 UTC.", "a.jsonl#1"});
  const CommandDetail install{"mix deps.get", "Install the dependencies.", "", 1, 0};
  material.items.push_back({"d1", MaterialKind::kCommand, "", {"a.jsonl#4"}, install});
  const CommandDetail list{"ls -la", "List all files", "", 1, 0};
  material.items.push_back({"d2", MaterialKind::kCommand, "", {"a.jsonl#5"}, list});
  const VettedCases vetted = ExtractCases(material, 16);
  ASSERT_THAT(vetted.cases, SizeIs(2));
  EXPECT_THAT(vetted.cases[0].checks[0].values, ElementsAre("15:00"));
  EXPECT_EQ(vetted.cases[1].input, "Which command does this: install the dependencies?");
  EXPECT_THAT(vetted.cases[1].checks[0].values, ElementsAre("mix deps.get"));
  const Result<Draft> draft = ExtractDraft(material, "", BodyTarget{});
  ASSERT_TRUE(draft.ok());
  EXPECT_EQ(DraftToSkill(*draft).body,
            "# Facts\n\nThe time is 15:00 UTC.\n\n# Commands that work\n\nInstall the dependencies: `mix deps.get`\n");
}

TEST(ExtractCases, TheExampleTraceGivesManySoundCases) {
  const Result<Trace> trace = ReadTrace(SourceDir() / "examples/traces/kernel-builder-h100.jsonl", {});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  Material material;
  AddTraces({*trace}, kDefaultDigestTokens, material);
  const VettedCases vetted = ExtractCases(material, 16);
  EXPECT_THAT(vetted.cases, SizeIs(16));
  EXPECT_THAT(vetted.cases, Contains(Field(&Case::input, "What is the launch stream?")));
  const Result<Draft> draft = ExtractDraft(material, "", BodyTarget{});
  ASSERT_TRUE(draft.ok());
  // Facts that were wrong at first and then corrected.
  const std::string body = DraftToSkill(*draft).body;
  for (const char* fact :
       {"`9.0`", "`TORCH_LIBRARY_EXPAND`", "`torch-ext/fast_norm`", "`edition = 5`", "`from ._ops import ops`"})
    EXPECT_THAT(body, HasSubstr(fact));
}

// The fixtures of all formats, and the recorded sessions if they are beside the source tree.
TEST(ExtractDraft, EveryTraceGivesAValidSkill) {
  namespace fs = std::filesystem;
  const fs::path source = SourceDir();
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
      AddTraces(loaded->traces, kDefaultDigestTokens, material);
      const Result<Draft> draft = ExtractDraft(material, "", BodyTarget{});
      if (!draft) {
        EXPECT_THAT(draft.error().message, HasSubstr("nothing to extract")) << file;
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
  FixDetail fix{true, "failed", "error", {}, 2, "reason", "works", "call"};
  fix.steps.push_back({FixStep::Kind::kEdit, {FileEdit::Kind::kReplace, "a.c", "old", "new"}, ""});
  fix.steps.push_back({FixStep::Kind::kEdit, {FileEdit::Kind::kDelete, "b.c", "", ""}, ""});
  fix.steps.push_back({FixStep::Kind::kCommand, {}, "make"});
  fix.steps.push_back({FixStep::Kind::kUserMessage, {}, "go on"});
  material.items.push_back({"d1", MaterialKind::kFix, "text", {"p"}, fix});
  material.items.push_back({"d2", MaterialKind::kCommand, "text", {"p"}, CommandDetail{"make", "Build", "ok", 2, 1}});
  const FileEdit patch{FileEdit::Kind::kPatch, "a.c", "", "+x"};
  material.items.push_back(
      {"d3", MaterialKind::kFile, "text", {"p"}, FileDetail{"a.c", true, "x", "y", {patch}, false, 3}});
  material.items.push_back({"d4", MaterialKind::kDeadEnd, "text", {"p"}});
  material.examples.push_back(ParseExample("2 + 2 -> 4"));
  material.existing = {"n", "d", "b", {{"r.md", "x"}}, {}, ""};
  const Json json = MaterialToJson(material);
  const Result<Material> back = MaterialFromJson(json, "x");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(MaterialToJson(*back), json);
  EXPECT_EQ(back->items[3].kind, MaterialKind::kDeadEnd);
  const auto* fixed = std::get_if<FixDetail>(&back->items[0].detail);
  ASSERT_NE(fixed, nullptr);
  EXPECT_EQ(fixed->steps[0].edit.after, "new");
  EXPECT_EQ(fixed->steps[1].edit.kind, FileEdit::Kind::kDelete);
  EXPECT_EQ(fixed->steps[3].kind, FixStep::Kind::kUserMessage);
  EXPECT_EQ(back->examples[0].output, "4");
  EXPECT_FALSE(MaterialFromJson({{"task", 1}}, "x").ok());
  EXPECT_THAT(ParseExample("alone").output, IsEmpty());
}

TEST(Material, ReadsTheEarlierForm) {
  const Json item = {{"id", "d1"},
                     {"kind", "Errors and what fixed them"},
                     {"text", "whole"},
                     {"places", {"a.jsonl:4"}},
                     {"failed", "make"},
                     {"error", "no rule"},
                     {"change", "a:\n-x\n+y"},
                     {"works", "make all"}};
  const Json correction = {
      {"id", "d2"}, {"kind", "Corrections by the person"}, {"text", "no"}, {"places", {"a.jsonl:6"}}};
  const Json json = {
      {"task", "t"}, {"items", {item, correction}}, {"requests", Json::array()}, {"examples", Json::array()}};
  const Result<Material> material = MaterialFromJson(json, "x");
  ASSERT_TRUE(material.ok()) << material.error().message;
  EXPECT_EQ(material->items[0].kind, MaterialKind::kFix);
  const auto* fix = std::get_if<FixDetail>(&material->items[0].detail);
  ASSERT_NE(fix, nullptr);
  EXPECT_EQ(fix->failed, "make");
  EXPECT_EQ(fix->works, "make all");
  EXPECT_EQ(material->items[1].kind, MaterialKind::kCorrection);
  EXPECT_EQ(ItemsText(*material, 1, 2), "[d2] Correction by the user\nno\n\n");
}

}  // namespace
}  // namespace upskill
