// SPDX-License-Identifier: Apache-2.0
// A generation over HTTP, killed with -9 in each of its stages and resumed. The server counts what is paid for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/fake_teacher.h"
#include "support/loopback_server.h"
#include "support/subprocess.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/json.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::SizeIs;

constexpr int kQuestions = 16;

// What a request is for, in the order of a generation's stages.
enum class Stage {
  kDraft,
  kCritique,
  kCases,
  kBaseline,
  kProbe,
  kFirstTrial,
  kRefine,
  kSecondTrial,
  kShorter,
  kDescribe,
  kVerdict
};
constexpr std::array<Stage, 11> kStages = {Stage::kDraft,   Stage::kCritique,   Stage::kCases,  Stage::kBaseline,
                                           Stage::kProbe,   Stage::kFirstTrial, Stage::kRefine, Stage::kSecondTrial,
                                           Stage::kShorter, Stage::kDescribe,   Stage::kVerdict};

// Teacher and student. The draft knows the rule for even numbers, the refined skill that for all; part of it is
// ballast.
class TeacherAndStudent {
 public:
  TeacherAndStudent() : server_([this](const loopback::Request& request) { return Answer(request); }) {}

  std::string url() const { return server_.url() + "/v1"; }
  std::size_t requests() const { return server_.request_count(); }

  // One request of this stage gets no answer: its first, or the third of a student.
  void HoldBack(Stage stage) {
    const std::lock_guard lock(mutex_);
    held_stage_ = stage;
    in_stage_ = 0;
    holding_ = false;
  }
  bool holding() const {
    const std::lock_guard lock(mutex_);
    return holding_;
  }
  // By stage: requests that were answered, and how many of them had been answered before.
  std::map<Stage, int> answered() const {
    const std::lock_guard lock(mutex_);
    return answered_;
  }
  int answered_twice() const {
    const std::lock_guard lock(mutex_);
    return answered_twice_;
  }

 private:
  static Json Draft() {
    Json draft = DraftJson("RULE-EVEN");
    draft.erase("name");  // -o gives it
    draft["sections"].push_back(
        {{"title", "Ballast"}, {"rules", Json::array({{{"text", std::string(300, 'b')}, {"cites", Json::array()}}})}});
    return draft;
  }
  static Json Proposals() {
    const Json edit = {{"find", "RULE-EVEN"}, {"replace", "RULE-ALL"}};
    return {{"proposals", Json::array({{{"why", "it knew even numbers only"},
                                        {"edits", Json::array({edit})},
                                        {"body", ""},
                                        {"cites", Json::array()}}})}};
  }
  // The draft again, with the ballast.
  static Json Critique() { return CritiqueJson(Draft()); }

  // Under the mutex.
  Stage StageOf(const std::string& body, const std::string& question) {
    if (question.empty())
      return body.find("\"proposals\"") != std::string::npos  ? Stage::kRefine
             : body.find("\"cases\"") != std::string::npos    ? Stage::kCases
             : body.find("\"points\"") != std::string::npos   ? Stage::kCritique
             : body.find("\"sections\"") != std::string::npos ? Stage::kDraft
                                                              : Stage::kDescribe;
    if (body.find("reference-answers") != std::string::npos) return Stage::kProbe;
    if (answered_[Stage::kProbe] == 0) return Stage::kBaseline;
    if (answered_[Stage::kRefine] == 0) {
      train_.insert(question);
      return Stage::kFirstTrial;
    }
    if (!train_.contains(question)) return Stage::kVerdict;
    return body.find("bbb") != std::string::npos ? Stage::kSecondTrial : Stage::kShorter;
  }

  static std::string StudentSays(const std::string& body, const std::string& question) {
    const int number = std::stoi(question);
    const bool knows = body.find("RULE-ALL") != std::string::npos ||
                       (body.find("RULE-EVEN") != std::string::npos && number % 2 == 0) || number % 8 == 0 ||
                       body.find("It is total-" + question + ".") != std::string::npos;
    return knows ? "It is total-" + question + "." : "I do not know.";
  }

  loopback::Script Answer(const loopback::Request& request) {
    const Result<Json> json = ParseJson(request.body, "request");
    if (!json) return loopback::Answer(400, "{}");
    std::string question;  // of a student: the number that it asks for
    if (JsonGet<std::string>(*json, "model", "") == "student") {
      const std::string text = json->at("messages").back().at("content").dump();
      const std::size_t at = text.find("number ") + 7;
      question = text.substr(at, text.find('?', at) - at);
    }
    const std::lock_guard lock(mutex_);
    const Stage stage = StageOf(request.body, question);
    if (stage == held_stage_ && ++in_stage_ == (question.empty() ? 1 : 3)) {
      holding_ = true;
      return loopback::Silence();
    }
    ++answered_[stage];
    if (!bodies_.insert(Sha256Hex(request.body)).second) ++answered_twice_;
    switch (stage) {
      case Stage::kDraft:
        return loopback::ChatCompletion(DumpJson(Draft()));
      case Stage::kCritique:
        return loopback::ChatCompletion(DumpJson(Critique()));
      case Stage::kDescribe:
        return loopback::ChatCompletion(R"({"description": "Adds all numbers."})");
      case Stage::kCases:
        return loopback::ChatCompletion(DumpJson(CasesJson(kQuestions)));
      case Stage::kRefine:
        return loopback::ChatCompletion(DumpJson(Proposals()));
      default:
        return loopback::ChatCompletion(StudentSays(request.body, question));
    }
  }

