// SPDX-License-Identifier: Apache-2.0
// --batch through the real binary: killed while a batch is in progress, then resumed; unordered and expired results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
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
using ::testing::HasSubstr;
using ::testing::SizeIs;

namespace fs = std::filesystem;

// The Message Batches API, whose batches end when the test says so.
class BatchProvider {
 public:
  BatchProvider() : server_([this](const Request& request) { return Serve(request); }) {}
  std::string url() const { return server_.url(); }

  void EndBatches() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  std::vector<std::size_t> sizes() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::size_t> sizes;
    for (const auto& [id, requests] : batches_) sizes.push_back(requests.size());
    return sizes;
  }
  std::size_t asked_twice() const {
    const std::lock_guard lock(mutex_);
    return asked_twice_;
  }

 private:
  Script Serve(const Request& request) {
    const std::lock_guard lock(mutex_);
    const std::string base = "/v1/messages/batches";
    if (request.method == "POST" && request.path == base) {
      const std::string id = "msgbatch_" + std::to_string(batches_.size());
      const Json body = Json::parse(request.body);
      for (const Json& item : body["requests"]) {
        const std::string name = item["custom_id"];
        if (!seen_.insert(name).second) ++asked_twice_;
        batches_[id].push_back(name);
      }
      return Answer(200, R"({"id":")" + id + R"(","processing_status":"in_progress"})");
    }
    if (!request.path.starts_with(base + "/")) return Answer(404, "{}");
    std::string id = request.path.substr(base.size() + 1);
    const bool results = id.ends_with("/results");
    if (results) id.resize(id.size() - 8);
    const auto batch = batches_.find(id);
    if (batch == batches_.end()) return Answer(404, "{}");
    if (!results)
      return Answer(200, ended_ ? R"({"processing_status":"ended"})" : R"({"processing_status":"in_progress"})");
    std::string lines;
    std::vector<std::string> names = batch->second;
    std::reverse(names.begin(), names.end());
    bool first = id == "msgbatch_0";  // whose last request expires
    for (const std::string& name : names) {
      lines +=
          R"({"custom_id":")" + name + R"(","result":)" +
          (first
               ? R"({"type":"expired"}})"
               : R"({"type":"succeeded","message":{"content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":1000,"output_tokens":100}}}})") +
          "\n";
      first = false;
    }
    return Answer(200, lines);
  }

  mutable std::mutex mutex_;  // guards the rest but the server
  std::map<std::string, std::vector<std::string>> batches_;
  std::set<std::string> seen_;
  std::size_t asked_twice_ = 0;
  bool ended_ = false;
  loopback::Server server_;  // last: its thread uses what is above
};

TEST(Batch, AKilledRunTakesUpItsBatch) {
  BatchProvider provider;
  const TempFolder folder;
  folder.Write("s/SKILL.md", "---\nname: s\ndescription: For the test.\n---\n\nSay ok.\n");
  Json cases = Json::array();
  for (int i = 0; i < 10; ++i)
    cases.push_back({{"id", "c" + std::to_string(i)},
                     {"input", "Question " + std::to_string(i)},
                     {"expected", {{"contains", {"ok"}}}}});
  folder.Write("s/skill_meta.json", DumpJson({{"tests", cases}}));
  const std::string command =
      "ANTHROPIC_API_KEY=sk-x ANTHROPIC_BASE_URL=" + provider.url() + " $UPSKILL eval s -m haiku --batch -q";

  const ProcessOutcome killed =
      RunShell(command +
                   " --runs 2 & pid=$!; for i in $(seq 500); do grep -qs msgbatch_ runs/batches.jsonl && "
                   "break; sleep 0.02; done; kill -9 $pid; wait $pid",
               folder.path());
  ASSERT_EQ(killed.exit_code, 137) << killed.error;
  EXPECT_THAT(provider.sizes(), testing::ElementsAre(40));

  // Interrupted again, this time with Ctrl-C: the program stops waiting for the batch at once.
  const ProcessOutcome interrupted =
      RunShell(command + " --resume & pid=$!; sleep 1.5; kill -INT $pid; wait $pid", folder.path());
  EXPECT_EQ(interrupted.exit_code, 130) << interrupted.error;
  EXPECT_THAT(interrupted.error, HasSubstr("--batch --resume"));

  provider.EndBatches();
  const ProcessOutcome resumed = RunShell(command + " --resume", folder.path());
  EXPECT_EQ(resumed.exit_code, 0) << resumed.error;
  EXPECT_THAT(provider.sizes(), testing::ElementsAre(40, 1)) << "only the expired one again";
  EXPECT_EQ(provider.asked_twice(), 0U);
  const fs::path run = FindRuns(folder.path() / "runs").front();
  const Result<Plan> plan = LoadPlan(run);
  const Result<JournalContent> content = ReadJournal(run);
  ASSERT_TRUE(plan.ok() && content.ok());
  const RunSummary summary = Summarize(RunData(*plan, content->samples));
  EXPECT_TRUE(summary.complete());
  EXPECT_EQ(summary.students[0].arms.at(Arm::kSkill).passed, 20U);
  // 1,000 input and 100 output tokens at half of 1 and 5 dollars per million.
  EXPECT_NEAR(summary.students[0].arms.at(Arm::kSkill).cost_usd, 20 * 0.00075, 1e-9);
  EXPECT_THAT(content->samples, SizeIs(41)) << "one of them the error";
}

TEST(Batch, WhatDoesNotGoTogether) {
  const TempFolder folder;
  folder.Write("s/SKILL.md", "---\nname: s\ndescription: For the test.\n---\n\nSay ok.\n");
  folder.Write("s/skill_meta.json", R"({"tests":[{"input":"x","expected":{"contains":["ok"]}}]})");
  EXPECT_EQ(RunUpskill({"eval", "s", "-m", "sim:base=0.5", "--batch"}, folder.path()).exit_code, 2);
  EXPECT_EQ(RunUpskill({"eval", "s", "-m", "generic.m", "--batch"}, folder.path()).exit_code, 2);
  const ProcessOutcome limited = RunUpskill({"eval", "s", "-m", "haiku", "--batch", "--max-cost", "1"}, folder.path());
  EXPECT_EQ(limited.exit_code, 2);
  EXPECT_THAT(limited.error, HasSubstr("--batch"));
}

}  // namespace
}  // namespace upskill
