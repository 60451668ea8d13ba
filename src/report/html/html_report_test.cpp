// SPDX-License-Identifier: Apache-2.0
#include "report/html/html_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/html/html_data.h"
#include "support/report_fixture.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The JSON of the page's block with an id.
Json Block(const std::string& html, const std::string& id) {
  const std::string head = "<script type=\"application/json\" id=\"" + id + "\">";
  const std::size_t from = html.find(head);
  if (from == std::string::npos) return nullptr;
  const std::size_t begin = from + head.size();
  Result<Json> json = ParseJson(html.substr(begin, html.find("</script>", begin) - begin), id);
  CHECK(json.ok());
  return std::move(json).value();
}

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// In the head and above the map of cases.
TEST(HtmlReport, TellsTheRoundsOfARunThatStopped) {
  ReportRun run;
  JudgedRun judged = run.judged();
  EXPECT_EQ(Block(HtmlReport({&judged, 1}), "data").at("runs").at(0).at("rounds_text"), "2 rounds");
  judged.summary.students[0].rounds = 1;
  EXPECT_EQ(Block(HtmlReport({&judged, 1}), "data").at("runs").at(0).at("rounds_text"), "1 round of 2 planned");
}

TEST(AppendScriptString, NothingEndsTheScriptOrTheString) {
  std::string out;
  AppendScriptString(out, kAttack);
  EXPECT_THAT(out, Not(HasSubstr("<")));
  EXPECT_THAT(out, Not(HasSubstr("\u2028")));
  EXPECT_TRUE(std::none_of(out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20U; }));
  const Result<Json> read = ParseJson(out, "test");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->get<std::string>(), ReplaceInvalidUtf8(kAttack));
}

TEST(AppendScriptString, KeepsOtherCharacters) {
  std::string out;
  AppendScriptString(out, "\u20AC \u2026 \xF0\x9F\x98\x80 a\nb");
  EXPECT_EQ(out, "\"\u20AC \u2026 \xF0\x9F\x98\x80 a\\nb\"");
}

TEST(TextTable, EqualTextsOnce) {
  TextTable table;
  EXPECT_EQ(table.Add("a"), 0U);
  EXPECT_EQ(table.Add("b"), 1U);
  EXPECT_EQ(table.Add("a"), 0U);
  table.Finish();
  EXPECT_EQ(table.size(), 2U);
  EXPECT_THAT(table.chunks(), ElementsAre("[\"a\",\"b\"]"));
}

TEST(TextTable, ChunksAreBounded) {
  TextTable table;
  std::vector<std::string> texts;
  for (int i = 0; i < 20; ++i) texts.push_back(std::to_string(i) + std::string(100000, 'x'));
  for (const std::string& text : texts) table.Add(text);
  table.Finish();
  EXPECT_GT(table.chunks().size(), 5U);
  std::size_t texts_read = 0;
  for (std::size_t i = 0; i < table.chunks().size(); ++i) {
    EXPECT_EQ(table.first_of_chunk()[i], texts_read);
    const Result<Json> chunk = ParseJson(table.chunks()[i], "chunk");
    ASSERT_TRUE(chunk.ok());
    texts_read += chunk->size();
  }
  EXPECT_EQ(texts_read, 20U);
}

TEST(HtmlReport, OneFileThatAsksForNothing) {
  const std::string html = HtmlReport(Runs(ReportRun().judged()));
  EXPECT_THAT(html, StartsWith("<!doctype html>"));
  EXPECT_THAT(html, HasSubstr("default-src 'none'; img-src data:; style-src 'sha256-"));
  EXPECT_THAT(html, Not(HasSubstr("{{")));
  // Nothing in the page names an address but the namespace of SVG.
  EXPECT_EQ(CountOf(html, "http://") + CountOf(html, "https://"), 1U);
  EXPECT_THAT(html, HasSubstr("http://www.w3.org/2000/svg"));
}

