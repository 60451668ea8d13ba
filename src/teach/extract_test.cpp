// SPDX-License-Identifier: Apache-2.0
#include "teach/extract.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <variant>

#include "support/source_dir.h"
#include "teach/extract_parts.h"
#include "teach/extract_text.h"
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

MaterialItem CommandItem(const std::string& command, const std::string& purpose, const std::string& place,
                         std::size_t worked = 1) {
  return {"d", MaterialKind::kCommand, "", {place}, CommandDetail{command, purpose, "", worked, worked == 0 ? 1U : 0U}};
}

MaterialItem FileItem(const std::string& path, const std::string& content, const std::string& place) {
  FileDetail file;
  file.path = path;
  file.whole = true;
  file.content = content;
  file.versions = 1;
  return {"d", MaterialKind::kFile, "", {place}, file};
}

// A session in /home/ines/kernel: a build file, a binding and a package.
Material OnePort() {
  Material material;
  material.requests.push_back({"Port the norm kernel, see https://example.com/docs and\nhttps://example.com/more",
                               "I wrote it. Build it with\n\n  nix flake update\n  docker run --rm \\\n    -w /src "
                               "image build\n\nThen go to the "
                               "folder.\nmake sure that it works.",
                               "a.jsonl#1"});
  material.items.push_back(FileItem("/home/ines/kernel/build.toml", "[general]\nname = \"norm\"\n", "a.jsonl#3"));
  material.items.push_back(FileItem("/home/ines/kernel/torch-ext/new/__init__.py", "x = 1\n", "a.jsonl#4"));
  material.items.push_back(
      FileItem("/home/ines/kernel/torch-ext/binding.cpp",
               "#include \"a.h\"\nTORCH_LIBRARY_EXPAND(NAME, ops) {\n  ops.def(\"norm(Tensor! out, "
               "Tensor x) -> ()\");\n  ops.impl(\"norm\", torch::kCUDA, &norm);\n  "
               "ops.def(\"normalize_all(Tensor! out) -> ()\");\n  ops.impl(\"normalize_all\", "
               "torch::kCUDA,\n           &normalize_all);\n}\n",
               "a.jsonl#5"));
  material.items.push_back(FileItem("/tmp/scratch.py", "y = 2\n", "a.jsonl#6"));
  material.items.push_back(
      CommandItem("cd /home/ines/kernel && cmake --build build 2>&1 | tail -5", "Build the kernel.", "a.jsonl#8"));
  material.items.push_back(CommandItem("ls -la /home/ines/kernel", "List files", "a.jsonl#9"));
  material.items.push_back(CommandItem("ninja install", "", "a.jsonl#10", 0));
  material.items.push_back({"d",
                            MaterialKind::kCorrection,
                            "No, the schema type for a double is float. Can you use fewer lines?",
                            {"a.jsonl#11"},
                            {}});
  return material;
}

std::string BodyOf(const Material& material, std::size_t tokens = 600) {
  BodyTarget target;
  target.tokens = tokens;
  const Result<Draft> draft = ExtractDraft(material, "", target);
  return draft ? DraftToSkill(*draft).body : "error: " + draft.error().message;
}

TEST(ExtractDraft, EachPartHasATitle) {
  EXPECT_EQ(
      BodyOf(OnePort()),
      "# Project layout\n\nFiles that the session wrote:\n\n```\nbuild.toml\ntorch-ext/\n  binding.cpp\n  new/\n    "
      "__init__.py\n```\n\n"
      "# Configuration\n\n`build.toml`:\n\n```toml\n[general]\nname = \"norm\"\n```\n\n"
      "# How functions are registered\n\nIn `torch-ext/binding.cpp`:\n\n```cpp\nTORCH_LIBRARY_EXPAND(NAME, ops) {\n "
      " ops.def(\"norm(Tensor! out, Tensor x) -> ()\");\n  ops.impl(\"norm\", torch::kCUDA, "
      "&norm);\n}\n```\n\nRegistered the same way: `normalize_all`.\n\n"
      "# Commands that ran and worked\n\n- Build the kernel: `cmake --build build`\n\n"
      "# Commands that the agent gave, but did not run\n\n- `nix flake update`\n- `docker run --rm -w /src image "
      "build`\n\n"
      "# Rules that the user gave\n\n- The schema type for a double is float.\n");
}

