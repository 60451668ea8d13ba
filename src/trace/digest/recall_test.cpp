// SPDX-License-Identifier: Apache-2.0
// What a digest keeps of a long session: lines that nothing marks as important, among the sources of this repository.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/claude_session.h"
#include "support/source_dir.h"
#include "trace/digest/digest.h"
#include "util/files.h"
#include "util/rng.h"
#include "util/text.h"

namespace upskill {
namespace {

using testing::HasSubstr;
using testing::Not;

struct SourceFile {
  std::string name;
  std::string text;
};

// Real code, Markdown and configuration, in a fixed order.
std::vector<SourceFile> RealFiles() {
  std::vector<std::filesystem::path> paths;
  for (const char* folder :
       {"src/check", "src/eval", "src/llama", "src/model", "src/report", "src/util", "docs", "assets"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(SourceDir() / folder)) {
      const std::string type = entry.path().extension().string();
      if (type == ".cpp" || type == ".h" || type == ".md" || type == ".toml") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<SourceFile> files;
  for (const std::filesystem::path& path : paths) {
    Result<std::string> text = ReadFile(path);
    if (text.ok() && text->size() < 60'000)
      files.push_back({std::filesystem::relative(path, SourceDir()).string(), *std::move(text)});
  }
  return files;
}

// Reads, searches, rewrites and builds, until the session has `bytes`.
void Work(ClaudeSession& session, const std::vector<SourceFile>& files, Rng& rng, std::size_t bytes) {
  while (session.text().size() < bytes) {
    const SourceFile& file = files[rng.Next() % files.size()];
    const std::string part = file.text.substr(0, 12'000);
    const std::uint64_t kind = rng.Next() % 5;
    if (kind == 0) {
      session.Run("cat " + file.name, part);
    } else if (kind == 1) {
      session.Call("Write", Json::object({{"file_path", "/p/" + file.name}, {"content", part}}), "ok");
    } else if (kind == 2) {
      session.Run("make " + file.name, "compiling\n" + part.substr(0, 3000) + "\ndone");
    } else {
      session.Call("Read", Json::object({{"file_path", "/p/" + file.name}}), part);
    }
  }
}

// A part of a real file with a line in its middle.
std::string Around(const std::vector<SourceFile>& files, Rng& rng, const std::string& line) {
  const std::string text = files[rng.Next() % files.size()].text.substr(0, 8000);
  const std::size_t middle = text.find('\n', text.size() / 2);
  return middle == std::string::npos ? text + "\n" + line + "\n"
                                     : text.substr(0, middle + 1) + line + "\n" + text.substr(middle + 1);
}

std::vector<std::string> PlantedLines() {
  std::vector<std::string> lines;
  for (const char* name : {"gate", "norm", "rope", "mix", "pool", "fold"}) {
    lines.push_back(fmt::format("ops.def(\"{}_forward(Tensor! out, Tensor input, float eps) -> ()\");", name));
    lines.push_back(fmt::format("ops.impl(\"{}_forward\", torch::kCUDA, &{}_forward);", name, name));
  }
  for (const char* line :
       {"__all__ = [\"gate\", \"norm\", \"rope\"]", "TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {",
        "# q, k, v: [batch, heads, seq, head_dim]", "hidden has the shape (2, 4096, 2048)", "torch==2.9.1",
        "requires-python = \">=3.11\"", "Cuda compilation tools, release 12.8, V12.8.93", "\"typescript\": \"^5.6.2\",",
        "@app.route(\"/v2/zones\")", "module.exports = { parseZone, formatZone };"})
    lines.emplace_back(line);
  return lines;
}

struct Recall {
  std::size_t found = 0;
  std::size_t planted = 0;
  std::size_t tokens = 0;
};

// The lines are planted one by one into written files and outputs, half of them in the last third.
Recall RecallIn(std::size_t bytes, std::size_t budget, std::uint64_t seed, const std::vector<std::string>& planted) {
  static const std::vector<SourceFile> files = RealFiles();
  Rng rng(seed);
  ClaudeSession session;
  session.User("make the package build for the new card");
  Work(session, files, rng, bytes / 3);
  for (std::size_t i = 0; i < planted.size(); ++i) {
    const std::size_t third = i % 2 == 0 ? bytes * 2 / 3 : bytes / 3;
    Work(session, files, rng, third + (bytes / 3) * i / planted.size());
    const std::string text = Around(files, rng, planted[i]);
    if (i % 3 == 0) {
      session.Call("Write", Json::object({{"file_path", fmt::format("/p/planted_{}.cpp", i)}, {"content", text}}),
                   "ok");
    } else if (i % 3 == 1) {
      session.Run(fmt::format("./show part_{}", i), text);
    } else {
      session.Call("Read", Json::object({{"file_path", fmt::format("/p/planted_{}.py", i)}}), text);
    }
  }
  Work(session, files, rng, bytes);
  const std::vector<Trace> traces = {session.Read("long.jsonl")};
  const Digest digest = MakeDigest(traces, {budget, true});
  EXPECT_FALSE(digest.whole);
  Recall recall{0, planted.size(), digest.tokens};
  for (const std::string& line : planted) {
    const bool there = digest.text.find(line) != std::string::npos;
    recall.found += there ? 1 : 0;
    if (!there) std::printf("not recalled: %s\n", line.c_str());
  }
  return recall;
}

TEST(DigestRecall, UnremarkableLinesOfALongSession) {
  ASSERT_GT(RealFiles().size(), 100U);
  const Recall recall = RecallIn(2'000'000, 24'000, 7, PlantedLines());
  std::printf("recalled %zu of %zu in %zu tokens\n", recall.found, recall.planted, recall.tokens);
  EXPECT_LE(recall.tokens, 24'000U);
  EXPECT_GE(recall.found * 100, recall.planted * 95);
}

TEST(DigestRecall, UnremarkableLinesOfAShorterSession) {
  const Recall recall = RecallIn(600'000, 12'000, 11, PlantedLines());
  EXPECT_LE(recall.tokens, 12'000U);
  EXPECT_GE(recall.found * 100, recall.planted * 95);
}

// Lines of many languages and tools that say what has to be known, written down without regard to how a digest chooses:
// registrations, exports, schemas, settings, versions, variables, options of commands, constants, signatures.
TEST(DigestRecall, LinesOfManyLanguages) {
  const Result<std::string> text = ReadFile(SourceDir() / "tests/fixtures/recall_lines.txt");
  ASSERT_TRUE(text.ok());
  std::array<std::vector<std::string>, 3> planted;  // one session each
  std::size_t next = 0;
  for (const std::string_view line : SplitLines(*text)) {
    if (!line.empty() && !line.starts_with("## ")) planted.at(next++ % planted.size()).emplace_back(line);
  }
  ASSERT_GT(next, 120U);
  std::size_t found = 0;
  for (std::size_t i = 0; i < planted.size(); ++i) {
    const Recall recall = RecallIn(1'000'000, 24'000, 20 + i, planted.at(i));
    EXPECT_LE(recall.tokens, 24'000U);
    found += recall.found;
  }
  std::printf("recalled %zu of %zu lines of many languages\n", found, next);
  EXPECT_GE(found * 100, next * 95);
}

// A command in a log stands there with what came of it.
TEST(DigestRecall, OutcomesOfCommandsInOutputs) {
  static const std::vector<SourceFile> files = RealFiles();
  std::vector<SourceFile> quiet = files;  // around the output of a command that worked
  std::erase_if(quiet, [](const SourceFile& file) { return ContainsAny(ToLowerAscii(file.text), {"fail", "error"}); });
  Rng rng(3);
  ClaudeSession session;
  session.User("make the package build");
  Work(session, files, rng, 300'000);
  session.Run("./ci", Around(quiet, rng, "$ ctest -L overlay -j4 --output-on-failure\n100% tests passed out of 37"));
  session.Run("./ci.sh",
              Around(quiet, rng, "+ cmake --install build --prefix /opt/quill\n\n-- Install: RelWithDebInfo"));
  Work(session, files, rng, 600'000);
  const Digest digest = MakeDigest({session.Read("long.jsonl")}, {24'000, true});
  EXPECT_THAT(digest.text, HasSubstr("ctest -L overlay -j4 --output-on-failure\n  → 100% tests passed out of 37"));
  EXPECT_THAT(digest.text, HasSubstr("cmake --install build --prefix /opt/quill\n  → -- Install: RelWithDebInfo"));
}

// Of lines that are alike, those that name what was asked for come first.
TEST(DigestRecall, LinesThatNameTheSubject) {
  static const std::vector<SourceFile> files = RealFiles();
  const auto kept = [](const std::string& request) {
    Rng rng(5);
    ClaudeSession session;
    session.User(request);
    Work(session, files, rng, 300'000);
    for (const char* name : {"quillgeo", "fennelkit", "harbord", "warpsort", "cobbler", "tidalgist"})
      session.Run(fmt::format("show {}", rng.Next() % 100),
                  Around(files, rng, fmt::format("    def {}_overlay(self):", name)));
    Work(session, files, rng, 600'000);
    const std::string text = MakeDigest({session.Read("long.jsonl")}, {3'000, true}).text;
    return text.find("def harbord_overlay(self):") != std::string::npos;
  };
  EXPECT_TRUE(kept("fix the overlay of harbord"));
  EXPECT_FALSE(kept("fix the build"));
}

TEST(WholeDigest, EverythingIsToldOnceAndHowItIsKnown) {
  ClaudeSession session;
  session.User("make it build");
  session.Say("I look first.");
  session.Run("make test", "a.c:3: error: x undeclared", true);
  session.Call("Write", Json::object({{"file_path", "/p/a.c"}, {"content", "int y;\nint z;\n"}}), "ok");
  session.Call("Edit", Json::object({{"file_path", "/p/a.c"}, {"old_string", "int y;"}, {"new_string", "int x;"}}),
               "ok");
  session.Run("make test", "1 passed");
  session.Call("WebFetch", Json::object({{"url", "https://docs.test"}}), "The flag is --zone.");
  session.User("can you use the zone in b.c instead of UTC?");
  session.User("no, never in b.c");
  session.Run("make serve", "Command running in background with ID: b1");
  session.User("[Request interrupted by user]");
  session.User("<command-name>/mcp</command-name>");
  session.User("The folder is wrong. What is the right one?");
  session.Call("Write", Json::object({{"file_path", "/p/b.toml"}, {"content", "edition = 5\n"}}), "ok");
  const Digest digest = MakeDigest({session.Read("s.jsonl")}, {});
  ASSERT_TRUE(digest.whole);
  const std::string& text = digest.text;
  EXPECT_THAT(text, HasSubstr("don't fill these gaps with guesses"));
  EXPECT_THAT(text, HasSubstr("Request · told by the user\nmake it build\n"));
  EXPECT_THAT(text, HasSubstr("Said by the agent · only written\nI look first.\n"));
  EXPECT_THAT(text, HasSubstr("Didn't work · ran and failed\n$ make test\n→ a.c:3: error: x undeclared\n"));
  EXPECT_THAT(text, HasSubstr("Command · ran and passed\n(changed before this: /p/a.c)\n$ make test\n→ 1 passed\n"));
  EXPECT_THAT(text, HasSubstr("Looked up · read in docs\nWebFetch"));
  EXPECT_THAT(text, HasSubstr("Command · ran, outcome not recorded\n$ make serve\n"));
  EXPECT_THAT(text, HasSubstr("told by the user\n(given to the agent by its program) [Request interrupted by user]\n"));
  EXPECT_THAT(text, Not(HasSubstr("/mcp")));
  EXPECT_THAT(text, HasSubstr("Error and its fix · ran and passed\n"));
  EXPECT_THAT(text, HasSubstr("Request · told by the user\ncan you use the zone")) << "a request is no correction";
  EXPECT_THAT(text, HasSubstr("Correction by the user · told by the user\nno, never in b.c\n"));
  EXPECT_THAT(text, HasSubstr("Correction by the user · told by the user\nThe folder is wrong."));
  EXPECT_THAT(text,
              HasSubstr("/p/a.c (final content, whole, 2 changes)\nint x;\nint z;\n[replaced on the way, no longer "
                        "in the file:]\nint y;\n"));
  EXPECT_THAT(text, HasSubstr("File · only written\n/p/b.toml (final content, whole, 1 change)\nedition = 5\n"));
  EXPECT_THAT(text, Not(HasSubstr("Left out")));
  EXPECT_FALSE(MakeDigest({session.Read("s.jsonl")}, {200, true}).whole);
}

// A session that reads the same files again and again is told whole: each line once.
TEST(WholeDigest, RepeatedLinesAreToldOnce) {
  std::string file;
  for (int i = 0; i < 400; ++i) file += fmt::format("{:6}→the setting number {} has the value {}\n", i + 1, i, i * i);
  ClaudeSession session;
  session.User("make it build");
  for (int i = 0; i < 30; ++i) {
    session.Call("Read", Json::object({{"file_path", "/p/a.toml"}}), file + fmt::format("    401→round = {}\n", i));
    session.Run("make test", fmt::format("{} passed", i));
  }
  session.Call("Write", Json::object({{"file_path", "/p/b.toml"}, {"content", file}}), "ok");
  const Digest digest = MakeDigest({session.Read("s.jsonl")}, {20'000, true});
  ASSERT_TRUE(digest.whole);
  EXPECT_LE(digest.tokens, 20'000U);
  for (int i = 0; i < 400; ++i)
    EXPECT_THAT(digest.text, HasSubstr(fmt::format("the setting number {} has the value {}\n", i, i * i)));
  for (int i = 0; i < 30; ++i) EXPECT_THAT(digest.text, HasSubstr(fmt::format("round = {}\n", i)));
  EXPECT_THAT(digest.text,
              HasSubstr("[400 lines of the final content of /p/b.toml, from \"the setting number 0 has the "
                        "value 0\" to \"the setting number 399 has the value 159201\"]\nround = 0\n"));
  EXPECT_FALSE(MakeDigest({session.Read("s.jsonl")}, {5'000, true}).whole);
}

// A reader that takes it in parts gets all of a session that is too long for one part.
TEST(WholeDigest, AllOfItForAReaderOfSeveralParts) {
  static const std::vector<SourceFile> files = RealFiles();
  Rng rng(17);
  ClaudeSession session;
  session.User("make the package build");
  const std::vector<std::string> planted = PlantedLines();
  for (const std::string& line : planted) {
    Work(session, files, rng, session.text().size() + 40'000);
    session.Run("./show", Around(files, rng, line));
  }
  DigestOptions options;
  options.budget_tokens = 24'000;
  EXPECT_FALSE(MakeDigest({session.Read("s.jsonl")}, options).whole);
  options.whole_tokens = 400'000;
  const Digest digest = MakeDigest({session.Read("s.jsonl")}, options);
  ASSERT_TRUE(digest.whole);
  EXPECT_LE(digest.tokens, 400'000U);
  for (const std::string& line : planted) EXPECT_THAT(digest.text, HasSubstr(line));
}

TEST(WholeDigest, AChangedFileWhosePathIsPartOfAnotherIsNamed) {
  ClaudeSession session;
  session.User("make it build");
  for (const char* path : {"/p/src/a.c.in", "/p/src/a.c"})
    session.Call("Write", Json::object({{"file_path", path}, {"content", "int y;\n"}}), "ok");
  session.Run("make test", "1 passed");
  EXPECT_THAT(MakeDigest({session.Read("s.jsonl")}, {}).text,
              HasSubstr("(changed before this: /p/src/a.c.in, /p/src/a.c)\n$ make test"));
}

}  // namespace
}  // namespace upskill
