// SPDX-License-Identifier: Apache-2.0
// `upskill trace …` as whole command lines in process.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/planted_secrets.h"
#include "support/trace_fixture.h"
#include "teach/generate.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string PlantedToken() {
  return std::string("hf_") +
         "A7kQzLmNoPqRsTuVwXyZ"
         "bCdEfGhJ23456k";
}

TEST_F(TraceCli, ShowForPeople) {
  ASSERT_EQ(Show(folder.Write("a.jsonl", Session("the token is " + PlantedToken()))), kOk) << error;
  EXPECT_EQ(out,
            "Claude Code · claude-x · 2026-01-12 14:01 – 14:06 UTC\n"
            "user 1 turn · assistant 3 messages · tools: Bash 2 · 1 error · no subagents · no skills\n"
            "tokens in 20 out 10 · 1 secret would be redacted (1 hf-token line 1)\n");
  EXPECT_THAT(error, IsEmpty());
}

TEST_F(TraceCli, ShowSaysWhatAnExportLost) {
  ASSERT_EQ(Show(Fixture("claude-code-export-2.1.txt")), kOk) << error;
  EXPECT_THAT(out, HasSubstr("\nlossy: "));
  EXPECT_THAT(out, HasSubstr(" lines in the export; the session's JSONL file contains them in full\n"));
  EXPECT_THAT(out, Not(HasSubstr("note:"))) << "it is said once";
  EXPECT_THAT(out, HasSubstr("tokens unknown"));
}

TEST_F(TraceCli, ShowAsJsonHasTheDocumentedKeys) {
  ASSERT_EQ(Show(folder.Write("a.jsonl", Session("go")), {"--json"}), kOk) << error;
  const Json json = OutAsJson();
  EXPECT_EQ(json["format"], "claude-code");
  EXPECT_EQ(json["session_id"], "s");
  EXPECT_EQ(json["human_turns"], 1);
  EXPECT_EQ(json["assistant_messages"], 3);
  EXPECT_EQ(json["tool_calls"], 2);
  EXPECT_EQ(json["tool_calls_by_name"], Json::object({{"Bash", 2}}));
  EXPECT_EQ(json["tool_errors"], 1);
  EXPECT_EQ(json["subagents"], 0);
  EXPECT_EQ(json["skills_used"], Json::array());
  EXPECT_EQ(json["models"], Json::array({"claude-x"}));
  EXPECT_EQ(json["tokens"],
            Json::object({{"input", 20}, {"cache_read", nullptr}, {"cache_write", nullptr}, {"output", 10}}));
  EXPECT_EQ(json["first_timestamp"], "2026-01-12T14:01:00.000Z");
  EXPECT_EQ(json["last_timestamp"], "2026-01-12T14:06:00.000Z");
  EXPECT_EQ(json["longest_tool_output"], 22);
  EXPECT_EQ(json["unknown_records"], 0);
}

TEST_F(TraceCli, ShowEvents) {
  const fs::path file = folder.Write("a.jsonl", Session("line one\nline two \x1b[31mred " + std::string(200, 'x')));
  ASSERT_EQ(Show(file, {"--events"}), kOk) << error;
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < out.size(); at = out.find('\n', at) + 1)
    lines.push_back(out.substr(at, out.find('\n', at) - at));
  ASSERT_EQ(lines.size(), 6U) << out;
  EXPECT_THAT(lines[0], AllOf(StartsWith("    1 user   "), HasSubstr("line one line two red"), testing::EndsWith("…")));
  EXPECT_THAT(lines[2], HasSubstr("tool_result Bash (error) error: zone is ignored"));
  ASSERT_EQ(Show(file, {"--events", "--json"}), kOk);
  const Result<Json> second =
      ParseJson(out.substr(out.find('\n') + 1, out.find('\n', out.find('\n') + 1) - out.find('\n') - 1), "line 2");
  ASSERT_TRUE(second.ok());
  EXPECT_EQ((*second)["kind"], "tool_call");
  EXPECT_EQ((*second)["command"], "make test");
  EXPECT_EQ((*second)["partner"], 3);
}

TEST_F(TraceCli, ShowOfSeveral) {
  folder.Write("t/a.jsonl", Session("first"));
  folder.Write("t/b.jsonl", Session("second"));
  ASSERT_EQ(Show(folder.path() / "t", {"--json"}), kOk) << error;
  ASSERT_EQ(OutAsJson().size(), 2U);
  EXPECT_EQ(OutAsJson()[1]["source"], "b.jsonl");
  folder.Write("t/c.jsonl", "");
  EXPECT_EQ(Show(folder.path() / "t"), kFailed);
  EXPECT_THAT(out, AllOf(HasSubstr("a.jsonl\nClaude Code"), HasSubstr("b.jsonl\nClaude Code")));
  EXPECT_THAT(error, StartsWith("warning: c.jsonl: the trace is empty"));
}

