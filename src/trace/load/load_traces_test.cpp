// SPDX-License-Identifier: Apache-2.0
#include "trace/load/load_traces.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/planted_secrets.h"
#include "trace/digest/digest.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

const VariableLookup kNoVariables = [](const std::string&) { return std::optional<std::string>("/no/such/folder"); };

std::string Session(const std::string& prompt) {
  return R"({"type":"user","uuid":"u1","sessionId":"s","message":{"role":"user","content":")" + prompt + "\"}}\n";
}

std::vector<std::string> Shown(const Result<std::vector<TraceName>>& names) {
  std::vector<std::string> shown;
  if (names) {
    for (const TraceName& name : *names) shown.push_back(name.shown);
  }
  return shown;
}

TEST(LoadTracesTest, NamesIdentifyTraces) {
  const TempFolder folder;
  for (const char* file : {"t/a/x/events.jsonl", "t/b/x/events.jsonl", "t/c/events.jsonl", "t/other.jsonl"})
    folder.Write(file, Session("go"));
  const auto names =
      ExpandTraceArguments({(folder.path() / "t").string(), (folder.path() / "t/other.jsonl").string()}, kNoVariables);
  ASSERT_TRUE(names.ok()) << names.error().message;
  EXPECT_EQ(Shown(names),
            (std::vector<std::string>{"a/x/events.jsonl", "b/x/events.jsonl", "c/events.jsonl", "other.jsonl"}));
  const Result<LoadedTraces> loaded = LoadTraces({(folder.path() / "t").string()}, kNoVariables, {});
  ASSERT_TRUE(loaded.ok());
  EXPECT_NE(MakeDigest(loaded->traces, {kDefaultDigestTokens, false})
                .text.find("a/x/events.jsonl#1, b/x/events.jsonl#1, c/events.jsonl#1"),
            std::string::npos);
}

TEST(LoadTracesTest, PatternsInFoldersAndStandardInput) {
  const TempFolder folder;
  folder.Write("t/a/one.jsonl", Session("go"));
  folder.Write("t/b/two.jsonl", Session("go"));
  folder.Write("t/b/deep/three.jsonl", Session("go"));
  const std::string root = folder.path().string();
  EXPECT_EQ(Shown(ExpandTraceArguments({root + "/t/*/*.jsonl"}, kNoVariables)),
            (std::vector<std::string>{"one.jsonl", "two.jsonl"}));
  // A matching folder gives its traces.
  EXPECT_EQ(Shown(ExpandTraceArguments({root + "/t/[b]"}, kNoVariables)),
            (std::vector<std::string>{"three.jsonl", "two.jsonl"}));
  EXPECT_EQ(Shown(ExpandTraceArguments({"-", "-"}, kNoVariables)), std::vector<std::string>{"stdin"});
  EXPECT_FALSE(ExpandTraceArguments({""}, kNoVariables).ok());
  EXPECT_EQ(ExpandTraceArguments({root + "/t/*.eval"}, kNoVariables).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(ExpandTraceArguments({"latest"}, kNoVariables).error().kind, ErrorKind::kNotFound);
}

TEST(LoadTracesTest, SubagentsAreReadWithTheirSession) {
  const TempFolder folder;
  folder.Write("p/s1.jsonl", Session("go"));
  folder.Write("p/s1/subagents/agent-1.jsonl", Session("inner"));
  folder.Write("p/gone/subagents/agent-2.jsonl", Session("its session is not here"));
  EXPECT_EQ(Shown(ExpandTraceArguments({(folder.path() / "p").string()}, kNoVariables)),
            (std::vector<std::string>{"agent-2.jsonl", "s1.jsonl"}));
}

TEST(LoadTracesTest, SecretsHaveOneNumberInAllTraces) {
  const TempFolder folder;
  const std::string secret = PlantedSecrets().front().secret;
  folder.Write("a.jsonl", Session("key " + secret));
  folder.Write("b.jsonl", Session("again " + secret));
  const Result<LoadedTraces> loaded = LoadTraces({(folder.path() / "*.jsonl").string()}, kNoVariables, {});
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->traces[0].events[0].text, "key [redacted:anthropic-key:1]");
  EXPECT_EQ(loaded->traces[1].events[0].text, "again [redacted:anthropic-key:1]");
  EXPECT_EQ(loaded->redactions.size(), 2U);
  TraceLoadOptions open;
  open.keep_secrets = true;
  EXPECT_EQ(LoadTraces({(folder.path() / "a.jsonl").string()}, kNoVariables, open)->traces[0].events[0].text,
            "key " + secret);
}

TEST(LoadTracesTest, WhatCannotBeReadIsNamed) {
  const TempFolder folder;
  folder.Write("good.jsonl", Session("go"));
  folder.Write("empty.jsonl", "");
  const Result<LoadedTraces> loaded = LoadTraces({(folder.path() / "*.jsonl").string()}, kNoVariables, {});
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->traces.size(), 1U);
  ASSERT_EQ(loaded->unread.size(), 1U);
  EXPECT_NE(loaded->unread[0].message.find("empty.jsonl: the trace is empty"), std::string::npos);
  const Result<LoadedTraces> none =
      LoadTraces({(folder.path() / "empty.jsonl").string(), "/no/such"}, kNoVariables, {});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("none of the 2 traces could be read:\n  empty.jsonl: the trace is empty"),
            std::string::npos)
      << none.error().message;
  EXPECT_NE(none.error().message.find("\n  reading /no/such: No such file"), std::string::npos) << none.error().message;
}

// A session that another process is still writing: only the complete lines at the time of reading.
TEST(LoadTracesTest, SessionThatIsStillWritten) {
  const TempFolder folder;
  const fs::path file = folder.Write("live.jsonl", Session("first"));
  std::ofstream writer(file, std::ios::app);
  writer << R"({"type":"user","uuid":"u2","sessionId":"s","message":{"role":"us)" << std::flush;
  const Result<LoadedTraces> early = LoadTraces({file.string()}, kNoVariables, {});
  ASSERT_TRUE(early.ok()) << early.error().message;
  EXPECT_EQ(early->traces[0].events.size(), 1U);
  EXPECT_EQ(early->traces[0].problems.size(), 1U);
  writer << R"(er","content":"second"}})" << "\n" << std::flush;
  const Result<LoadedTraces> late = LoadTraces({file.string()}, kNoVariables, {});
  ASSERT_TRUE(late.ok());
  EXPECT_EQ(late->traces[0].events.size(), 2U);
  EXPECT_TRUE(late->traces[0].problems.empty());
}

}  // namespace
}  // namespace upskill
