// SPDX-License-Identifier: Apache-2.0
// Servers and files that would bring a key into what the real binary prints or writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "support/loopback_server.h"
#include "support/subprocess.h"
#include "util/base64.h"
#include "util/files.h"
#include "util/json.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using loopback::Answer;
using loopback::Request;
using loopback::Script;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kKey = "sk-live-4f/9+c81d2e7";

class Secrets : public testing::Test {
 protected:
  void WriteSuite(const std::vector<std::string>& ids) {
    folder.Write("s/SKILL.md", "---\nname: s\ndescription: For the test.\n---\n\nSay ok.\n");
    Json cases = Json::array();
    for (const std::string& id : ids)
      cases.push_back({{"id", id}, {"input", id}, {"expected", {{"contains", {"ok"}}}}});
    folder.Write("s/skill_meta.json", DumpJson({{"tests", cases}}));
  }

  static bool HasKey(const std::string& text) {
    const std::string encoded = EncodeBase64("user:" + kKey);
    for (const std::string& form : {kKey, std::string("sk-live-4f\\/9+c81d2e7"), std::string("4f/9+c81d2e7"),
                                    std::string("sk-live-"), encoded.substr(8, 16)}) {
      if (text.find(form) != std::string::npos) return true;
    }
    return false;
  }

  // Everything printed, and every file below the folder except those named.
  void ExpectNoKey(const ProcessOutcome& outcome, const std::string& except = "") {
    EXPECT_FALSE(HasKey(outcome.out)) << outcome.out;
    EXPECT_FALSE(HasKey(outcome.error)) << outcome.error;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
      if (entry.is_symlink() || !entry.is_regular_file() || entry.path().filename() == except) continue;
      EXPECT_FALSE(HasKey(*ReadFile(entry.path()))) << entry.path();
    }
  }

  ProcessOutcome Shell(const std::string& command) { return RunShell(command, folder.path()); }

  const TempFolder folder;
};

std::string CompletionWith(const std::string& model, const std::string& text) {
  return DumpJson({{"model", model},
                   {"choices", Json::array({{{"index", 0},
                                             {"finish_reason", "stop"},
                                             {"message", {{"role", "assistant"}, {"content", text}}}}})},
                   {"usage", {{"prompt_tokens", 1}, {"completion_tokens", 1}}}});
}

TEST_F(Secrets, NoServerBringsAKeyIntoARun) {
  WriteSuite({"error-in-200", "escaped", "rejected", "echoed", "encoded", "fine"});
  const loopback::Server server([](const Request& request) -> Script {
    const std::string key = request.headers.at("authorization").substr(7);
    const std::string id = Json::parse(request.body)["messages"].back()["content"];
    const loopback::Headers headers = {{"x-request-id", "r-" + key}};
    if (id == "error-in-200")
      return Answer(200, R"({"error":{"code":400,"message":"invalid key )" + key + "\"}}", headers);
    if (id == "escaped")
      return Answer(200, R"({"error":{"code":400,"message":"invalid key \u0073)" + key.substr(1) + "\"}}", headers);
    if (id == "rejected") return Answer(400, R"({"error":{"message":"invalid key )" + key + "\"}}", headers);
    if (id == "echoed") return Answer(200, CompletionWith("m-" + key, "ok " + key), headers);
    if (id == "encoded") return Answer(200, CompletionWith("m", "ok Basic " + EncodeBase64("user:" + key)), headers);
    return Answer(200, CompletionWith("m", "ok"), headers);
  });
  const ProcessOutcome run = Shell("OPENAI_API_KEY='" + kKey + "' OPENAI_BASE_URL=" + server.url() +
                                   "/v1 \"$UPSKILL\" --log log eval s -m gpt-4o -v --runs 2");
  EXPECT_EQ(run.exit_code, 3) << run.error;
  EXPECT_THAT(run.error + run.out, HasSubstr("invalid key ***"));
  ExpectNoKey(run);
  for (const char* name : {"html", "md", "csv", "json", "xml"}) {
    ExpectNoKey(Shell("OPENAI_API_KEY='" + kKey + "' \"$UPSKILL\" report latest -o report." + name));
    EXPECT_TRUE(fs::exists(folder.path() / (std::string("report.") + name))) << name;
  }
}

TEST_F(Secrets, NorIntoABatch) {
  WriteSuite({"a", "b"});
  const loopback::Server server([](const Request& request) {
    return Answer(401, R"({"error":{"message":"invalid x-api-key )" + request.headers.at("x-api-key") + "\"}}",
                  {{"request-id", "r-" + request.headers.at("x-api-key")}});
  });
  const ProcessOutcome run = Shell("ANTHROPIC_API_KEY='" + kKey + "' ANTHROPIC_BASE_URL=" + server.url() +
                                   " \"$UPSKILL\" eval s -m haiku --batch");
  EXPECT_EQ(run.exit_code, 3) << run.error;
  EXPECT_THAT(run.error, HasSubstr("invalid x-api-key ***"));
  ExpectNoKey(run);
}