TEST_F(TraceCli, SecretsStayUnlessAskedFor) {
  const fs::path file = folder.Write("a.jsonl", Session("the token is " + PlantedToken(), "I use " + PlantedToken()));
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{}, {"--json"}, {"--events"}, {"--events", "--json"}}) {
    ASSERT_EQ(Show(file, more), kOk);
    EXPECT_THAT(out + error, Not(HasSubstr(PlantedToken())));
  }
  ASSERT_EQ(Digest({file}), kOk);
  EXPECT_THAT(out, AllOf(HasSubstr("[redacted:hf-token:1]"), Not(HasSubstr(PlantedToken()))));
  EXPECT_THAT(error, HasSubstr("1 secret redacted (1 hf-token line 1)"));
  ASSERT_EQ(Digest({file}, {"--no-redact"}), kOk);
  EXPECT_THAT(out, HasSubstr(PlantedToken()));
  EXPECT_THAT(error, Not(HasSubstr("redacted")));
  ASSERT_EQ(Show(file, {"--events", "--no-redact"}), kOk);
  EXPECT_THAT(out, HasSubstr(PlantedToken()));
}

// All of the corpus that the tests of the redaction use, through every output that a trace has.
TEST_F(TraceCli, NoPlantedSecretLeaves) {
  const std::vector<Planted> planted = PlantedSecrets();
  const std::string file = folder.Write("planted.jsonl", SessionWith(planted)).string();
  const std::string log = (folder.path() / "diagnostics.log").string();
  const std::string target = (folder.path() / "digest.md").string();
  std::string everything;
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--log", log, "trace", "show", file},
                                             {"--log", log, "trace", "show", "--json", file},
                                             {"--log", log, "trace", "show", "--events", file},
                                             {"--log", log, "trace", "show", "--json", "--events", file},
                                             {"--log", log, "trace", "digest", "--budget", "200000", file},
                                             {"--log", log, "trace", "digest", "-o", target, file}}) {
    ASSERT_EQ(Run(arguments), kOk) << error;
    everything += out + error;
  }
  everything += *ReadFile(target);
  if (const Result<std::string> logged = ReadFile(log)) everything += *logged;
  EXPECT_GT(everything.size(), 100'000U);
  for (const Planted& plant : planted) EXPECT_EQ(everything.find(plant.secret), std::string::npos) << plant.kind;
}

TEST_F(TraceCli, HomeByOptionAndEmailsUnlessKept) {
  const fs::path file = folder.Write("a.jsonl", Session("in /home/ada/x, mail ada@example.com"));
  ASSERT_EQ(Show(file, {"--events", "--no-redact"}), kOk);
  EXPECT_THAT(out, HasSubstr("/home/ada/x"));
  ASSERT_EQ(Show(file, {"--events", "--redact-home"}), kOk);
  EXPECT_THAT(out, HasSubstr("in [redacted:home:1]/x, mail [redacted:email:1]"));
  ASSERT_EQ(Show(file, {"--events"}), kOk);
  EXPECT_THAT(out, HasSubstr("in /home/ada/x, mail [redacted:email:1]"));
  ASSERT_EQ(Show(file, {"--events", "--keep-emails"}), kOk);
  EXPECT_THAT(out, HasSubstr("in /home/ada/x, mail ada@example.com"));
  ASSERT_EQ(Digest({file}), kOk);
  EXPECT_THAT(out, AllOf(HasSubstr("[redacted:email:1]"), Not(HasSubstr("ada@example.com"))));
  ASSERT_EQ(Digest({file}, {"--keep-emails"}), kOk);
  EXPECT_THAT(out, HasSubstr("ada@example.com"));
}

// A file's name is shown and cited.
TEST_F(TraceCli, SecretsInFileNamesAreReplaced) {
  const std::string name = "run-" + PlantedToken() + ".jsonl";
  ASSERT_EQ(Digest({folder.Write(name, Session("fix the zone"))}), kOk) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("run-[redacted:hf-token:1].jsonl"), Not(HasSubstr(PlantedToken()))));
}

