// SPDX-License-Identifier: Apache-2.0
#include "trace/redact/redact.h"

#include <gtest/gtest.h>

#include <set>

#include "support/planted_secrets.h"
#include "trace/load/read_trace.h"
#include "util/json.h"

namespace upskill {
namespace {

TEST(RedactTest, PlantedSecretsAreGone) {
  const std::vector<Planted> planted = PlantedSecrets();
  std::set<std::string> kinds;
  Redactor redactor({});
  for (const Planted& plant : planted) {
    kinds.insert(plant.kind);
    const std::string out = redactor.Apply(plant.context);
    EXPECT_EQ(out.find(plant.secret), std::string::npos) << plant.kind << ": " << out;
    EXPECT_EQ(out.find(plant.secret.substr(plant.secret.size() / 2)), std::string::npos) << plant.kind << ": " << out;
    EXPECT_NE(out.find("[redacted:" + plant.kind), std::string::npos) << plant.kind << ": " << out;
  }
  EXPECT_GE(planted.size(), 60U);
  EXPECT_GE(kinds.size(), 20U);
}

TEST(RedactTest, LookAlikesSurvive) {
  const std::vector<std::string> look_alikes = LookAlikes();
  EXPECT_GE(look_alikes.size(), 60U);
  std::size_t touched = 0;
  for (const std::string& text : look_alikes) {
    Redactor redactor({});
    if (redactor.Apply(text) == text) continue;
    ++touched;
    ADD_FAILURE() << redactor.Apply(text);
  }
  EXPECT_LE(touched * 50, look_alikes.size());
}

TEST(RedactTest, PlaceholdersAreStableAndListed) {
  Redactor redactor({});
  const std::string first = std::string("ghp_") + "A7k4567890123456789012345678901234Ab";
  const std::string second = std::string("ghp_") + "B7k4567890123456789012345678901234Ab";
  EXPECT_EQ(redactor.Apply(first + " " + second + " " + first, 4, 12),
            "[redacted:github-token:1] [redacted:github-token:2] [redacted:github-token:1]");
  EXPECT_EQ(redactor.Apply(second, 5, 13), "[redacted:github-token:2]");
  ASSERT_EQ(redactor.redactions().size(), 4U);
  EXPECT_EQ(redactor.redactions()[3].event, 5U);
  EXPECT_EQ(RedactionSummary(redactor.redactions(), "redacted"), "2 secrets redacted (2 github-token line 12)");
  EXPECT_EQ(redactor.Apply("[redacted:github-token:1] password=[redacted:password:1]"),
            "[redacted:github-token:1] password=[redacted:password:1]");
}

TEST(RedactTest, CommandsThatGoOnBehindABackslash) {
  for (const char* command : {"docker login -u me \\\n  -p Hx7trombone9 \\\n  registry.example.com",
                              "docker login -p \\\n  Hx7trombone9 r.example.com", "docker login -p Hx7trom\\\nbone9 r",
                              "docker login -p \\\r\n 'Hx7trombone9' r", "docker login -p\tHx7trombone9 r",
                              R"({"command": "docker login -p \\\n  Hx7trombone9 r.example.com"})",
                              "sqlcmd -S db \\\r\n -P \\\r\n Hx7trombone9",
                              R"({"command": "docker login -u me \\\n  --password \\\n Hx7trombone9 r.example.com"})"})
    EXPECT_EQ(Redactor({}).Apply(command).find("bone9"), std::string::npos) << command;
  const std::string harmless = "make \\\n  -j4 all\necho done";
  EXPECT_EQ(Redactor({}).Apply(harmless), harmless);
}

TEST(RedactTest, ASecretIsGoneWhereverItOccurs) {
  Trace trace;
  for (const char* text : {"I'll use Hx7trombone9 for it", "export DB_PASSWORD=Hx7trombone9", "(Hx7trombone9)",
                           "Hx7trombone99 is another word", "PASSWORD=postgres PASSWORD=h100-kernels",
                           "the postgres server in /srv/h100-kernels"})
    trace.events.emplace_back().text = text;
  Redactor redactor({});
  RedactTrace(trace, redactor);
  for (const std::size_t i : {0U, 1U, 2U}) EXPECT_EQ(trace.events[i].text.find("trombone"), std::string::npos) << i;
  EXPECT_EQ(trace.events[3].text, "Hx7trombone99 is another word");
  EXPECT_EQ(trace.events[5].text, "the postgres server in /srv/h100-kernels");
}

TEST(RedactTest, TheEventIsNamedWhereTheSourceHasNoLines) {
  Redactor redactor({});
  redactor.Apply(std::string("ghp_") + "A7k4567890123456789012345678901234Ab", 16, 0);
  EXPECT_EQ(RedactionSummary(redactor.redactions(), "redacted"), "1 secret redacted (1 github-token event 17)");
}

TEST(RedactTest, HomeFoldersAndEmailsByOption) {
  const std::string text = "/home/ada/x and ada@example.com";
  EXPECT_EQ(Redactor({}).Apply(text), text);
  EXPECT_EQ(Redactor({true, true}).Apply(text), "[redacted:home:1]/x and [redacted:email:1]");
}

TEST(RedactTest, WithoutRedactionOnlyForLocalTeachers) {
  EXPECT_TRUE(AllowWithoutRedaction(true).ok());
  EXPECT_FALSE(AllowWithoutRedaction(false).ok());
}

}  // namespace
}  // namespace upskill
