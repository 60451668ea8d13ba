// SPDX-License-Identifier: Apache-2.0
// What the real binary does with input that is made to exhaust time or memory.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "eval/journal/journal.h"
#include "support/loopback_server.h"
#include "support/subprocess.h"
#include "util/json.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using loopback::Answer;
using loopback::Request;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string SmallAnswer(const std::string& text, const std::string& more = "") {
  return R"({"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":")" +
         text + R"("}}],"usage":{"prompt_tokens":10,"completion_tokens":5})" + more + "}";
}

class Limits : public testing::Test {
 protected:
  void WriteSkill(const std::string& cases) {
    folder.Write("s/SKILL.md", "---\nname: s\ndescription: For the test.\n---\n\nSay ok.\n");
    folder.Write("s/skill_meta.json", cases);
  }
  // Runs the binary with at most this much memory for its data, where that can be limited.
  ProcessOutcome RunWithin(int megabytes, const std::string& command) const {
#ifdef UPSKILL_SANITIZED
    static_cast<void>(megabytes);
    return RunShell("\"$UPSKILL\" " + command, folder.path());
#else
    return RunShell(fmt::format("ulimit -d {} && \"$UPSKILL\" {}", megabytes * 1024, command), folder.path());
#endif
  }
  ProcessOutcome Eval(const std::string& url, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> command = {"eval", "s", "--base-url", url, "-m", "generic.m", "-q", "--runs", "1"};
    command.insert(command.end(), more.begin(), more.end());
    return RunUpskill(command, folder.path());
  }
  std::vector<Sample> Samples() const {
    const Result<fs::path> run = ResolveRun(folder.path() / "runs", "latest");
    EXPECT_TRUE(run.ok());
    Result<JournalContent> content = ReadJournal(*run);
    EXPECT_TRUE(content.ok());
    return std::move(content->samples);
  }

  const TempFolder folder;
  const std::string suite = R"({"tests": [{"id": "a", "input": "Say ok", "expected": {"contains": ["ok"]}}]})";
};

TEST_F(Limits, ASuiteOfManyKeysStringsAndFilesRuns) {
  std::string keys;
  std::string strings;
  std::string files;
  for (int i = 0; i < 20'000; ++i) {
    const char* comma = i == 0 ? "" : ",";
    keys += fmt::format(R"({}"key {}":1)", comma, i);
    strings += fmt::format(R"({}"string {}")", comma, i);
    files += fmt::format(R"({}"file-{}":"text")", comma, i);
  }
  WriteSkill(R"({"metadata": {)" + keys + R"(}, "tests": [{"input": "Say them", "expected": {"contains": [)" + strings +
             R"(]}, "context": {"files": {)" + files + "}}}]}");
  const ProcessOutcome outcome = RunWithin(1500, "eval s -m sim:base=0,skill=1 --runs 1 -q");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
}

TEST_F(Limits, TooLittleMemoryIsAnError) {
#ifdef UPSKILL_SANITIZED
  GTEST_SKIP() << "sanitizers need more memory than the limit";
#else
  std::string values;
  for (int i = 0; i < 1'000'000; ++i) values += R"(,[{"a":[]}])";
  WriteSkill(R"({"tests": [{"input": "Say ok", "expected": {"contains": ["ok"]}, "more": [0)" + values + "]}]}");
  const ProcessOutcome outcome = RunWithin(150, "eval s -m sim:base=0,skill=1 --runs 1 -q");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("error: s/skill_meta.json: too large"));
#endif
}

// Each invalid byte becomes three; lines of samples.jsonl got too long to be read.
TEST_F(Limits, AnOverlongAnswerIsCutAndTheRunStaysReadable) {
  WriteSkill(suite);
  const loopback::Server server(
      [](const Request&) { return Answer(200, SmallAnswer("ok " + std::string(26'000'000, '\xFF'))); });
  const ProcessOutcome outcome = Eval(server.url());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("1 cut at 8 MiB"));
  const std::vector<Sample> samples = Samples();
  ASSERT_EQ(samples.size(), 2U);
  for (const Sample& sample : samples) {
    EXPECT_TRUE(sample.passed());
    EXPECT_EQ(sample.cut_from, 3U + 3 * 26'000'000U);
    EXPECT_LE(sample.response.text.size(), kMaxAnswerBytes);
  }
  const ProcessOutcome report = RunUpskill({"report", "latest"}, folder.path());
  EXPECT_EQ(report.exit_code, 0) << report.error;
  EXPECT_THAT(report.out, HasSubstr("1 cut at 8 MiB"));
}