TEST_F(TraceCli, DigestOfOne) {
  ASSERT_EQ(Digest({folder.Write("a.jsonl", Session("fix the zone"))}), kOk) << error;
  EXPECT_THAT(out, StartsWith("# Digest of 1 trace\na.jsonl: Claude Code · claude-x"));
  EXPECT_THAT(out, AllOf(HasSubstr("[a.jsonl#1] Request · told by the user\nfix the zone\n"),
                         HasSubstr("[a.jsonl#3, #5] Error and its fix · ran and passed\nFailed: make test\n"),
                         HasSubstr("Works: make test ZONE=1\n")));
  EXPECT_THAT(out, testing::EndsWith("\n"));
  EXPECT_THAT(error,
              testing::MatchesRegex("digest [0-9]+ tokens, nothing left out: 1 error → fix pair, 0 files, 1 command, "
                                    "0 corrections\n"));
}

TEST_F(TraceCli, DigestOnATerminalIsSafeAndApart) {
  terminal = true;
  ASSERT_EQ(Digest({folder.Write("a.jsonl", Session("bell \a and \xE2\x80\xAE reversed"))}), kOk);
  EXPECT_THAT(out, AllOf(Not(HasSubstr("\a")), Not(HasSubstr("\xE2\x80\xAE")), testing::EndsWith("\n\n")));
}

TEST_F(TraceCli, DigestOfSeveralFolderAndPattern) {
  const fs::path a = folder.Write("t/a.jsonl", Session("fix the zone"));
  const fs::path b = folder.Write("t/b.jsonl", Session("fix the zone"));
  folder.Write("t/other.json", R"([{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}])");
  ASSERT_EQ(Digest({a, b}), kOk);
  const std::string two = out;
  EXPECT_THAT(two, AllOf(StartsWith("# Digest of 2 traces\n"), HasSubstr("\n# a.jsonl\n"), HasSubstr("\n# b.jsonl\n")));
  ASSERT_EQ(Digest({folder.path() / "t/*.jsonl"}), kOk);
  EXPECT_EQ(out, two);
  ASSERT_EQ(Digest({folder.path() / "t"}), kOk);
  EXPECT_THAT(out, StartsWith("# Digest of 3 traces\n"));
  EXPECT_EQ(Digest({folder.path() / "t/*.eval"}), kUsage);
  EXPECT_THAT(error, HasSubstr("*.eval: no file matches"));
}

TEST_F(TraceCli, DigestLeavesOutWhatCannotBeRead) {
  const fs::path good = folder.Write("a.jsonl", Session("go"));
  const fs::path empty = folder.Write("empty.jsonl", "\n");
  EXPECT_EQ(Digest({good, empty}), kFailed);
  EXPECT_THAT(out, StartsWith("# Digest of 1 trace\n"));
  EXPECT_THAT(error, StartsWith("warning: empty.jsonl: the trace is empty"));
  EXPECT_EQ(Digest({empty, folder.path() / "none.jsonl"}), kUsage);
  EXPECT_THAT(out, IsEmpty());
}

TEST_F(TraceCli, DigestOfStandardInput) {
  EXPECT_EQ(RunWithInput(Session("from a pipe"), {"trace", "digest", "-"}), kOk) << error;
  EXPECT_THAT(out, HasSubstr("told by the user\nfrom a pipe\n"));
  EXPECT_THAT(out, HasSubstr("[stdin#1"));
  EXPECT_EQ(RunWithInput("", {"trace", "show", "-"}), kUsage);
  EXPECT_THAT(error, HasSubstr("stdin: the trace is empty"));
}

TEST_F(TraceCli, DigestKeepsItsBudget) {
  std::string session;
  for (int i = 0; i < 50; ++i) {
    std::string part = Session("request number " + std::to_string(i) + " " + std::string(300, 'a'));
    for (std::size_t at = part.find("\"u"); at != std::string::npos; at = part.find("\"u", at + 1)) {
      if (part.compare(at, 7, "\"uuid\":") == 0) part.insert(at + 8, std::to_string(i) + "-");
    }
    session += part;
  }
  const fs::path file = folder.Write("long.jsonl", session);
  ASSERT_EQ(Digest({file}, {"--budget", "600"}), kOk) << error;
  EXPECT_LT(out.size(), 600U * 4);
  EXPECT_THAT(out, HasSubstr("Left out to fit the budget"));
  EXPECT_EQ(Digest({file}, {"--budget", "10"}), kUsage);
  EXPECT_EQ(Digest({file}, {"--budget", "many"}), kUsage);
}

