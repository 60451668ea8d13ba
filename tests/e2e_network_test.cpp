// SPDX-License-Identifier: Apache-2.0
// Runs of the real binary against scripted servers: what breaks, what costs, what must stop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "eval/journal/journal.h"
#include "eval/plan/cell.h"
#include "eval/verdict/summary.h"
#include "support/loopback_server.h"
#include "support/subprocess.h"
#include "util/json.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using loopback::Answer;
using loopback::Request;
using loopback::Script;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

namespace fs = std::filesystem;
using std::chrono::milliseconds;

std::string ChatBody(const std::string& text, const std::string& more = "") {
  return R"({"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":")" +
         text + R"("}}],"usage":{"prompt_tokens":10,"completion_tokens":5)" + more + "}}";
}

// The case that a request belongs to: its user message is the case's id.
std::string CaseOf(const Request& request) {
  const Json body = Json::parse(request.body, nullptr, false);
  return body.is_discarded() ? "" : body["messages"].back()["content"].get<std::string>();
}
std::string ModelOf(const Request& request) { return Json::parse(request.body)["model"].get<std::string>(); }

class Network : public testing::Test {
 protected:
  void WriteSuite(const std::vector<std::string>& ids) {
    folder.Write("s/SKILL.md", "---\nname: s\ndescription: For the test.\n---\n\nSay ok.\n");
    Json cases = Json::array();
    for (const std::string& id : ids)
      cases.push_back({{"id", id}, {"input", id}, {"expected", {{"contains", {"ok"}}}}});
    folder.Write("s/skill_meta.json", DumpJson({{"tests", cases}}));
  }
  static std::vector<std::string> Ids(int count) {
    std::vector<std::string> ids;
    for (int i = 0; i < count; ++i) ids.push_back("case-" + std::to_string(i));
    return ids;
  }

  ProcessOutcome Eval(const std::string& url, const std::vector<std::string>& more,
                      const std::vector<std::string>& models = {"generic.m"}) {
    std::vector<std::string> command = {"eval", "s", "--base-url", url, "-q"};
    for (const std::string& model : models) command.insert(command.end(), {"-m", model});
    command.insert(command.end(), more.begin(), more.end());
    return RunUpskill(command, folder.path());
  }

  fs::path Run() const {
    const Result<fs::path> run = ResolveRun(folder.path() / "runs", "latest");
    EXPECT_TRUE(run.ok());
    return run ? *run : fs::path();
  }
  RunSummary Summary() const {
    const Result<RunData> data = RunData::Read(Run());
    CHECK(data.ok());
    return Summarize(*data);
  }
  std::vector<Sample> Samples() const {
    Result<JournalContent> content = ReadJournal(Run());
    CHECK(content.ok());
    return std::move(content->samples);
  }

  const TempFolder folder;
};

