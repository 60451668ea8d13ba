// SPDX-License-Identifier: Apache-2.0
#include "trace/load/find_traces.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>

#include "trace/load/read_trace.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

class FindTracesTest : public testing::Test {
 protected:
  void SetUp() override {
    home_ = fs::path(testing::TempDir()) /
            ("find-traces-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(home_);
    fs::create_directories(home_);
  }
  void TearDown() override { fs::remove_all(home_); }

  void Put(const std::string& file, time_t modified) const {
    const fs::path path = home_ / file;
    fs::create_directories(path.parent_path());
    ASSERT_TRUE(WriteFileAtomically(path, "{}\n").ok());
    const timespec times[2] = {{modified, 0}, {modified, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  std::optional<std::string> Variable(const std::string& name) const {
    if (name == "HOME") return home_.string();
    const auto found = variables_.find(name);
    return found == variables_.end() ? std::nullopt : std::optional(found->second);
  }
  std::vector<std::string> Names(const std::string& agent) const {
    const auto found = FindTraces([this](const std::string& name) { return Variable(name); }, agent);
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
    std::vector<std::string> names;
    if (!found) return names;
    for (const FoundTrace& trace : *found)
      names.push_back(trace.agent + " " + trace.path.lexically_relative(home_).string());
    return names;
  }

  fs::path home_;
  std::map<std::string, std::string> variables_;
};

// Each subagent of Codex has a rollout of its own, which is part of its parent's session.
TEST_F(FindTracesTest, RolloutsOfSubagentsBelongToTheirParent) {
  const fs::path folder = home_ / ".codex/sessions/2026/01";
  const auto put = [&](const std::string& file, const std::string& text) {
    fs::create_directories((folder / file).parent_path());
    ASSERT_TRUE(WriteFileAtomically(folder / file, text).ok());
  };
  const std::string said = R"({"type":"response_item","payload":{"type":"message","role":"user","content":"Look"}})";
  const std::string activity =
      R"({"type":"event_msg","payload":{"type":"sub_agent_activity","agent_thread_id":"child","agent_path":"helper"}})";
  const std::string copied =
      R"({"ordinal":1,"type":"response_item","payload":{"type":"message","role":"assistant","content":"Copied"}})";
  const std::string found =
      R"({"ordinal":2,"type":"response_item","payload":{"type":"message","role":"assistant","content":"Found"}})";
  const std::string child =
      R"({"type":"session_meta","payload":{"id":"child","subagent_history_start_ordinal":2,"source":)"
      R"({"subagent":{"thread_spawn":{"parent_thread_id":"parent"}}}}})";
  const std::string parent = R"({"type":"session_meta","payload":{"id":"parent"}})";
  put("02/rollout-a-parent.jsonl", parent + "\n" + said + "\n" + activity + "\n");
  put("03/rollout-b-child.jsonl", child + "\n" + copied + "\n" + said + "\n" + found + "\n");
  EXPECT_EQ(Names("codex"), std::vector<std::string>{"codex .codex/sessions/2026/01/02/rollout-a-parent.jsonl"});
  const auto files = ExpandTraceArgument(folder.string());
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 1U);
  const Result<Trace> trace = ReadTrace(files->front(), {});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->subagents.size(), 1U);
  ASSERT_EQ(trace->events.size(), 3U);
  EXPECT_EQ(trace->events[1].kind, EventKind::kSystem);
  EXPECT_EQ(trace->events[2].text, "Found");
  EXPECT_EQ(trace->events[2].agent, "child");
}

TEST_F(FindTracesTest, NewestFirstAndByAgent) {
  Put(".claude/projects/-p/a.jsonl", 1000);
  Put(".claude/projects/-p/agent-x.jsonl", 5000);
  Put(".codex/sessions/2026/01/02/rollout-1.jsonl", 3000);
  Put(".codex/sessions/2026/01/02/other.jsonl", 9000);
  Put(".gemini/tmp/ab/chats/session-1.json", 2000);
  EXPECT_EQ(Names(""), (std::vector<std::string>{"codex .codex/sessions/2026/01/02/rollout-1.jsonl",
                                                 "gemini .gemini/tmp/ab/chats/session-1.json",
                                                 "claude-code .claude/projects/-p/a.jsonl"}));
  EXPECT_EQ(Names("claude-code"), (std::vector<std::string>{"claude-code .claude/projects/-p/a.jsonl"}));
  variables_["CODEX_HOME"] = (home_ / "elsewhere").string();
  Put("elsewhere/sessions/rollout-9.jsonl", 100);
  EXPECT_EQ(Names("codex"), (std::vector<std::string>{"codex elsewhere/sessions/rollout-9.jsonl"}));
}

TEST_F(FindTracesTest, LinkLoopsAndUnknownAgents) {
  Put(".claude/projects/-p/a.jsonl", 1000);
  fs::create_directory_symlink(home_ / ".claude", home_ / ".claude/projects/-p/loop");
  EXPECT_EQ(Names("claude-code").size(), 1U);
  const auto unknown = FindTraces([this](const std::string& name) { return Variable(name); }, "nobody");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("known: claude-code, codex"), std::string::npos) << unknown.error().message;
}

TEST_F(FindTracesTest, FoldersAndPatterns) {
  Put("t/b.jsonl", 1);
  Put("t/a.json", 1);
  Put("t/deep/c.eval", 1);
  Put("t/picture.png", 1);
  fs::create_directory_symlink(home_ / "t", home_ / "t/deep/loop");
  const auto folder = ExpandTraceArgument((home_ / "t").string());
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(*folder, (std::vector<fs::path>{home_ / "t/a.json", home_ / "t/b.jsonl", home_ / "t/deep/c.eval"}));
  const auto pattern = ExpandTraceArgument((home_ / "t/*.json").string());
  ASSERT_TRUE(pattern.ok());
  EXPECT_EQ(*pattern, (std::vector<fs::path>{home_ / "t/a.json"}));
  EXPECT_FALSE(ExpandTraceArgument((home_ / "t/*.nothing").string()).ok());
}

}  // namespace
}  // namespace upskill