TEST(HtmlReport, HoldsTheRun) {
  const ReportRun run;
  const std::string html = HtmlReport(Runs(run.judged()));
  const Json data = Block(html, "data");
  ASSERT_EQ(data.at("runs").size(), 1U);
  const Json& entry = data.at("runs").at(0);
  EXPECT_EQ(entry.at("skill"), "manifests");
  EXPECT_EQ(entry.at("reference"), "baseline");
  EXPECT_EQ(entry.at("cells"), 8);
  EXPECT_EQ(entry.at("answered"), 7);
  EXPECT_EQ(entry.at("cases").at(1).at("id"), "hard");
  const Json& student = entry.at("students").at(0);
  EXPECT_EQ(student.at("verdict").at("word"), "helps");
  EXPECT_EQ(student.at("verdict").at("low"), 0.25);
  EXPECT_EQ(student.at("arms").at("baseline").at("passed"), 2);
  EXPECT_EQ(student.at("arms").at("skill").at("errors"), 1);

  const Json samples = Block(html, "samples-0");
  for (const auto& column : samples.items()) EXPECT_EQ(column.value().size(), 8U) << column.key();
  EXPECT_EQ(samples.at("state"), Json({1, 1, 1, 1, 0, 0, 1, 2}));
  EXPECT_EQ(samples.at("round"), Json({0, 1, 0, 1, 0, 1, 0, 1}));
  const Json texts = Block(html, "text-0");
  EXPECT_EQ(texts.at(samples.at("answer").at(4).get<std::size_t>()), "edition = 2");
  EXPECT_EQ(texts.at(samples.at("answer").at(7).get<std::size_t>()), "overloaded");
  const Json checks = Block(html, "checks");
  const Json& failed = checks.at(samples.at("checks").at(4).get<std::size_t>());
  EXPECT_EQ(texts.at(failed.at(0).at(0).get<std::size_t>()), "contains \"edition = 5\"");
  EXPECT_EQ(failed.at(0).at(1), 0);
  EXPECT_EQ(samples.at("checks").at(7), -1);
  EXPECT_TRUE(samples.at("cost").at(0).is_null());
}

TEST(HtmlReport, BeginsWithTheResultAndWhatTheSkillDoes) {
  ReportRun run;
  run.plan.skill.description = "Write manifests.";
  run.verdicts[0].cost_usd = PairedChange{0.001, 0.0014, {}, {}};
  const JudgedRun judged = run.judged();
  const Json entry = Block(HtmlReport({&judged, 1}), "data").at("runs").at(0);
  EXPECT_THAT(entry.at("result").at(0).get<std::string>(), StartsWith("Use student with this skill"));
  EXPECT_EQ(entry.at("description"), "Write manifests.");
  EXPECT_THAT(entry.at("expenses").dump(), AllOf(HasSubstr("+196,000 tokens"), HasSubstr("+$0.40")));
}

TEST(HtmlReport, UnknownTokensAreNull) {
  ReportRun run;
  run.samples[0].response.usage = {};
  const JudgedRun judged = run.judged();
  const std::string html = HtmlReport({&judged, 1});
  const Json samples = Block(html, "samples-0");
  EXPECT_TRUE(samples.at("prompt").at(0).is_null());
  EXPECT_TRUE(samples.at("output").at(0).is_null());
  EXPECT_EQ(samples.at("prompt").at(1), 30);
  const Json data = Block(html, "data");
  const Json& arms = data.at("runs").at(0).at("students").at(0).at("arms");
  EXPECT_TRUE(arms.at("baseline").at("prompt_tokens").is_null()) << "a sum without it would be too small";
  EXPECT_EQ(arms.at("skill").at("prompt_tokens"), 690);
}

TEST(HtmlReport, TagsAndNotes) {
  ReportRun run;
  run.plan.suite.cases[0].tags = {kAttack};
  run.plan.suite.cases[0].split = Split::kTrain;
  const JudgedRun judged = run.judged();
  const Json student = Block(HtmlReport({&judged, 1}), "data").at("runs").at(0).at("students").at(0);
  EXPECT_EQ(student.at("tags").at(0).at("cases"), 1);
  EXPECT_THAT(student.at("notes").dump(), HasSubstr("1 of 2 cases was used"));
}