TEST_F(Secrets, NorTheHubIntoItsErrors) {
  const loopback::Server hub([](const Request& request) {
    return Answer(400, R"({"error":"bad token )" + request.headers.at("authorization").substr(7) + "\"}");
  });
  const ProcessOutcome pulled =
      Shell("HOME=$PWD HF_TOKEN='" + kKey + "' HF_ENDPOINT=" + hub.url() + " \"$UPSKILL\" models pull org/repo");
  EXPECT_NE(pulled.exit_code, 0);
  EXPECT_THAT(pulled.error, HasSubstr("bad token ***"));
  ExpectNoKey(pulled);
}

TEST_F(Secrets, APasswordInABaseUrlIsNeitherPrintedNorKept) {
  WriteSuite({"a"});
  const loopback::Server server([](const Request& request) {
    return Answer(400, R"({"error":{"message":"seen )" + request.headers.at("authorization") + "\"}}");
  });
  std::string encoded = kKey;
  for (const auto& [mark, code] : {std::pair{"/", "%2F"}, std::pair{"+", "%2B"}})
    encoded.replace(encoded.find(mark), 1, code);
  const std::string url = "http://user:" + encoded + "@" + server.url().substr(7) + "/v1";
  const ProcessOutcome run = Shell("\"$UPSKILL\" eval s -m generic.m -j 1 --base-url '" + url + "'");
  EXPECT_EQ(run.exit_code, 3) << run.error;
  ExpectNoKey(run);
  EXPECT_THAT(run.out + run.error, Not(HasSubstr(encoded)));
}

TEST_F(Secrets, NoFileBehindALinkIsQuoted) {
  WriteSuite({"a"});
  folder.Write("token", kKey);
  const auto expect_silent = [&](const std::string& command) {
    const ProcessOutcome outcome = Shell(command);
    EXPECT_EQ(outcome.exit_code, 2) << command << outcome.out;
    EXPECT_THAT(outcome.error, HasSubstr("error: ")) << command;
    ExpectNoKey(outcome, "token");
  };
  const std::string student = " -m sim:base=0.5,skill=0.5 --no-cache";
  expect_silent("ln -s ../token s/linked.json; \"$UPSKILL\" eval s -t s/linked.json" + student);
  expect_silent("ln -sf ../token s/skill_meta.json; \"$UPSKILL\" eval s" + student);
  expect_silent("ln -sf ../token s/SKILL.md; \"$UPSKILL\" eval s" + student);
  expect_silent("ln -s token upskill.config.yaml; \"$UPSKILL\" eval s" + student +
                "; code=$?; rm upskill.config.yaml; exit $code");
  expect_silent("UPSKILL_MODELS=token \"$UPSKILL\" models");
  expect_silent("ln -s token result.json; \"$UPSKILL\" report result.json -o x.html");
  expect_silent("ln -s token tool.json; \"$UPSKILL\" generate x -m cmd:false --tool tool.json");
  expect_silent(
      "mkdir -p h/.config/upskill; cp token h/.config/upskill/keys.toml; chmod 600 h/.config/upskill/*; "
      "mv token t; HOME=$PWD/h \"$UPSKILL\" eval s -m gpt-4o; code=$?; rm -r h; mv t token; exit $code");
}

TEST_F(Secrets, AnMcpServerCannotReadThem) {
  const auto generate = [&](const std::string& server) {
    return Shell("OPENAI_API_KEY='" + kKey + "' \"$UPSKILL\" generate x --no-eval -m cmd:false --tool 'mcp:" + server +
                 "'")
        .error;
  };
  EXPECT_THAT(generate("echo \"key: $OPENAI_API_KEY.\" >&2; exit 1"), HasSubstr("its standard error: key: ."));
  if (::geteuid() == 0) GTEST_SKIP() << "root can read every environment";
  EXPECT_THAT(generate("cat /proc/$PPID/environ >&2; exit 1"), HasSubstr("Permission denied"));
}

// A process that is killed while it holds a key leaves no image of its memory.
TEST_F(Secrets, NoCoreFile) {
  WriteSuite({"a"});
  rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  if (::setrlimit(RLIMIT_CORE, &unlimited) != 0) GTEST_SKIP() << "core files are forbidden here";
  std::promise<void> asked;
  const loopback::Server server([&, first = true](const Request&) mutable {
    if (std::exchange(first, false)) asked.set_value();
    return loopback::Silence();
  });
  const pid_t pid =
      StartUpskill({"eval", "s", "-m", "generic.m", "-j", "1", "--base-url", server.url()}, folder.path());
  ASSERT_EQ(asked.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  ::kill(pid, SIGABRT);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(WCOREDUMP(status));
}

}  // namespace
}  // namespace upskill
