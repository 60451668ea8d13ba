// SPDX-License-Identifier: Apache-2.0
// Whole command lines over files in which every text tries to control the terminal.
#include <gmock/gmock.h>
#include <re2/re2.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "eval/journal/journal.h"
#include "support/command_line.h"
#include "util/files.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Sets the window's title, goes back to the start of the line, clears the screen, reverses the direction of writing,
// and begins a line that looks like one of the program's own.
constexpr const char* kEvil = "\x1b]0;x\x07\r\u009B2J\u202E\u2066\x7F\nerror: all is well";

constexpr const char* kSession =
    R"({"type":"user","sessionId":"s","uuid":"u1","cwd":"/w","timestamp":"2026-01-12T14:02:00.000Z",)"
    R"("message":{"role":"user","content":"do it"}})"
    "\n"
    R"({"type":"assistant","sessionId":"s","uuid":"u2","timestamp":"2026-01-12T14:03:00.000Z","message":{"role":)"
    R"("assistant","id":"m1","model":"claude","content":[{"type":"tool_use","id":"t1","name":"Bash","input":)"
    R"({"command":"make"}}]}})"
    "\n"
    R"({"type":"user","sessionId":"s","uuid":"u3","timestamp":"2026-01-12T14:04:00.000Z","message":{"role":"user",)"
    R"("content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"failed"}]}})"
    "\n";

// With kEvil at the end of every string that a file can choose freely.
Json Spoiled(const Json& json) {
  static const std::set<std::string> fixed = {"arm",    "arms", "created", "key",       "outcome", "role",   "sha256",
                                              "status", "stop", "time",    "timestamp", "type",    "version"};
  if (json.is_string()) return json.get<std::string>() + kEvil;
  Json spoiled = json;
  for (auto it = spoiled.begin(); json.is_structured() && it != spoiled.end(); ++it) {
    if (json.is_array() || !fixed.contains(it.key())) *it = Spoiled(*it);
  }
  return spoiled;
}

std::string SpoiledLines(const std::string& lines) {
  std::string spoiled;
  for (const std::string_view line : SplitLines(lines)) spoiled += DumpJson(Spoiled(*ParseJson(line, "line"))) + "\n";
  return spoiled;
}

// The first character that moves the cursor, is invisible or breaks the text; colours are allowed.
std::string Unsafe(std::string text) {
  RE2::GlobalReplace(&text, "\x1b\\[[0-9;]*m", "");
  if (FindInvalidUtf8(text)) return "invalid UTF-8";
  std::string found;
  RE2::PartialMatch(
      text, "([\\x00-\\x09\\x0b-\\x1f\\x7f-\\x{9f}\\x{200e}\\x{200f}\\x{202a}-\\x{202e}\\x{2066}-\\x{2069}])", &found);
  return found;
}

class TerminalOutput : public CommandLineTest {
 protected:
  TerminalOutput() {
    folder.Write("config.yaml", "runs_dir: " + runs().string() + "\n");
    folder.Write("skills/arithmetic/SKILL.md", "---\nname: arithmetic\ndescription: How to add.\n---\nAdd them.\n");
    Json cases = Json::array();
    for (const char* number : {"one", "two", "three"}) {
      cases.push_back({{"id", number + std::string(kEvil)}, {"input", number}, {"expected", {{"contains", "after"}}}});
    }
    folder.Write("skills/arithmetic/tests.json", DumpJson(cases));
    folder.Write("a.jsonl", SpoiledLines(kSession));
    variables["HF_HOME"] = (folder.path() / "hf").string();
    folder.Write(std::string("hf/hub/models--org--repo/snapshots/c/m") + kEvil + "-Q8_0.gguf", "GGUF1234");
    variables["UPSKILL_EMBEDDED_MODEL"] = folder.Write(std::string("embedded") + kEvil, "GGUF").string();
  }

  // Runs an evaluation and spoils what it wrote.
  void SpoiledRun(const std::string& model) {
    ASSERT_EQ(Run({"eval", skill(), "-m", model, "--runs", "2", "-q"}), 0) << error;
    const fs::path run = FindRuns(runs()).back();
    WriteText(run / "plan.json", DumpJsonIndented(Spoiled(*ParseJson(*ReadFile(run / "plan.json"), "plan.json"))));
    WriteText(run / "samples.jsonl", SpoiledLines(*ReadFile(run / "samples.jsonl")));
  }