  mutable std::mutex mutex_;  // guards all below but the server
  std::optional<Stage> held_stage_;
  int in_stage_ = 0;
  bool holding_ = false;
  std::set<std::string> train_;   // questions of the first trial
  std::set<std::string> bodies_;  // hashes of answered requests
  std::map<Stage, int> answered_;
  int answered_twice_ = 0;
  loopback::Server server_;  // last: its thread uses what is above
};

std::vector<std::string> Command(const TeacherAndStudent& server) {
  return {"generate",
          "Add numbers",
          "-m",
          "generic.teacher",
          "--base-url",
          server.url(),
          "--eval-model",
          "generic.student",
          "--eval-base-url",
          server.url(),
          "--candidates",
          "1",
          "--max-attempts",
          "1",
          "--train-runs",
          "2",
          "--runs",
          "4",
          "-j",
          "4",
          "-o",
          "summing"};
}

// Waits until one request is held back and nothing else happens: every answer has been processed.
bool WaitUntilQuiet(const TeacherAndStudent& server) {
  std::size_t seen = 0;
  int quiet = 0;
  for (int i = 0; i < 600; ++i) {
    std::this_thread::sleep_for(milliseconds(50));
    const std::size_t now = server.requests();
    quiet = server.holding() && now == seen ? quiet + 1 : 0;
    seen = now;
    if (quiet == 8) return true;
  }
  return false;
}

TEST(GenerateKill, InEachStageAndNothingIsPaidTwice) {
  const TeacherAndStudent undisturbed;
  const TempFolder expected;
  const ProcessOutcome whole = RunUpskill(Command(undisturbed), expected.path());
  ASSERT_EQ(whole.exit_code, 0) << whole.error;
  ASSERT_THAT(undisturbed.answered(), SizeIs(kStages.size())) << "every stage is reached";

  TeacherAndStudent server;
  const TempFolder folder;
  bool begun = false;
  for (const Stage stage : kStages) {
    server.HoldBack(stage);
    const pid_t pid =
        StartUpskill(begun ? std::vector<std::string>{"generate", "--resume"} : Command(server), folder.path());
    begun = true;
    const bool quiet = WaitUntilQuiet(server);
    ::kill(pid, SIGKILL);
    EXPECT_EQ(WaitFor(pid), 128 + SIGKILL);
    ASSERT_TRUE(quiet) << "stage " << static_cast<int>(stage);
    EXPECT_FALSE(fs::exists(folder.path() / "summing")) << "written only at the end";
  }
  server.HoldBack(Stage::kDraft);
  const ProcessOutcome last = RunUpskill({"generate", "--resume"}, folder.path());
  ASSERT_EQ(last.exit_code, 0) << last.error;

  EXPECT_EQ(server.answered_twice(), 0);
  EXPECT_EQ(server.answered(), undisturbed.answered());
  EXPECT_EQ(*ReadFile(folder.path() / "summing/SKILL.md"), *ReadFile(expected.path() / "summing/SKILL.md"));
  EXPECT_THAT(*ReadFile(folder.path() / "summing/SKILL.md"), HasSubstr("RULE-ALL"));
  EXPECT_THAT(*ReadFile(folder.path() / "summing/SKILL.md"), HasSubstr("Adds all numbers."));
  EXPECT_THAT(last.out, HasSubstr("student: helps"));
  EXPECT_THAT(last.out, HasSubstr("teacher refine   1 call, 10 tokens in, 5 out"));
}

TEST(GenerateKill, OneGenerationIsWorkedOnByOneProcess) {
  TeacherAndStudent server;
  const TempFolder folder;
  server.HoldBack(Stage::kDraft);
  const pid_t pid = StartUpskill(Command(server), folder.path());
  const bool quiet = WaitUntilQuiet(server);
  const ProcessOutcome second = RunUpskill({"generate", "--resume"}, folder.path());
  ::kill(pid, SIGKILL);
  WaitFor(pid);
  ASSERT_TRUE(quiet);
  EXPECT_EQ(second.exit_code, 2) << second.error;
  EXPECT_THAT(second.error, HasSubstr("another"));
}

}  // namespace
}  // namespace upskill
