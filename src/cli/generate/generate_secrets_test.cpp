// SPDX-License-Identifier: Apache-2.0
// No secret of any source of `upskill generate` reaches the teacher, the output or the logged generation.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/generate_fixture.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(GenerateCli, SecretsDoNotReachTheTeacher) {
  const TeacherServer teacher("[sim 0.95]");
  const std::string secret = "ghp_" + std::string("16C7e42F292c6912E7710c838347Ae178B4a");
  const fs::path doc = folder.Write("notes.md", "The token is " + secret + " for the registry.\n");
  ASSERT_EQ(Generate({"Add numbers with token " + secret, "--docs", doc.string(), "-m", "generic.teacher", "--base-url",
                      teacher.url(), "--no-eval"}),
            0)
      << error;
  EXPECT_THAT(error, Not(HasSubstr(secret))) << "nor a log";
  ASSERT_THAT(teacher.requests(), Not(IsEmpty()));
  for (const loopback::Request& request : teacher.requests()) EXPECT_THAT(request.body, Not(HasSubstr(secret)));
  for (const auto& entry : fs::recursive_directory_iterator(folder.path() / "runs")) {
    if (!entry.is_regular_file()) continue;
    EXPECT_THAT(*ReadFile(entry.path()), Not(HasSubstr(secret))) << entry.path();
  }
}

TEST_F(GenerateCli, OneLabelIsOneSecretInAllSources) {
  const TeacherServer teacher("[sim 0.95]");
  const std::string of_trace = "ghp_" + std::string("16C7e42F292c6912E7710c838347Ae178B4a");
  const std::string of_task = "ghp_" + std::string("9Xq1e42F292c6912E7710c838347Ae178B7z");
  const std::string trace =
      folder
          .Write("session.jsonl",
                 R"({"type":"user","uuid":"u1","sessionId":"s","message":{"role":"user","content":"Push with )" +
                     of_trace + R"( please."}})" + "\n")
          .string();
  Generate({"Add numbers with " + of_task + " and " + of_trace, "--from", trace, "-m", "generic.teacher", "--base-url",
            teacher.url(), "--no-eval"});
  ASSERT_THAT(teacher.requests(), Not(IsEmpty())) << error;
  const std::string body = teacher.requests()[0].body;
  EXPECT_THAT(body, HasSubstr("Push with [redacted:github-token:1] please."));
  EXPECT_THAT(body, HasSubstr("Add numbers with [redacted:github-token:2] and [redacted:github-token:1]"));
}

// Each source has a secret of its own; documents and traces also have an e-mail address.
TEST_F(GenerateCli, SecretsOfAllSourcesStayHere) {
  std::vector<std::string> secrets;
  for (int i = 0; i < 9; ++i)
    secrets.push_back(std::string("gh") + "p_A7k456789012345678901234567890123" + fmt::format("{:03}", 200 + 7 * i));
  const auto line = [](const char* type, const Json& content) {
    return DumpJson({{"type", type},
                     {"uuid", "u"},
                     {"sessionId", "s"},
                     {"message", {{"id", "m"}, {"role", type}, {"content", content}}}}) +
           "\n";
  };
  const Json call = {
      {"type", "tool_use"}, {"id", "t"}, {"name", "Bash"}, {"input", {{"command", "make TOKEN=" + secrets[0]}}}};
  const Json result = {
      {"type", "tool_result"}, {"tool_use_id", "t"}, {"is_error", true}, {"content", "no " + secrets[1]}};
  const fs::path trace = folder.Write("trace-" + secrets[2] + ".jsonl",
                                      line("user", "use " + secrets[3] + " and write to ada@example.com") +
                                          line("assistant", Json::array({call})) + line("user", Json::array({result})));
  const fs::path doc =
      folder.Write("doc-" + secrets[4] + ".md", "# Keys\n\nThe key is " + secrets[5] + ", bob@example.com\n");
  folder.Write("skills/sums/SKILL.md", "---\nname: sums\ndescription: Sums with " + secrets[6] + ".\n---\n\nBy hand " +
                                           secrets[7] + " [sim 0.1]\n");
  const std::vector<std::string> command = {"Add with " + secrets[8] + " for eve@example.com",
                                            "--from",
                                            trace.string(),
                                            "--from",
                                            skill("sums").string(),
                                            "--docs",
                                            doc.string(),
                                            "-m",
                                            "generic.teacher",
                                            "--eval-model",
                                            "sim:base=0.1,skill=body",
                                            "--max-attempts",
                                            "0"};
  for (const bool keep : {false, true}) {
    const TeacherServer teacher("[sim 0.95]");
    std::vector<std::string> all = command;
    all.insert(all.end(), {"--base-url", teacher.url()});
    if (keep) all.emplace_back("--keep-emails");
    Generate(all);
    ASSERT_THAT(teacher.requests(), Not(IsEmpty())) << error;
    std::string everything = out + error;
    for (const loopback::Request& request : teacher.requests()) everything += request.body;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path() / "runs")) {
      // The version before is kept as it was.
      if (entry.is_regular_file() && entry.path().string().find("previous") == std::string::npos)
        everything += *ReadFile(entry.path());
    }
    for (const std::string& secret : secrets) EXPECT_EQ(everything.find(secret), std::string::npos) << secret;
    EXPECT_THAT(everything, HasSubstr("[redacted:github-token:"));
    EXPECT_THAT(everything, HasSubstr("eve@example.com"));  // the user's own words
    EXPECT_EQ(everything.find("ada@example.com") != std::string::npos, keep);
    EXPECT_EQ(everything.find("bob@example.com") != std::string::npos, keep);
    fs::remove_all(folder.path() / "runs");
  }
}

}  // namespace
}  // namespace upskill
