// SPDX-License-Identifier: Apache-2.0
// `upskill generate --tool mcp:…`: tools of MCP servers.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "support/generate_fixture.h"
#include "support/loopback_server.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(GenerateCli, ToolsOfALiveMcpServer) {
  const TeacherServer teacher("[sim 0.95]");
  const std::string secret = "ghp_" + std::string("16C7e42F292c6912E7710c838347Ae178B4a");
  const std::string tools = R"([{"name":"find_book","description":"Finds books. Token )" + secret +
                            R"(."},{"name":"lend","description":"Lends one."}])";
  const std::string server = folder
                                 .Write("server.sh", R"(while read -r line; do case "$line" in
*'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"books","version":"1"}}}';;
*tools/list*) echo '{"jsonrpc":"2.0","id":2,"result":{"tools":)" +
                                                         tools + R"(}}';; esac; done)")
                                 .string();
  const std::vector<std::string> command = {"Lend books",
                                            "--tool",
                                            "mcp:TOKEN=" + secret + " sh " + server + "#find_book",
                                            "-m",
                                            "generic.teacher",
                                            "--base-url",
                                            teacher.url(),
                                            "--eval-model",
                                            "sim:base=0.1,skill=body",
                                            "--max-attempts",
                                            "0"};
  Generate(command);  // the teacher's rules cite nothing: exit code 2
  ASSERT_THAT(teacher.requests(), Not(IsEmpty())) << error;
  EXPECT_THAT(teacher.requests()[0].body,
              AllOf(HasSubstr("find_book: Finds books."), Not(HasSubstr("lend:")), Not(HasSubstr(secret))));
  for (const auto& entry : fs::recursive_directory_iterator(folder.path() / "runs")) {
    if (!entry.is_regular_file()) continue;
    EXPECT_THAT(*ReadFile(entry.path()), Not(HasSubstr(secret))) << entry.path();
  }
  EXPECT_EQ(
      Generate({"x", "--tool", "mcp:TOKEN=" + secret + " sh " + server + "#none", "-m", "cmd:false", "--dry-run"}), 2);
  EXPECT_THAT(error, HasSubstr("available: find_book, lend"));
  EXPECT_EQ(Generate({"x", "--tool", "mcp:TOKEN=" + secret + " /none/there", "-m", "cmd:false"}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("/none/there"), HasSubstr("exit code 127"), Not(HasSubstr(secret))));
}

TEST_F(GenerateCli, AnMcpServerThatNeverAnswers) {
  EXPECT_EQ(Generate({"x", "--tool", "mcp:sleep 60", "--mcp-timeout", "0.2s", "-m", "cmd:false"}), 3);
  EXPECT_THAT(error,
              HasSubstr("MCP server `sleep 60`: no response within 0.2 s (--mcp-timeout sets how long to wait)"));
}

// Servers that repeat the key alone, without what it was part of.
TEST_F(GenerateCli, VariablesInHeadersAreMaskedByThemselves) {
  const std::string key = "hunter2-VerySecret-9f8e7d6c";
  variables["UNITS_KEY"] = key;
  const loopback::Server server([&](const loopback::Request&) { return loopback::Answer(400, "bad key " + key); });
  for (const char* header : {"X-Auth: id=17; key=${UNITS_KEY}", "Authorization: Digest a b ${UNITS_KEY}"}) {
    EXPECT_NE(Generate({"x", "--tool", "mcp:" + server.url() + "/mcp", "--mcp-header", header, "-m", "cmd:false"}), 0);
    EXPECT_THAT(error, AllOf(HasSubstr("bad key ***"), Not(HasSubstr("hunter2"))));
  }
}

TEST_F(GenerateCli, VariablesOfAnMcpServer) {
  const std::string server = "mcp:echo \"env: $OPENAI_API_KEY, $SERVER_TOKEN, $MODE\" >&2; exit 1";
  ::setenv("OPENAI_API_KEY", "sk-not-for-servers", 1);  // NOLINT(concurrency-mt-unsafe): no other thread
  variables["SERVER_TOKEN"] = "for-the-server-7";
  const auto error_with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"x", "-m", "cmd:false", "--tool", server});
    EXPECT_EQ(Generate(more), 2);
    return error;
  };
  EXPECT_THAT(error_with({}), HasSubstr("its standard error: env: , ,\n"));
  EXPECT_THAT(error_with({"--mcp-env", "MODE=a=b"}), HasSubstr("env: , , a=b"));
  // What the server repeats of them is masked, whatever their names are, if it is long enough to be a key.
  EXPECT_THAT(error_with({"--mcp-env", "SERVER_TOKEN", "--mcp-env", "MODE=tests"}), HasSubstr("env: , ***, tests"));
  EXPECT_THAT(error_with({"--mcp-env", "MODE=q7-VerySecretValue"}), HasSubstr("env: , , ***"));
  EXPECT_THAT(error_with({"--mcp-env", "NOT_SET"}), HasSubstr("--mcp-env NOT_SET: this variable is not set"));
  EXPECT_THAT(error_with({"--mcp-env", "A-B=some-value"}),
              AllOf(HasSubstr("expected NAME or NAME=VALUE"), Not(HasSubstr("some-value"))));
  ::unsetenv("OPENAI_API_KEY");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(Generate({"x", "-m", "cmd:false", "--mcp-env", "MODE=a"}), 2);
  EXPECT_THAT(error, HasSubstr("give --tool mcp:COMMAND"));
}

}  // namespace
}  // namespace upskill