TEST_F(Limits, AnOverlongLineIsSkippedAndItsCellIsRequestedAgain) {
  WriteSkill(suite);
  const loopback::Server server([](const Request&) { return Answer(200, SmallAnswer("ok")); });
  ASSERT_EQ(Eval(server.url()).exit_code, 0);
  const Result<fs::path> run = ResolveRun(folder.path() / "runs", "latest");
  ASSERT_TRUE(run.ok());
  // Written by an earlier version.
  ASSERT_EQ(RunShell("cd runs/*/ && { head -1 samples.jsonl; printf '{\"schema\":1,\"answer\":\"'; head -c 150000000 "
                     "/dev/zero | tr '\\0' x; echo '\"}'; } > new && mv new samples.jsonl",
                     folder.path())
                .exit_code,
            0);
  const ProcessOutcome report = RunUpskill({"report", "latest"}, folder.path());
  EXPECT_THAT(report.error, HasSubstr("1 line of samples.jsonl could not be read"));
  const std::size_t before = server.requests().size();
  const ProcessOutcome resumed =
      RunUpskill({"eval", "s", "--base-url", server.url(), "--resume", "latest"}, folder.path());
  EXPECT_EQ(resumed.exit_code, 0) << resumed.error;
  EXPECT_THAT(resumed.error, HasSubstr("samples.jsonl could not be read; cells without another answer are requested"));
  EXPECT_EQ(server.requests().size(), before + 1);
  EXPECT_EQ(Samples().size(), 2U);
}

// One thread serves all requests: a hostile answer must neither hold it up nor exhaust the memory.
TEST_F(Limits, HostileAnswersCostOnlyTheirCell) {
  std::string keys;
  for (int i = 0; i < 90'000; ++i) keys += fmt::format(R"(,"key {}":1)", i);
  std::string lists = ",\"more\":[0";
  for (int i = 0; i < 5'000'000; ++i) lists += ",[]";
  WriteSkill(suite);
  struct Hostile {
    std::string body;
    bool packed = false;
    std::string error;  // empty: the answer is usable
  };
  const std::vector<Hostile> all = {
      {SmallAnswer("ok", keys), false, ""},
      {SmallAnswer("ok", lists + "]"), false, "the server's response: too large: it has more than 250,000 values"},
      {SmallAnswer("ok", lists + "]"), true, "is compressed and unpacks to more than 100 times its size"},
  };
  for (const Hostile& hostile : all) {
    const loopback::Server server(
        [&](const Request&) { return hostile.packed ? loopback::Gzip(200, hostile.body) : Answer(200, hostile.body); });
    const ProcessOutcome outcome =
        RunWithin(300, fmt::format("eval s --base-url {} -m generic.m --runs 1 --refresh", server.url()));
    EXPECT_EQ(outcome.exit_code, hostile.error.empty() ? 0 : 3) << outcome.error;
    if (!hostile.error.empty()) {
      const std::vector<Sample> samples = Samples();
      ASSERT_FALSE(samples.empty());
      ASSERT_TRUE(samples[0].error.has_value());
      EXPECT_THAT(samples[0].error->message, HasSubstr(hostile.error));
    }
  }
}

// The first two signals ask for an end; whatever doesn't listen is ended by the third.
TEST_F(Limits, TheThirdSignalEndsTheProcess) {
  const ProcessOutcome outcome = RunShell(
      "mkfifo pipe; exec 3<>pipe; \"$UPSKILL\" trace show - <pipe & pid=$!\n"
      "until [ $((0x$(sed -n 's/SigCgt:[[:space:]]*//p' /proc/$pid/status) & 0x4000)) -ne 0 ]; do :; done\n"
      "for i in $(seq 500); do kill -TERM $pid 2>/dev/null || break; sleep 0.02; done\n"
      "kill -KILL $pid 2>/dev/null; wait $pid",
      folder.path());
  EXPECT_EQ(outcome.exit_code, 130);
}

}  // namespace
}  // namespace upskill
