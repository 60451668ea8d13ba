// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/csv.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/report_fixture.h"
#include "util/text.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A reader of RFC 4180, written for this test.
std::vector<std::vector<std::string>> ReadCsv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1);
  std::string field;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"' && field.empty()) {
      quoted = true;
    } else if (c == ',') {
      rows.back().push_back(std::exchange(field, ""));
    } else if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      rows.back().push_back(std::exchange(field, ""));
      rows.emplace_back();
      ++i;
    } else {
      field += c;
    }
  }
  rows.pop_back();
  return rows;
}

// The text that CsvField was given, from the field without its quotes.
std::string CsvOriginal(std::string field) {
  const std::size_t first = field.find_first_not_of('\'');
  const bool is_formula =
      first != std::string::npos && std::string("=+-@\t\n\r").find(field[first]) != std::string::npos;
  if (is_formula && first > 0) field.erase(0, 1);
  return field;
}

TEST(CsvField, QuotesWhatNeedsIt) {
  EXPECT_EQ(CsvField("plain"), "plain");
  EXPECT_EQ(CsvField("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvField("say \"x\"\n"), "\"say \"\"x\"\"\n\"");
}

TEST(CsvField, FormulasAreText) {
  for (const char* formula : {"=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\n=1", "\r\n=1", "=cmd|' /C calc'!A0", "＝1",
                              "＋1", "－1", "＠SUM(A1)"}) {
    EXPECT_THAT(ReadCsv(CsvField(formula) + "\r\n").at(0).at(0), StartsWith("'")) << formula;
  }
  EXPECT_EQ(CsvField("a=1"), "a=1");
}

TEST(CsvField, GivesBackEveryText) {
  for (const std::string text : {"", "x", "=1", "'=1", "''=1", "'quoted'", "'", "a,\"b\"\r\nc", "-", "\t", "\n"}) {
    EXPECT_EQ(CsvOriginal(ReadCsv(CsvField(text) + "\r\n").at(0).at(0)), text);
  }
}

// `cat` of a file, or a table on standard output, must not move the cursor.
TEST(CsvField, ControlCharactersAreVisible) {
  EXPECT_EQ(CsvField("a\x1b[2Jb\x07"), "a\\x1b[2Jb\\x07");
  EXPECT_EQ(CsvField(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(CsvField("\u202Eb\xC2\x9B"), "\\u202eb\\u009b");
  EXPECT_EQ(CsvField("hidden\rshown"), "hidden\\x0dshown");
  EXPECT_EQ(CsvField("two\r\nlines\tx"), "\"two\r\nlines\tx\"");
  EXPECT_EQ(CsvField("\xFF"), "\uFFFD");
}

TEST(SamplesCsv, CaseIdsAreShownTooAsText) {
  ReportRun run;
  for (Sample& sample : run.samples) {
    if (sample.case_id == "easy") sample.case_id = "=1\x1b]0;x\x07";
  }
  run.plan.suite.cases[0].id = "=1\x1b]0;x\x07";
  const std::vector<JudgedRun> runs = Runs(run.judged());
  EXPECT_EQ(ReadCsv(SamplesCsv(runs)).at(1).at(2), "'=1\\x1b]0;x\\x07");
}

TEST(SamplesCsv, EverySampleARow) {
  ReportRun run;
  run.samples[0].response.cost_usd = 0.00125;
  const auto rows = ReadCsv(SamplesCsv(Runs(run.judged())));
  ASSERT_THAT(rows, SizeIs(9));
  EXPECT_THAT(rows[0], ElementsAre("run", "model", "case", "arm", "round", "status", "passed", "stop", "prompt_tokens",
                                   "cached_tokens", "output_tokens", "seconds", "cost_usd", "checks_passed",
                                   "checks_total", "failed_checks", "answer", "check_kind", "judge", "judge_cost_usd"));
  EXPECT_THAT(rows[1], ElementsAre(run.plan.run, "sim:base=0.4", "easy", "baseline", "1", "ok", "true", "end", "30",
                                   "0", "16", "1.500", "0.00125", "1", "1", "", "4", "text", "", ""));
  EXPECT_THAT(rows[5],
              ElementsAre(run.plan.run, "sim:base=0.4", "hard", "baseline", "1", "ok", "false", "length", "30", "0",
                          "16", "1.500", "", "0", "1", "contains \"edition = 5\"", "edition = 2", "text", "", ""));
  EXPECT_THAT(rows[8], ElementsAre(run.plan.run, "sim:base=0.4", "hard", "skill", "2", "error", "", "", "", "", "", "",
                                   "", "", "", "", "overloaded", "text", "", ""));
}

TEST(SamplesCsv, HostileTextStaysInItsField) {
  ReportRun run;
  run.plan.students[0].spec = "=cmd|' /C calc'!A0";
  for (Sample& sample : run.samples) {
    sample.student = run.plan.students[0].spec;
    sample.response.text = "=1,\"2\"\r\n" + kAttack;
  }
  const auto rows = ReadCsv(SamplesCsv(Runs(run.judged())));
  ASSERT_THAT(rows, SizeIs(9));
  for (const auto& row : rows) {
    ASSERT_THAT(row, SizeIs(20));
    for (const std::string& field : row) EXPECT_THAT(field, Not(StartsWith("=")));
  }
  EXPECT_EQ(CsvOriginal(rows[1][1]), run.plan.students[0].spec);
  EXPECT_EQ(CsvOriginal(rows[1][16]), "=1,\"2\"\r\n" + SafeForTerminal(kAttack));
}

TEST(SamplesCsv, IsWrittenInPiecesOfWholeRows) {
  ReportRun run;
  run.plan.rounds = 40;
  for (int round = 2; round < 40; ++round) run.Add("easy", Arm::kSkill, round, std::string(100'000, 'x'));
  const JudgedRun judged = run.judged();
  std::string all;
  std::size_t pieces = 0;
  const Status written = WriteSamplesCsv({&judged, 1}, [&](std::string_view piece) {
    all += piece;
    ++pieces;
    EXPECT_TRUE(piece.ends_with("\r\n"));
    EXPECT_LT(piece.size(), 1'300'000U);
    return Status();
  });
  EXPECT_TRUE(written.ok());
  EXPECT_GT(pieces, 2U);
  EXPECT_EQ(all, SamplesCsv({&judged, 1}));

  std::size_t calls = 0;
  const Status failed = WriteSamplesCsv({&judged, 1}, [&](std::string_view) -> Status {
    ++calls;
    return Error{ErrorKind::kIo, "disk full"};
  });
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(calls, 1U);
}

}  // namespace
}  // namespace upskill