// Permanent faults: each costs only its cell.
const std::map<std::string, std::function<Script()>>& LastingFaults() {
  static const std::map<std::string, std::function<Script()>> faults = {
      {"status-500", [] { return Answer(500, R"({"error":{"message":"boom"}})"); }},
      {"status-408", [] { return Answer(408, "{}"); }},
      {"cut-before", [] { return loopback::CutBeforeHeaders(); }},
      {"cut-in-body", [] { return loopback::CutInBody(ChatBody("ok")); }},
      {"no-http", [] { return loopback::Garbage(); }},
      {"garbage-json", [] { return Answer(200, R"({"choices":[{"mess)"); }},
      {"html", [] { return loopback::Chunked(200, {"<html>busy</html>"}, {{"Content-Type", "text/html"}}); }},
      {"error-in-200", [] { return Answer(200, R"({"error":{"code":503,"message":"overloaded"}})"); }},
      {"no-choices", [] { return Answer(200, R"({"model":"m","choices":[]})"); }},
      {"broken-gzip", [] { return Answer(200, "no gzip", {{"Content-Encoding", "gzip"}}); }},
      {"wrong-length", [] { return loopback::WrongLength(100'000, ChatBody("ok")); }},
      {"too-large", [] { return loopback::Endless(80); }},
      {"bad-request", [] { return Answer(400, R"({"error":{"message":"the prompt is odd"}})"); }},
      {"not-utf8-json", [] { return Answer(200, "\xff\xfe{}"); }},
  };
  return faults;
}

// Temporary faults: the answer arrives without the user doing anything.
Script Passing(const std::string& id, int times_asked) {
  const bool first = times_asked == 1;
  if (id == "429" && first) return loopback::RateLimit();
  if (id == "429-after" && first) return loopback::RateLimit({{"Retry-After", "1"}});
  if (id == "429-skewed" && first) {
    // The server's clock is years off; the date it names is one second after its own time.
    return loopback::RateLimit(
        {{"Date", "Thu, 01 Jan 2015 00:00:00 GMT"}, {"Retry-After", "Thu, 01 Jan 2015 00:00:01 GMT"}});
  }
  if (id == "529" && first) return Answer(529, R"({"error":{"type":"overloaded_error","message":"Overloaded"}})");
  if (id == "503-once" && first) return Answer(503, "{}");
  if (id == "cut-once" && first) return loopback::CutInBody(ChatBody("ok"));
  if (id == "drip") return loopback::Drip(ChatBody("ok"), milliseconds(2));
  if (id == "gzip") return loopback::Gzip(200, ChatBody("ok"));
  if (id == "chunked") return loopback::Chunked(200, {ChatBody("ok").substr(0, 7), ChatBody("ok").substr(7)});
  if (id == "not-utf8") return Answer(200, ChatBody("ok \xff\xfe"));
  return Answer(200, ChatBody("ok"));
}

TEST_F(Network, AHostileServerLosesNothingAndFailsNobody) {
  std::vector<std::string> ids = {"429",  "429-after", "429-skewed", "529",      "503-once", "cut-once",
                                  "drip", "gzip",      "chunked",    "not-utf8", "fine"};
  for (const auto& [id, script] : LastingFaults()) ids.push_back(id);
  WriteSuite(ids);
  std::atomic<bool> fixed = false;
  std::map<std::string, int> asked;  // on the server's thread
  const loopback::Server server([&](const Request& request) -> Script {
    const std::string id = CaseOf(request);
    const auto fault = LastingFaults().find(id);
    if (fault != LastingFaults().end() && !fixed) return fault->second();
    return Passing(id, ++asked[request.body]);
  });
  const std::size_t faults = LastingFaults().size();
  const ProcessOutcome first = Eval(server.url(), {"-j", "8"});
  EXPECT_EQ(first.exit_code, 3) << first.error;
  EXPECT_THAT(first.error, AllOf(HasSubstr("--resume"), HasSubstr(std::to_string(2 * faults) + " with errors"),
                                 Not(HasSubstr("error: model"))));
  for (const Sample& sample : Samples()) {
    if (LastingFaults().contains(sample.case_id)) {
      EXPECT_FALSE(sample.ok()) << sample.case_id;
    } else if (sample.ok()) {
      EXPECT_TRUE(sample.passed()) << sample.case_id << ": " << sample.response.text;
    }
  }
  const RunSummary before = Summary();
  EXPECT_EQ(before.answered, before.cells - 2 * faults);
  for (const auto& [arm, summary] : before.students[0].arms)
    EXPECT_EQ(summary.passed, summary.answered) << "an error is not a failed answer";

  fixed = true;
  const ProcessOutcome resumed = Eval(server.url(), {"-j", "8", "--resume"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.error;
  const RunSummary after = Summary();
  EXPECT_TRUE(after.complete());
  for (const auto& [arm, summary] : after.students[0].arms) EXPECT_EQ(summary.passed, ids.size());
  std::map<std::string, int> answers;
  for (const Sample& sample : Samples()) answers[CellName(sample)] += sample.ok() ? 1 : 0;
  EXPECT_THAT(answers, SizeIs(2 * ids.size()));
  for (const auto& [cell, count] : answers) EXPECT_EQ(count, 1) << cell;
}

// 0.0.0.0 also reaches this machine, but the program treats it as a server elsewhere, one that costs money.
std::string Elsewhere(const loopback::Server& server) { return "http://0.0.0.0:" + std::to_string(server.port()); }

TEST_F(Network, AWrongKeyStopsItsModelAfterTheFirstFewAndOthersGoOn) {
  WriteSuite(Ids(100));
  std::atomic<int> refused = 0;
  const loopback::Server server([&](const Request& request) -> Script {
    if (ModelOf(request) == "good") return Answer(200, ChatBody("ok"));
    ++refused;
    return Answer(401, R"({"error":{"message":"invalid key"}})");
  });
  const ProcessOutcome outcome = Eval(Elsewhere(server), {"--runs", "5"}, {"generic.bad", "generic.good"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.error;
  EXPECT_LE(refused, 8);
  EXPECT_GE(refused, 3);
  EXPECT_THAT(outcome.error,
              AllOf(HasSubstr("error: model generic.bad: HTTP 401"), HasSubstr("invalid key"), HasSubstr("--resume")));
  const RunSummary summary = Summary();
  EXPECT_EQ(summary.answered, 1000U);
  EXPECT_EQ(summary.students[1].arms.at(Arm::kSkill).answered, 500U);
}

TEST_F(Network, UnknownModelsAndEmptyAccountsStopToo) {
  WriteSuite(Ids(50));
  for (const int status : {402, 404}) {
    std::atomic<int> requests = 0;
    const loopback::Server server([&](const Request&) -> Script {
      ++requests;
      return Answer(status, R"({"error":{"message":"no"}})");
    });
    EXPECT_EQ(Eval(Elsewhere(server), {"--no-cache"}).exit_code, 3);
    EXPECT_LE(requests, 8) << status;
  }
}

TEST_F(Network, TheCostLimitHolds) {
  WriteSuite(Ids(40));
  std::atomic<int> requests = 0;
  const loopback::Server server([&](const Request&) -> Script {
    ++requests;
    return Answer(200, ChatBody("ok", R"(,"cost":0.01)"));
  });
  // What a request may cost is a little more than what it does cost.
  folder.Write("models.toml", "[[price]]\nproviders = [\"generic\"]\nmodels = [\"m\"]\ninput = 1\noutput = 105\n");
  const auto eval = [&](const std::string& options) {
    const std::string command = "UPSKILL_MODELS=models.toml \"$UPSKILL\" eval s -q -m generic.m --base-url ";
    return RunShell(command + server.url() + " " + options, folder.path());
  };
  const ProcessOutcome outcome = eval("--max-tokens 100 --max-cost 0.155");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.error;
  EXPECT_EQ(requests, 15);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("stopped: $0.150 of $0.155 spent"),
                                   HasSubstr("15 of 80 cells answered, 65 unanswered"), HasSubstr("--resume")));
  const ProcessOutcome resumed = eval("--resume");
  EXPECT_EQ(resumed.exit_code, 3) << resumed.error;
  EXPECT_EQ(requests, 30) << "the limit of the run is recalled, and holds for each time that it is continued";
  EXPECT_EQ(eval("--resume --max-cost 10").exit_code, 0);
  EXPECT_EQ(requests, 80) << "paid answers are not requested again";
}

TEST_F(Network, ACostLimitNeedsAPrice) {
  WriteSuite(Ids(4));
  const loopback::Server server([&](const Request&) -> Script { return Answer(200, ChatBody("ok")); });
  for (const std::string& url : {Elsewhere(server), server.url()}) {  // a server on this machine may be a gateway
    const ProcessOutcome outcome = Eval(url, {"--max-cost", "1"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.error, AllOf(HasSubstr("the price of model 'generic.m' is unknown"),
                                     HasSubstr("input = 0 and output = 0 if its server is free")));
  }
  EXPECT_EQ(server.request_count(), 0U);
}

TEST_F(Network, AServerThatReportsNoUsageEndsARunWithALimit) {
  WriteSuite(Ids(40));
  const loopback::Server server([&](const Request&) -> Script {
    return Answer(200, R"({"model":"m","choices":[{"finish_reason":"stop","message":{"content":"ok"}}]})");
  });
  const ProcessOutcome outcome = Eval(server.url(), {"--max-tokens-total", "100000", "-j", "4"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.error;
  EXPECT_THAT(outcome.error,
              HasSubstr("generic.m doesn't report what its answers use, so the limit on tokens can't be enforced"));
  EXPECT_LE(server.request_count(), 8U);
}

TEST_F(Network, ASilentServerDoesNotOutliveTheTimeLimit) {
  WriteSuite(Ids(4));
  const loopback::Server server([](const Request&) -> Script { return loopback::Silence(); });
  const auto start = std::chrono::steady_clock::now();
  const ProcessOutcome outcome = Eval(server.url(), {"--timeout", "1s"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.error;
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("the time limit of 0:01 was reached"), HasSubstr("--resume")));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60))
      << "the request itself may take an hour";
}

TEST_F(Network, TheTokenLimitHolds) {
  WriteSuite(Ids(40));
  std::atomic<int> requests = 0;
  const loopback::Server server([&](const Request&) -> Script {
    ++requests;
    return Answer(200, ChatBody("ok"));
  });
  const ProcessOutcome outcome = Eval(server.url(), {"--max-tokens-total", "600", "--max-tokens", "5"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.error;
  EXPECT_LE(requests, 40);  // of 15 tokens each
  EXPECT_GE(requests, 25) << "all is used up but what a single request might take";
  EXPECT_THAT(outcome.error,
              AllOf(HasSubstr("of 600 tokens used, and the next answer may take"), HasSubstr("--resume")));
}

TEST_F(Network, TheTimeLimitHolds) {
  WriteSuite(Ids(40));
  const loopback::Server server([&](const Request&) -> Script {
    Script script = Answer(200, ChatBody("ok"));
    script.insert(script.begin(), loopback::Wait(milliseconds(300)));
    return script;
  });
  const ProcessOutcome outcome = Eval(server.url(), {"--timeout", "1s", "-j", "4"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.error;
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("the time limit of"), HasSubstr("--resume")));
  EXPECT_GE(Summary().answered, 4U);
  EXPECT_LT(Summary().answered, 80U);
  EXPECT_EQ(Summary().answered, server.request_count()) << "the answers in flight are kept";
}

TEST_F(Network, TheBaselineIsPaidOnceWhateverSkillIsTriedNext) {
  WriteSuite(Ids(10));
  const loopback::Server server([](const Request&) -> Script { return Answer(200, ChatBody("ok")); });
  ASSERT_EQ(Eval(server.url(), {"--runs", "2"}).exit_code, 0);
  EXPECT_EQ(server.request_count(), 40U);
  folder.Write("s/SKILL.md", "---\nname: s\ndescription: For the test.\n---\n\nSay ok twice.\n");
  ASSERT_EQ(Eval(server.url(), {"--runs", "2"}).exit_code, 0);
  EXPECT_EQ(server.request_count(), 60U);
  ASSERT_EQ(Eval(server.url(), {"--runs", "3"}).exit_code, 0);
  EXPECT_EQ(server.request_count(), 80U) << "the third round of both arms";
  ASSERT_EQ(Eval(server.url(), {"--runs", "3", "--refresh"}).exit_code, 0);
  EXPECT_EQ(server.request_count(), 140U);
}

TEST_F(Network, SeveralProcessesShareOneRunsFolder) {
  WriteSuite(Ids(60));
  const loopback::Server server([](const Request&) -> Script {
    Script script = Answer(200, ChatBody("ok"));
    script.insert(script.begin(), loopback::Wait(milliseconds(20)));
    return script;
  });
  constexpr int kProcesses = 6;
  std::vector<pid_t> pids;
  for (int i = 0; i < kProcesses; ++i) {
    pids.push_back(StartUpskill(
        {"eval", "s", "-q", "--base-url", server.url(), "-m", "generic.m", "--runs", "5", "-j", "64"}, folder.path()));
  }
  for (const pid_t pid : pids) EXPECT_EQ(WaitFor(pid), 0);
  const std::vector<fs::path> runs = FindRuns(folder.path() / "runs");
  ASSERT_THAT(runs, SizeIs(kProcesses));
  for (const fs::path& run : runs) {
    const Result<JournalContent> content = ReadJournal(run);
    ASSERT_TRUE(content.ok());
    EXPECT_EQ(content->skipped_lines, 0U);
    std::set<std::string> cells;
    for (const Sample& sample : content->samples) EXPECT_TRUE(sample.ok() && cells.insert(CellName(sample)).second);
    EXPECT_THAT(cells, SizeIs(600));
  }
  const std::size_t asked = server.request_count();
  EXPECT_EQ(Eval(server.url(), {"--runs", "5"}).exit_code, 0);
  EXPECT_EQ(server.request_count(), asked);
}

// Two processes must not write one journal: the second reports that and changes nothing.
TEST_F(Network, ARunAtWorkIsNotResumed) {
  WriteSuite(Ids(20));
  std::promise<void> at_work;
  std::promise<void> second_ended;
  const loopback::Server server([&, requests = 0](const Request&) mutable -> Script {
    if (++requests == 8) {
      at_work.set_value();
      second_ended.get_future().wait();
    }
    return Answer(200, ChatBody("ok"));
  });
  const pid_t pid =
      StartUpskill({"eval", "s", "-q", "--base-url", server.url(), "-m", "generic.m", "-j", "4"}, folder.path());
  ASSERT_EQ(at_work.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
  const ProcessOutcome second = Eval(server.url(), {"--resume"});
  second_ended.set_value();
  EXPECT_EQ(second.exit_code, 2) << second.out;
  EXPECT_EQ(WaitFor(pid), 0);
  EXPECT_TRUE(Summary().complete());
  EXPECT_THAT(Samples(), SizeIs(40));
}

TEST_F(Network, ShardsMergeToTheWholeRun) {
  WriteSuite(Ids(15));
  const loopback::Server server([](const Request&) -> Script { return Answer(200, ChatBody("ok")); });
  std::vector<std::string> merge = {"merge", "-o", "whole"};
  for (int k = 1; k <= 4; ++k) {
    const std::string runs = "shard-" + std::to_string(k);
    ASSERT_EQ(Eval(server.url(), {"--runs", "3", "--shard", std::to_string(k) + "/4", "--runs-dir", runs}).exit_code,
              0);
    merge.push_back(FindRuns(folder.path() / runs).front().string());
  }
  EXPECT_EQ(server.request_count(), 90U);
  const ProcessOutcome merged = RunUpskill(merge, folder.path());
  ASSERT_EQ(merged.exit_code, 0) << merged.error;
  const Result<std::string> once = ReadFile(folder.path() / "whole/samples.jsonl");
  ASSERT_TRUE(once.ok());
  merge.push_back("whole");
  ASSERT_EQ(RunUpskill(merge, folder.path()).exit_code, 0);
  EXPECT_EQ(*ReadFile(folder.path() / "whole/samples.jsonl"), *once) << "merging again changes nothing";
  const Result<JournalContent> content = ReadJournal(folder.path() / "whole");
  ASSERT_TRUE(content.ok());
  EXPECT_THAT(content->samples, SizeIs(90));
}

// The key is sent, and appears nowhere else.
TEST_F(Network, TheKeyIsWrittenNowhere) {
  WriteSuite(Ids(3));
  const loopback::Server thief([](const Request&) -> Script { return Answer(200, ChatBody("ok")); });
  std::atomic<int> with_key = 0;
  const loopback::Server server([&](const Request& request) -> Script {
    if (request.headers.at("authorization") == "Bearer sk-very-secret-key") ++with_key;
    const std::string id = CaseOf(request);
    if (id == "case-0") return loopback::Redirect(thief.url() + "/v1/chat/completions");
    if (id == "case-1") return Answer(400, R"({"error":{"message":"bad key sk-very-secret-key"}})");
    return Answer(200, ChatBody("ok"));
  });
  const ProcessOutcome outcome = RunShell(
      "GENERIC_API_KEY=sk-very-secret-key $UPSKILL --log log.txt eval s -m generic.m --base-url " + server.url(),
      folder.path());
  EXPECT_EQ(outcome.exit_code, 3) << outcome.error;
  EXPECT_GE(with_key, 6);
  EXPECT_EQ(thief.connections(), 0U);
  EXPECT_THAT(outcome.out + outcome.error, Not(HasSubstr("very-secret")));
  EXPECT_EQ(RunShell("grep -r very-secret .", folder.path()).out, "");
}

}  // namespace
}  // namespace upskill