  static void WriteText(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

  // On a terminal with colours, and into pipes.
  void ExpectSafe(const std::vector<std::string>& arguments, int code) {
    std::string command;
    for (const std::string& argument : arguments) command += argument + " ";
    for (const bool on_terminal : {true, false}) {
      terminal = on_terminal;
      EXPECT_EQ(Run(arguments), code) << command << out << error;
      EXPECT_THAT(Unsafe(out), IsEmpty()) << command << out;
      EXPECT_THAT(Unsafe(error), IsEmpty()) << command << error;
      EXPECT_THAT("\n" + out + "\n" + error, Not(HasSubstr("\nerror: all is well"))) << command;
    }
  }

  std::string skill() const { return (folder.path() / "skills/arithmetic").string(); }
};

TEST_F(TerminalOutput, OfRuns) {
  SpoiledRun("sim:base=0,skill=1");
  SpoiledRun("sim:base=1,skill=0");
  const std::vector<fs::path> folders = FindRuns(runs());
  ASSERT_EQ(folders.size(), 2U);
  ExpectSafe({"report", "latest"}, 0);
  EXPECT_THAT(out, HasSubstr("run 2026"));
  ExpectSafe({"report", runs().string()}, 0);
  ExpectSafe({"runs"}, 0);
  ExpectSafe({"runs", "--all"}, 0);
  ExpectSafe({"runs", "--matrix"}, 0);
  EXPECT_THAT(out, HasSubstr("best value"));
  ExpectSafe({"compare", folders[0].string(), folders[1].string()}, 0);
  EXPECT_THAT(out, HasSubstr("→"));
  ExpectSafe({"merge", folders[0].string(), "-o", (folder.path() / ("whole" + std::string(kEvil))).string()},
             2);  // the spoiled plan has other cells
}

TEST_F(TerminalOutput, OfDocumentsOnATerminal) {
  SpoiledRun("sim:base=0,skill=1");
  terminal = true;
  for (const char* format : {"html", "md", "csv", "json", "xml"}) {
    EXPECT_EQ(Run({"report", "latest", "--format", format}), 0) << error;
    EXPECT_THAT(Unsafe(out), IsEmpty()) << format << out;
  }
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"runs", "--json"},
                                                    {"runs", "--csv", "-"},
                                                    {"trace", "show", (folder.path() / "a.jsonl").string(), "--json"},
                                                    {"trace", "digest", (folder.path() / "a.jsonl").string()},
                                                    {"models", "--json"}}) {
    EXPECT_EQ(Run(arguments), 0) << error;
    EXPECT_THAT(Unsafe(out), IsEmpty()) << arguments[0] << out;
  }
  terminal = false;  // a program gets what was recorded
  EXPECT_EQ(Run({"report", "latest", "--format", "json"}), 0) << error;
  EXPECT_THAT(out, HasSubstr("\u202E"));
}

TEST_F(TerminalOutput, OfEval) {
  ExpectSafe({"eval", skill(), "-m", "sim:base=0,skill=0", "-q", "-v"}, 0);
  EXPECT_THAT(out, HasSubstr("never passed"));
  ExpectSafe({"eval", skill(), "-m", std::string("sim:") + kEvil}, 2);
  ExpectSafe({"eval", skill(), "-m", std::string("llama:") + kEvil + ".gguf"}, 2);
  ExpectSafe({"eval", skill(), "-t", (folder.path() / kEvil).string()}, 2);
}

TEST_F(TerminalOutput, OfSkillsTracesAndModels) {
  folder.Write("skills/evil/SKILL.md",
               "---\nname: \"e\\e]0;x\\a\\u202e\\nerror: all is well\"\ndescription: \"\\e\\x9b\\r\\nerror: all is "
               "well\"\n---\nText.\n");
  ExpectSafe({"list", "-d", (folder.path() / "skills").string()}, 0);
  ExpectSafe({"list", "-v", "-d", (folder.path() / "skills").string()}, 0);
  const std::string trace = (folder.path() / "a.jsonl").string();
  ExpectSafe({"trace", "show", trace}, 0);
  EXPECT_THAT(out, HasSubstr("1 error"));
  ExpectSafe({"trace", "show", trace, "--events"}, 0);
  folder.Write("b.jsonl", std::string("{\"type\":\"user\"") + kEvil);
  ExpectSafe({"trace", "show", trace, (folder.path() / "b.jsonl").string()}, 1);
  ExpectSafe({"generate", "--from", trace, "-m", "cmd:cat", "--dry-run", "--eval-model", "sim:base=0,skill=1"}, 0);
  ExpectSafe({"models"}, 0);
  EXPECT_THAT(out, HasSubstr("llama:org/repo"));
}

TEST_F(TerminalOutput, NoNameOfAFileLooksLikeALineOfTheProgram) {
  const fs::path file = folder.Write("a\nerror: all is well.json", "{\"a\": \x1b]0;x\x07}");
  EXPECT_EQ(Run({"report", file.string()}), 2);
  EXPECT_THAT(error, testing::StartsWith("error: "));
  EXPECT_THAT(error, HasSubstr("/a\n  error: all is well.json:1:7"));
  EXPECT_THAT(error, HasSubstr("\n  1 | {\"a\": \\x1b]0;x\\x07}\n"));
  EXPECT_EQ(Run({"report", "none\x1b]0;x\x07"}), 2);
  EXPECT_THAT(error, HasSubstr("none\\x1b]0;x\\x07"));
  EXPECT_THAT(Unsafe(error), IsEmpty());
}

}  // namespace
}  // namespace upskill