TEST(ExtractDraft, NameAndDescriptionComeFromTheTaskWithoutAddresses) {
  Result<Draft> draft = ExtractDraft(OnePort(), "", BodyTarget{});
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  EXPECT_EQ(draft->name, "port-the-norm-kernel-see");
  EXPECT_THAT(draft->description,
              testing::StartsWith("Port the norm kernel, see. From a recorded session: the project"));
  EXPECT_THAT(draft->description, testing::Not(HasSubstr("http")));
  Material material = OnePort();
  material.task = "Write kernels";
  draft = ExtractDraft(material, "", BodyTarget{});
  ASSERT_TRUE(draft.ok());
  EXPECT_EQ(draft->name, "write-kernels");
  EXPECT_EQ(ExtractDraft(material, "given", BodyTarget{})->name, "given");
}

TEST(ExtractDraft, EveryRuleCitesAPlace) {
  Material talk = OneTalk();
  talk.requests.push_back({"What is the launch stream?", "The launch stream is `current_stream()`.", "a.jsonl#13"});
  for (const Material& material : {OnePort(), talk}) {
    const Result<Draft> draft = ExtractDraft(material, "", BodyTarget{});
    ASSERT_TRUE(draft.ok()) << draft.error().message;
    for (const Section& section : draft->sections) {
      for (const Rule& rule : section.rules) EXPECT_THAT(rule.cites, Contains(HasSubstr("a.jsonl#"))) << rule.text;
    }
  }
}

TEST(ExtractDraft, TablesWithTheSameKeysAreShownOnceIfTheFileIsTooLong) {
  std::string toml = "[general]\nname = \"x\"\n";
  for (const char* kernel : {"attention", "layernorm", "rope"}) {
    toml += std::string("\n# The ") + kernel + "\n[kernel." + kernel + "]\ndepends = []\nsrc = [\"kernel_src/" +
            kernel + ".cu\"]\ncuda-capabilities = [\"9.0\"]\n";
  }
  Material material;
  material.items.push_back(FileItem("build.toml", toml, "a#1"));
  EXPECT_THAT(BodyOf(material), HasSubstr("[kernel.rope]\ndepends"));
  const Result<Draft> draft = ExtractDraft(material, "x", BodyTarget{200, true, EstimateTokens});
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  const std::string body = DraftToSkill(*draft).body;
  EXPECT_THAT(body, HasSubstr("[kernel.attention]\ndepends = []\nsrc = [\"kernel_src/attention.cu\"]\n"));
  EXPECT_THAT(body, HasSubstr("With the same keys: `[kernel.layernorm]`, `[kernel.rope]`."));
  EXPECT_THAT(body, testing::Not(HasSubstr("src = [\"kernel_src/rope.cu\"]")));
  // The whole file is kept beside it.
  ASSERT_THAT(draft->references, SizeIs(1));
  EXPECT_THAT(draft->references[0].second, HasSubstr(toml));
  EXPECT_THAT(body, HasSubstr("- `references/configuration.md` has all of `build.toml`.\n"));
}

TEST(ConfigurationPart, CompleteFilesFirstTheSmallestThenThoseOfWhichMostIsKnown) {
  const auto file = [](const std::string& path, std::size_t lines, bool complete) {
    SourcedFile sourced;
    sourced.path = path;
    sourced.config = true;
    sourced.place = "a.jsonl#1";
    sourced.file.complete = complete;
    for (std::size_t i = 0; i < lines; ++i) sourced.file.lines.push_back({fmt::format("key_{} = {}", i, i), false});
    return sourced;
  };
  const Section part =
      ConfigurationPart({file("parts-4.toml", 4, false), file("whole-9.toml", 9, true), file("parts-7.toml", 7, false),
                         file("whole-2.toml", 2, true), file("parts-2.toml", 2, false), file("parts-5.toml", 5, false)},
                        false);
  std::vector<std::string> order;
  for (const Rule& rule : part.rules) {
    const std::size_t begin = rule.text.find('`') + 1;
    order.push_back(rule.text.substr(begin, rule.text.find('`', begin) - begin));
  }
  EXPECT_THAT(order, ElementsAre("whole-2.toml", "whole-9.toml", "parts-7.toml", "parts-5.toml", "parts-4.toml"));
}