TEST(HtmlReport, OtherArms) {
  ReportRun run;
  JudgedRun judged = run.judged();
  EXPECT_TRUE(Block(HtmlReport({&judged, 1}), "data").at("runs").at(0).at("students").at(0).at("others").empty());
  judged.others[Arm::kPlacebo] = run.verdicts;
  const Json other =
      Block(HtmlReport({&judged, 1}), "data").at("runs").at(0).at("students").at(0).at("others").at("placebo");
  EXPECT_EQ(other, Json({{"word", "helps"}, {"lift", 0.5}, {"low", 0.25}, {"high", 0.75}}));
}

TEST(HtmlReport, HostileTextStaysData) {
  ReportRun run;
  const std::size_t tags = CountOf(HtmlReport(Runs(run.judged())), "<script");
  run.plan.skill.name = kAttack;
  run.plan.skill.description = kAttack;
  run.plan.students[0].name = kAttack;
  run.plan.suite.cases[0].input = kAttack;
  for (Sample& sample : run.samples) {
    sample.response.text = kAttack;
    sample.checks.push_back({kAttack, Outcome::kFail, kAttack});
    if (sample.error) sample.error->message = kAttack;
  }
  const std::string html = HtmlReport(Runs(run.judged()));
  EXPECT_EQ(CountOf(html, "<script"), tags);
  EXPECT_EQ(CountOf(html, "</script"), tags);
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_EQ(html.find('\0'), std::string::npos);
  EXPECT_FALSE(FindInvalidUtf8(html));
  EXPECT_EQ(Block(html, "data").at("runs").at(0).at("skill"), ReplaceInvalidUtf8(kAttack));
}

TEST(HtmlReport, SeveralRunsShareTheirTexts) {
  const ReportRun a;
  ReportRun b;
  b.plan.run = "another";
  const std::string html = HtmlReport(Runs(a.judged(), b.judged()));
  EXPECT_EQ(Block(html, "data").at("runs").size(), 2U);
  EXPECT_EQ(Block(html, "samples-1").at("state").size(), 8U);
  EXPECT_EQ(CountOf(html, "edition = 2"), 1U);
}

TEST(HtmlReport, ALargeRunShowsSomeRoundsOfEachCase) {
  ReportRun run;
  run.plan.rounds = 200;
  for (int round = 2; round < 200; ++round) {
    for (const Arm arm : {Arm::kBaseline, Arm::kSkill}) {
      for (const char* id : {"easy", "hard"}) {
        run.Add(id, arm, round, fmt::format("{} {} {} {:<<20000}", round, id, ArmName(arm), ""));
      }
    }
  }
  const std::string page = HtmlReport(Runs(run.judged()));
  EXPECT_LT(page.size(), 5'000'000U);
  EXPECT_GT(page.size(), 3'000'000U);
  const Json data = Block(page, "data");
  const Json& entry = data.at("runs").at(0);
  EXPECT_THAT(entry.at("remarks").back().get<std::string>(),
              HasSubstr(" of 800 answers are on this page; `upskill report 2026_11_21_10_12_33-abcd -o answers.csv`"));
  // By case, student and arm, whatever is shown. A round's number with a 4 passes the easy case.
  EXPECT_EQ(entry.at("tallies"), Json::parse("[[40,200,0],[40,200,0],[0,200,0],[1,199,1]]"));
  const Json samples = Block(page, "samples-0");
  const auto shown = samples.at("state").size();
  EXPECT_GT(shown, 20U);
  EXPECT_LT(shown, 100U);
  EXPECT_EQ(samples.at("round").back().get<std::size_t>(), (shown - 1) / 4);
}

TEST(HtmlReport, ARunWithoutSamples) {
  ReportRun run;
  run.samples.clear();
  const Json samples = Block(HtmlReport(Runs(run.judged())), "samples-0");
  EXPECT_EQ(samples.at("state"), Json::array());
}

}  // namespace
}  // namespace upskill