TEST_F(TraceCli, DigestShowsWhatGenerateSends) { EXPECT_EQ(kDefaultDigestTokens, GenerateOptions().context_tokens); }

TEST_F(TraceCli, DigestIntoAFile) {
  const fs::path target = folder.path() / "digest.md";
  ASSERT_EQ(Digest({folder.Write("a.jsonl", Session("go"))}, {"-o", target.string()}), kOk);
  EXPECT_THAT(out, IsEmpty());
  EXPECT_THAT(error, StartsWith("digest "));
  EXPECT_THAT(*ReadFile(target), StartsWith("# Digest of 1 trace\n"));
  ASSERT_EQ(Digest({folder.path() / "a.jsonl"}, {"-o", target.string(), "-q"}), kOk);
  EXPECT_THAT(error, IsEmpty());
  EXPECT_NE(Digest({folder.path() / "a.jsonl"}, {"-o", (folder.path() / "none/digest.md").string()}), kOk);
  EXPECT_THAT(error, StartsWith("error: "));
}

TEST_F(TraceCli, FindListsNewestFirst) {
  folder.Write("home/.claude/projects/-p/old.jsonl", std::string(1640, '\n'));
  folder.Write("home/.codex/sessions/2026/01/02/rollout-new.jsonl", "{}\n");
  SetAge(home() / ".claude/projects/-p/old.jsonl", 1'767'225'600);
  SetAge(home() / ".codex/sessions/2026/01/02/rollout-new.jsonl", 1'767'225'660);
  ASSERT_EQ(Run({"trace", "find"}), kOk) << error;
  EXPECT_EQ(out, "2026-01-01 00:01  codex             3 B  " +
                     (home() / ".codex/sessions/2026/01/02/rollout-new.jsonl").string() +
                     "\n2026-01-01 00:00  claude-code    1.6 kB  " +
                     (home() / ".claude/projects/-p/old.jsonl").string() + "\n");
  ASSERT_EQ(Run({"trace", "find", "--agent", "claude-code", "--json"}), kOk);
  ASSERT_EQ(OutAsJson().size(), 1U);
  EXPECT_EQ(OutAsJson()[0]["agent"], "claude-code");
  EXPECT_EQ(OutAsJson()[0]["modified"], "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(OutAsJson()[0]["path"], (home() / ".claude/projects/-p/old.jsonl").string());
  ASSERT_EQ(Run({"trace", "find", "-n", "1"}), kOk);
  EXPECT_THAT(error, HasSubstr("and 1 more"));
}

TEST_F(TraceCli, FindWithoutTracesAndWithUnknownAgent) {
  EXPECT_EQ(Run({"trace", "find", "--json"}), kOk);
  EXPECT_EQ(OutAsJson(), Json::array());
  EXPECT_EQ(Run({"trace", "find", "--agent", "nobody"}), kUsage);
  EXPECT_THAT(error, HasSubstr("must be one of claude-code, codex"));
  variables.erase("HOME");
  EXPECT_EQ(Run({"trace", "find"}), kUsage);
  EXPECT_THAT(error, HasSubstr("HOME is not set"));
}

TEST_F(TraceCli, LatestIsTheNewest) {
  EXPECT_EQ(Run({"trace", "show", "latest"}), kUsage);
  EXPECT_THAT(error, HasSubstr("latest: no traces"));
  folder.Write("home/.claude/projects/-p/old.jsonl", Session("the old one"));
  folder.Write("home/.claude/projects/-p/new.jsonl", Session("the new one"));
  SetAge(home() / ".claude/projects/-p/old.jsonl", 1000);
  EXPECT_EQ(Run({"trace", "digest", "latest"}), kOk) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("the new one"), Not(HasSubstr("the old one"))));
}

TEST_F(TraceCli, UsageErrors) {
  const std::string file = folder.Write("a.jsonl", Session("go")).string();
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"trace"},
                                             {"trace", "show"},
                                             {"trace", "digest"},
                                             {"trace", "frobnicate"},
                                             {"trace", "show", file, "--frobnicate"},
                                             {"trace", "show", file, "--format", "fax"},
                                             {"trace", "find", "-n", "few"}}) {
    EXPECT_EQ(Run(arguments), kUsage);
    EXPECT_THAT(error, StartsWith("error: "));
    EXPECT_THAT(out, IsEmpty());
  }
  ASSERT_EQ(Run({"trace", "show", file, "--format", "fax"}), kUsage);
  EXPECT_THAT(error, HasSubstr("must be one of claude-code, "));
}

}  // namespace
}  // namespace upskill