TEST(ConfigurationPart, AFileThatDoesNotParseIsAFragment) {
  Material material;
  material.items.push_back(FileItem("a.toml", "[general]\nname = \"x\"\nname = \"y\"\n", "a#1"));
  material.items.push_back(FileItem("b.toml", "[general\n", "a#2"));
  material.items.push_back(FileItem("package.json", "{\n  \"a\": 1,\n}\n", "a#3"));
  material.items.push_back(FileItem("d.toml", "x = 1\ny = 2\nz = 3\nw = 4\n", "a#4"));
  material.items.push_back(FileItem("tsconfig.json", "{\n  // strict\n  \"strict\": true\n}\n", "a#5"));
  const Section part = ConfigurationPart(ProjectFiles(material), false);
  ASSERT_THAT(part.rules, SizeIs(4)) << "one line of a broken file tells nothing";
  EXPECT_THAT(part.rules[0].text, testing::StartsWith("`d.toml`:\n"));
  EXPECT_THAT(part.rules[1].text, testing::StartsWith("`tsconfig.json`:\n")) << "comments are allowed there";
  EXPECT_THAT(part.rules[2].text,
              testing::StartsWith("Parts of `a.toml`; as it was recorded, it is not valid TOML (line 3"));
  EXPECT_THAT(
      part.rules[3].text,
      testing::StartsWith("Parts of `package.json`; as it was recorded, it is not valid JSON (line 3, column 1: "));
}

TEST(ExtractDraft, WhatDoesNotFitIsLeftOutWhole) {
  Material material = OnePort();
  material.items.push_back(FileItem("big.toml", std::string(4000, 'x') + " = 1\n", "a.jsonl#12"));
  const Result<Draft> draft = ExtractDraft(material, "x", BodyTarget{});
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  EXPECT_LE(EstimateTokens(DraftToSkill(*draft).body), 600U);
  EXPECT_THAT(DraftToSkill(*draft).body, testing::Not(HasSubstr("xxxx")));
  ASSERT_THAT(draft->references, SizeIs(1));
  EXPECT_THAT(draft->references[0].second, HasSubstr("xxxx"));
  EXPECT_THAT(DraftToSkill(*draft).body, HasSubstr("- `references/configuration.md` has `big.toml`.\n"));
}

TEST(ExtractDraft, AFollowUpRequestIsNoRule) {
  Material material = OnePort();
  for (const char* text : {"cool how can i use this kernel?", "great can you create a file that shows how to use it",
                           "can you make it for the other model instead?", "The folder is wrong."})
    material.items.push_back({"d", MaterialKind::kCorrection, text, {"a.jsonl#12"}, {}});
  const std::string body = BodyOf(material);
  EXPECT_THAT(body, testing::EndsWith("# Rules that the user gave\n\n- The schema type for a double is float.\n"));
}

TEST(ExtractDraft, TheDescriptionEndsItsFirstSentenceOnce) {
  Material material = OnePort();
  for (const auto& [task, end] :
       {std::pair("Why does it fail?", "fail? From a"), std::pair("Port it", "Port it. From a"),
        std::pair("Port it.", "Port it. From a"), std::pair("Port it…", "Port it… From a")}) {
    material.task = task;
    EXPECT_THAT(ExtractDraft(material, "", BodyTarget{})->description, HasSubstr(end));
  }
}

