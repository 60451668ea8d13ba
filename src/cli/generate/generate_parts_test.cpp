// SPDX-License-Identifier: Apache-2.0
// Traces that are too long for one request to the teacher.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/claude_session.h"
#include "support/generate_fixture.h"

namespace upskill {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class GenerateParts : public GenerateCli {
 protected:
  // `kib` KiB of different outputs.
  std::string Trace(int kib) {
    ClaudeSession session;
    session.User("make the package build");
    for (int i = 0; i < kib; ++i) {
      std::string output;
      for (int k = 0; output.size() < 1024; ++k) output += fmt::format("setting_{}_{} = {}\n", i, k, i * k);
      session.Run(fmt::format("make part-{}", i), output);
    }
    return folder.Write("long.jsonl", session.text()).string();
  }
  // Without sending anything.
  void Plan(const std::string& trace, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {
        "Build it", "--from", trace,      "-m", "generic.teacher", "--base-url", "http://127.0.0.1:9/v1",
        "--budget", "5000",   "--dry-run"};
    words.insert(words.end(), more.begin(), more.end());
    ASSERT_EQ(Generate(words), 0) << error;
  }
};

TEST_F(GenerateParts, ADryRunTellsTheirNumber) {
  Plan(Trace(40));
  EXPECT_THAT(error,
              AllOf(HasSubstr("nothing left out"), HasSubstr("too long for one request: the teacher reads 4 parts")))
      << error;
  EXPECT_THAT(out, HasSubstr("reading   4 parts, because the material is too long for one request (5,000 tokens)\n"));
}

TEST_F(GenerateParts, ATraceOfMoreThanTheMostPartsIsCondensed) {
  const std::string trace = Trace(40);
  for (const std::vector<std::string>& limit :
       {std::vector<std::string>{"--max-parts", "1"}, std::vector<std::string>{"--max-parts", "2"}}) {
    Plan(trace, limit);
    EXPECT_THAT(error,
                AllOf(HasSubstr("condensed: "), Not(HasSubstr("the teacher reads")),
                      HasSubstr("condensed because all of it would take 4 parts of at most 5,000 tokens, more than "
                                "--max-parts " +
                                limit.back() + "; to have it read whole, give --max-parts 4\n")))
        << error;
    EXPECT_THAT(out, Not(HasSubstr("reading")));
  }
}

TEST_F(GenerateParts, AShortTraceIsReadAtOnce) {
  Plan(Trace(5));
  EXPECT_THAT(error, AllOf(HasSubstr("nothing left out"), Not(HasSubstr("too long for one request"))));
  EXPECT_THAT(out, Not(HasSubstr("reading")));
}

}  // namespace
}  // namespace upskill
