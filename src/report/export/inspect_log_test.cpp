// SPDX-License-Identifier: Apache-2.0
#include "report/export/inspect_log.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "report/export/inspect_sample.h"
#include "support/report_fixture.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kTestVersion = "1.2.3";

Json LogOf(const JudgedRun& run) { return Json::parse(InspectJson(run, 0, kTestVersion)); }

Json WithId(const Json& log, const std::string& id, int epoch) {
  for (const Json& sample : log.at("samples")) {
    if (sample.at("id") == id && sample.at("epoch") == epoch) return sample;
  }
  return nullptr;
}

TEST(InspectLog, HasTheArmsAsSamplesAndTheirRatesAsMetrics) {
  const Json log = LogOf(ReportRun().judged());
  EXPECT_EQ(log.at("status"), "success");
  EXPECT_EQ(log.at("eval").at("model"), "sim:base=0.4");
  EXPECT_EQ(log.at("eval").at("dataset").at("sample_ids"),
            Json({"easy (baseline)", "easy (skill)", "hard (baseline)", "hard (skill)"}));
  const Json& metrics = log.at("results").at("scores").at(0).at("metrics");
  EXPECT_EQ(metrics.at("accuracy (skill)").at("value"), 1.0);
  EXPECT_EQ(metrics.at("accuracy (baseline)").at("value"), 0.5);
  EXPECT_EQ(metrics.at("lift").at("value"), 0.5);
  EXPECT_EQ(log.at("results").at("total_samples"), 8);
  EXPECT_EQ(log.at("results").at("completed_samples"), 7);
  EXPECT_EQ(log.at("stats").at("model_usage").at("sim:base=0.4").at("total_tokens"), 4 * 46 + 3 * 242);
}

TEST(InspectLog, ASampleHasTheScoresOfItsChecks) {
  const Json log = LogOf(ReportRun().judged());
  EXPECT_THAT(log.at("samples"), SizeIs(8));
  const Json sample = WithId(log, "hard (baseline)", 1);
  EXPECT_EQ(sample.at("scores").at("passed").at("value"), "I");
  EXPECT_EQ(sample.at("scores").at("check 1").at("explanation"), "contains \"edition = 5\": fail (not found)");
  EXPECT_EQ(sample.at("metadata").at("arm"), "baseline");
  EXPECT_EQ(sample.at("output").at("choices").at(0).at("stop_reason"), "max_tokens");
  EXPECT_EQ(sample.at("messages").at(2).at("content"), "edition = 2");
  EXPECT_EQ(sample.at("target"), Json({"edition = 5"}));
  EXPECT_THAT(WithId(log, "hard (skill)", 1).at("messages").at(0).at("content").get<std::string>(),
              HasSubstr("<skill name=\"manifests\">"));
}

TEST(InspectLog, AnErrorHasNoScores) {
  const Json sample = WithId(LogOf(ReportRun().judged()), "hard (skill)", 2);
  EXPECT_EQ(sample.at("error").at("message"), "overloaded");
  EXPECT_TRUE(sample.at("scores").is_null());
  EXPECT_THAT(sample.at("messages"), SizeIs(2));
}

TEST(InspectLog, AnInterruptedRunIsCancelled) {
  ReportRun run;
  run.samples.erase(run.samples.begin());
  EXPECT_EQ(LogOf(run.judged()).at("status"), "cancelled");
  run.plan.arms = {Arm::kSkill};
  run.verdicts = {StudentVerdict()};
  const Json log = LogOf(run.judged());
  EXPECT_EQ(log.at("status"), "success");
  EXPECT_FALSE(log.at("results").at("scores").at(0).at("metrics").contains("lift"));
  run.samples.clear();
  EXPECT_THAT(LogOf(run.judged()).at("samples"), SizeIs(0));
}

TEST(InspectLog, IdsAreNamesOfFilesAndDifferent) {
  Suite suite;
  for (const char* id : {"../../etc/passwd", "..-..-etc-passwd", "a\\b\x1b[2J", "é", "a (skill)"}) {
    suite.cases.emplace_back();
    suite.cases.back().id = id;
  }
  suite.cases.emplace_back();
  suite.cases.back().id = std::string(119, 'n') + "é";
  const std::vector<std::string> ids = InspectIds(suite);
  EXPECT_THAT(ids, ElementsAre("..-..-etc-passwd", "..-..-etc-passwd 2", "a-b-x1b[2J", "é", "a (skill)",
                               std::string(119, 'n')));
}

TEST(InspectLog, TimesThatAreNone) {
  EXPECT_EQ(InspectTime("2026-11-21T10:12:33Z", "x"), "2026-11-21T10:12:33Z");
  for (const char* time : {"", "yesterday", "2026-02-30T10:12:33Z", "2026-11-21T24:12:33Z", "2026-11-21T10:12:33Z\n"})
    EXPECT_EQ(InspectTime(time, "x"), "x") << time;
}

TEST(InspectLog, UnknownTokensAreLeftOutAndSummariesAreShort) {
  ReportRun run;
  run.ForgetTokens();
  run.samples[0].response.text = std::string(5000, 'a') + kAttack;
  run.samples[0].checks[0].detail = std::string(5000, 'b');
  const Json sample = LogOf(run.judged()).at("samples").at(0);
  EXPECT_EQ(sample.at("model_usage"), Json::object());
  const Json summary = InspectSummary(sample);
  EXPECT_LT(DumpJson(summary).size(), 4000U);
  EXPECT_EQ(summary.at("scores").at("check 1").at("value"), "C");
}

class ExportToInspectTest : public testing::Test {
 protected:
  std::string ErrorOf(const std::vector<JudgedRun>& runs, const std::string& name) {
    const Result<InspectLogs> written = ExportToInspect(runs, folder.path() / name, kTestVersion);
    return written ? "" : written.error().message;
  }
  const TempFolder folder;
};

TEST_F(ExportToInspectTest, AFileOrAFolder) {
  EXPECT_EQ(ErrorOf(Runs(ReportRun().judged()), "a.eval"), "");
  EXPECT_EQ(ErrorOf(Runs(ReportRun().judged()), "a.json"), "");
  const std::string archive = *ReadFile(folder.path() / "a.eval");
  EXPECT_EQ(archive.substr(0, 2), "PK");
  EXPECT_THAT(archive, HasSubstr("samples/hard (skill)_epoch_2.json"));
  EXPECT_THAT(ErrorOf(Runs(ReportRun().judged(), ReportRun().judged()), "b.eval"),
              HasSubstr("a log is of one model in one run, and these are 2"));
  EXPECT_EQ(ErrorOf(Runs(ReportRun().judged(), ReportRun().judged()), "b"), "");
  EXPECT_TRUE(fs::exists(folder.path() / "b/1-manifests-student.eval"));
  EXPECT_TRUE(fs::exists(folder.path() / "b/2-manifests-student.eval"));
  EXPECT_THAT(ErrorOf(Runs(ReportRun().judged()), "b"), HasSubstr("already exists and is left unchanged"));
}

}  // namespace
}  // namespace upskill