// Each folder of a path is a level of the tree, and each pair of changed lines is compared.
TEST(ExtractDraft, HostileSizesAreLeftOut) {
  Material material = OnePort();
  std::string deep = "/home/ines/kernel/";
  for (int i = 0; i < 200'000; ++i) deep += "a/";
  material.items.push_back(FileItem(deep + "b.toml", "x = 1\n", "a.jsonl#20"));
  std::string piped = "make";
  for (int i = 0; i < 100'000; ++i) piped += " | head";
  material.items.push_back(CommandItem(piped, "", "a.jsonl#21"));
  FixDetail fix;
  fix.is_command = true;
  fix.failed = fix.works = "make";
  fix.error = "error: x";
  std::string before;
  std::string after;
  for (int i = 0; i < 5000; ++i) before += "-old line " + std::to_string(i) + "\n";
  for (int i = 0; i < 5000; ++i) after += "+new line " + std::to_string(i) + "\n";
  fix.steps.push_back({FixStep::Kind::kEdit, {FileEdit::Kind::kPatch, "x.c", "", before + after}, ""});
  material.items.push_back({"d", MaterialKind::kFix, "", {"a.jsonl#22"}, fix});
  EXPECT_EQ(BodyOf(material), BodyOf(OnePort()));
}

TEST(ExtractDraft, ALongRuleInTheFirstRequestIsCutAtOnce) {
  Material material = OnePort();
  material.requests.front().text = "Port the kernel " + std::string(4'000'000, '-') + " today, see a----b";
  EXPECT_THAT(ExtractDraft(material, "", BodyTarget{})->description, HasSubstr("Port the kernel -- today, see a--b. "));
}

TEST(ExtractDraft, TooLittleIsAnErrorThatSaysWhatATeacherWouldAdd) {
  Material material;
  material.requests.push_back({"Hello there, how are you?", "Fine.", "a.jsonl#1"});
  material.items.push_back(
      {"d1", MaterialKind::kEpisode, "Goal: Hello there, how are you?\nOutcome: Fine.", {"a.jsonl#1"}});
  material.items.push_back(FileItem("/home/ines/a.py", "x = 1\n", "a.jsonl#3"));
  material.items.push_back(FileItem("/home/ines/b.py", "x = 1\n", "a.jsonl#4"));
  material.items.push_back(CommandItem("python a.py", "", "a.jsonl#5"));
  const Result<Draft> draft = ExtractDraft(material, "", BodyTarget{});
  ASSERT_FALSE(draft.ok());
  EXPECT_EQ(draft.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(draft.error().message, HasSubstr("too little to extract"));
  EXPECT_THAT(draft.error().message, HasSubstr("1 command that"));
  EXPECT_THAT(draft.error().message, HasSubstr("A teacher reads the conversation"));
}

TEST(ExtractCases, ReplaysQuestionsWithTheirSolution) {
  const VettedCases vetted = ExtractCases(OneTalk(), 16);
  ASSERT_THAT(vetted.cases, SizeIs(1));  // not the answer that the question gives away, not "yes"
  EXPECT_EQ(vetted.cases[0].input, "What is the header for bfloat16?");
  EXPECT_THAT(vetted.cases[0].checks, ElementsAre(Field(&CheckSpec::values, ElementsAre("cuda_bf16.h"))));
}

Material OneFix() {
  FixDetail fix;
  fix.is_command = true;
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

TEST(ExtractCases, TheCommandThatWorksIsItsFirstLine) {
  Material material = OneFix();
  auto& fix = std::get<FixDetail>(material.items[0].detail);
  fix.steps.clear();
  fix.works = "\n  make check HALF=1\nmake install";
  const VettedCases vetted = ExtractCases(material, 16);
  ASSERT_THAT(vetted.cases, SizeIs(1));
  EXPECT_EQ(vetted.cases[0].reference, "Fix it with `make check HALF=1`.");
  fix.is_command = false;
  EXPECT_THAT(ExtractCases(material, 16).cases, IsEmpty()) << "a failed edit says nothing without its file";
}

TEST(FixesPart, NamesTheErrorAndTheReplacedLine) {
  Material material = OneFix();
  auto& fix = std::get<FixDetail>(material.items[0].detail);
  fix.is_command = false;
  EXPECT_THAT(FixesPart(material).rules, IsEmpty());  // a tool's failure is about the agent
  fix.is_command = true;
  ASSERT_THAT(FixesPart(material).rules, SizeIs(1));
  EXPECT_EQ(FixesPart(material).rules[0].text,
            "- `x.c:3: error: unknown type name 'half'`: in `x.c`, replace `#include <old.h>` with `#include "
            "<cuda_fp16.h>`.");
  fix.error = "failed in sandbox: denied";
  EXPECT_THAT(FixesPart(material).rules, IsEmpty());
}

TEST(FixesPart, TakesTheChangeThatTheErrorIsAbout) {
  Material material = OneFix();
  auto& fix = std::get<FixDetail>(material.items[0].detail);
  fix.is_command = true;
  fix.error = "build.toml: missing field `depends` in kernel.norm";
  fix.steps.push_back(
      {FixStep::Kind::kEdit, {FileEdit::Kind::kReplace, "b.toml", "src = []", "src = []\ndepends = [\"torch\"]"}, ""});
  ASSERT_THAT(FixesPart(material).rules, SizeIs(1));
  EXPECT_THAT(FixesPart(material).rules[0].text, testing::EndsWith("in `b.toml`, add `depends = [\"torch\"]`."));
  fix.error = "an error that none of them mentions";
  EXPECT_THAT(FixesPart(material).rules, IsEmpty());  // of two changes, neither is known to be the one
}

TEST(ErrorLine, IsTheOneThatTellsTheFailure) {
  EXPECT_EQ(ErrorLine("Output: a\nError: (none)\nx.c:3: error: y\nlast"), "x.c:3: error: y");
  EXPECT_EQ(ErrorLine("Output: a\nmake: cc: No such file or directory\nExit Code: 2"),
            "make: cc: No such file or directory");
  EXPECT_EQ(ErrorLine("a\n\nb\n…\n"), "b");
}

TEST(FixesPart, ACommandThatReplacedAnother) {
  FixDetail fix;
  fix.is_command = true;
  fix.failed = "pip install x";
  fix.error = "Exit code 1\nerror: externally-managed-environment";
  fix.works = ". venv/bin/activate && pip install x";
  Material material;
  material.items.push_back({"d1", MaterialKind::kFix, "", {"a.jsonl#4"}, fix});
  ASSERT_THAT(FixesPart(material).rules, SizeIs(1));
  EXPECT_EQ(
      FixesPart(material).rules[0].text,
      "- `pip install x` fails with `error: externally-managed-environment`; `. venv/bin/activate && pip install x` "
      "works.");
}

TEST(ExtractCases, TheExampleTraceGivesManySoundCases) {
  const Result<Trace> trace = ReadTrace(SourceDir() / "examples/traces/kernel-builder-h100.jsonl", {});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  Material material;
  AddTraces({*trace}, {kDefaultDigestTokens, 0}, material);
  const VettedCases vetted = ExtractCases(material, 16);
  EXPECT_THAT(vetted.cases, SizeIs(16));
  EXPECT_THAT(vetted.cases, Contains(Field(&Case::input, "What is the launch stream?")));
  const Result<Draft> draft = ExtractDraft(material, "", BodyTarget{});
  ASSERT_TRUE(draft.ok());
  // What was wrong at first and then corrected.
  const std::string body = DraftToSkill(*draft).body;
  for (const char* fact : {"cuda-capabilities = [\"9.0\"]", "TORCH_LIBRARY_EXPAND(", "`torch-ext/fast_norm`",
                           "edition = 5", "`from ._ops import ops`", "kernel-builder build"})
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
      AddTraces(loaded->traces, {kDefaultDigestTokens, 0}, material);
      cases += ExtractCases(material, 16).cases.size();
      const Result<Draft> draft = ExtractDraft(material, "", BodyTarget{});
      if (!draft) {
        EXPECT_THAT(draft.error().message, HasSubstr("too little to extract")) << file;
        continue;
      }
      ++skills;
      EXPECT_THAT(FindSkillProblems(DraftToSkill(*draft)), IsEmpty()) << file;
      for (const Section& section : draft->sections) {
        for (const Rule& rule : section.rules)
          EXPECT_THAT(rule.cites, testing::Not(IsEmpty())) << file << ": " << rule.text;
      }
    }
  }
  EXPECT_GE(skills, 1U);
  EXPECT_GE(cases, 3U);
}

}  // namespace
}  // namespace upskill
