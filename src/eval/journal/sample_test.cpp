// SPDX-License-Identifier: Apache-2.0
#include "eval/journal/sample.h"

#include <gmock/gmock.h>

#include <limits>
#include <string>

#include "eval/journal/journal.h"
#include "eval/journal/sample_line.h"
#include "support/sample_fixture.h"
#include "util/text.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result<Sample> Read(const Json& json) { return SampleFromJson(*ParseJson(DumpJson(json), "samples.jsonl")); }

TEST(Sample, RoundTripOfAnAnswer) {
  const Json json = SampleToJson(FullSample());
  EXPECT_EQ(json.at("status"), "ok");
  EXPECT_EQ(json.at("passed"), false);
  const Result<Sample> back = Read(json);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(SampleToJson(*back), json);
  EXPECT_EQ(back->response.text, FullSample().response.text);
  EXPECT_EQ(back->response.stop, StopReason::kLength);
  EXPECT_EQ(back->response.usage.prompt(), 60);
  EXPECT_EQ(back->checks[1].outcome, Outcome::kSkip);
  EXPECT_EQ(back->checks[1].detail, "no tool");
  EXPECT_TRUE(back->ok());
  EXPECT_FALSE(back->passed());
}

TEST(Sample, RoundTripOfAnError) {
  for (const ErrorKind kind : {ErrorKind::kInput, ErrorKind::kNotFound, ErrorKind::kIo, ErrorKind::kUnavailable,
                               ErrorKind::kPermanent, ErrorKind::kCancelled}) {
    Sample sample = FullSample();
    sample.error = Error{kind, "it broke"};
    const Json json = SampleToJson(sample);
    EXPECT_EQ(json.at("status"), "error");
    EXPECT_FALSE(json.contains("answer"));
    EXPECT_FALSE(json.contains("passed"));
    const Result<Sample> back = Read(json);
    ASSERT_TRUE(back.ok());
    EXPECT_FALSE(back->ok());
    EXPECT_FALSE(back->passed());
    EXPECT_EQ(back->error->kind, kind);
    EXPECT_EQ(back->error->message, "it broke");
    EXPECT_EQ(back->attempt, 1);
    EXPECT_FALSE(back->will_retry);
    EXPECT_FALSE(json.contains("will_retry"));
    sample.will_retry = true;
    EXPECT_TRUE(Read(SampleToJson(sample))->will_retry);
  }
}

TEST(Sample, TheCauseOfAnErrorIsKept) {
  Sample sample = FullSample();
  sample.error = Error{ErrorKind::kUnavailable, "no data for 600 s"}.Because(ErrorCause::kTimeout);
  const Json json = SampleToJson(sample);
  EXPECT_EQ(json.at("error").at("cause"), "timeout");
  EXPECT_EQ(Read(json)->error->cause, ErrorCause::kTimeout);
}

TEST(Sample, AnOlderJournalTellsNoCause) {
  const auto cause_of = [](const std::string& message) {
    Sample sample = FullSample();
    sample.error = Error{ErrorKind::kUnavailable, message};
    Json json = SampleToJson(sample);
    json["error"].erase("cause");
    return Read(json)->error->cause;
  };
  EXPECT_EQ(cause_of("HTTP 429 (rate_limit): slow down"), ErrorCause::kRateLimit);
  EXPECT_EQ(cause_of("no connection to localhost:1: connection refused"), ErrorCause::kUnreachable);
  EXPECT_EQ(cause_of("HTTP 401: no key"), ErrorCause::kRejected);
  EXPECT_EQ(cause_of("HTTP 503: busy"), ErrorCause::kUnknown) << "perhaps after a while";
  EXPECT_EQ(cause_of("transfer error"), ErrorCause::kUnknown);
}

TEST(Sample, FailedAttemptsOfAReusedAnswer) {
  Sample sample = FullSample();
  EXPECT_FALSE(SampleToJson(sample).contains("failed_before"));
  sample.failed_before = {ErrorCause::kTimeout, ErrorCause::kRateLimit};
  EXPECT_EQ(Read(SampleToJson(sample))->failed_before, sample.failed_before);
}

TEST(Sample, TheKeyIsNearTheStartOfTheLine) {  // where the cache looks for it
  EXPECT_THAT(DumpJson(SampleToJson(FullSample())).substr(0, 40), HasSubstr("\"key\":\"aaaa"));
}

TEST(Sample, SkipsUnknownFieldsAndFillsMissingOnes) {
  Json json = SampleToJson(FullSample());
  json["future"] = {{"nested", 1}};
  json["usage"]["future"] = 3;
  json["checks"][0]["future"] = 3;
  for (const char* key : {"attempt", "time", "cached_from", "reasoning", "stop", "usage", "seconds", "passed"})
    json.erase(key);
  json["checks"][1].erase("detail");
  const Result<Sample> sample = Read(json);
  ASSERT_TRUE(sample.ok()) << sample.error().message;
  EXPECT_EQ(sample->attempt, 0);
  EXPECT_EQ(sample->response.stop, StopReason::kEnd);
  EXPECT_EQ(sample->response.usage.prompt(), 0);
  EXPECT_EQ(sample->response.text, FullSample().response.text);
  EXPECT_THAT(sample->cached_from, IsEmpty());
}

TEST(Sample, UnknownErrorKindsMayBeRetried) {
  Json json = {{"schema", 1}, {"key", "k"}, {"model", "m"},      {"arm", "skill"},
               {"case", "c"}, {"round", 0}, {"status", "error"}, {"error", {{"kind", "meltdown"}}}};
  EXPECT_EQ(Read(json)->error->kind, ErrorKind::kUnavailable);
  EXPECT_EQ(Read(json)->error->message, "");
}

TEST(Sample, Errors) {
  const Json good = SampleToJson(FullSample());
  ASSERT_TRUE(Read(good).ok());
  for (const char* key : {"schema", "key", "model", "arm", "case", "round", "status", "answer", "checks"}) {
    Json json = good;
    json.erase(key);
    EXPECT_FALSE(Read(json).ok()) << key;
    json[key] = Json::object({{"a", 1}});
    EXPECT_FALSE(Read(json).ok()) << key;
  }
  for (const auto& [key, value] :
       {std::pair{"schema", Json(2)}, std::pair{"schema", Json(0)}, std::pair{"arm", Json("x")},
        std::pair{"stop", Json("tired")}, std::pair{"checks", Json("all")}}) {
    Json json = good;
    json[key] = value;
    EXPECT_FALSE(Read(json).ok()) << key << " " << value;
  }
  Json json = good;
  json["checks"][0]["outcome"] = "maybe";
  EXPECT_FALSE(Read(json).ok());
  for (const Json& other : {Json::array(), Json("sample"), Json(7), Json()}) EXPECT_FALSE(Read(other).ok());
}

TEST(Sample, OddNumbersAndBytesStillMakeALine) {
  Sample sample = FullSample();
  sample.response.seconds = std::numeric_limits<double>::quiet_NaN();
  sample.response.text = "bad \xFF byte";
  const Result<Sample> back = Read(SampleToJson(sample));
  ASSERT_TRUE(back.ok());
  EXPECT_DOUBLE_EQ(back->response.seconds, 0.0);
  EXPECT_EQ(back->response.text, "bad \uFFFD byte");
}

// Token counts of a hostile journal overflowed when they were added up.
TEST(Sample, CountsThatNoAnswerHasAreCut) {
  Json json = SampleToJson(FullSample());
  json["usage"]["input"] = std::numeric_limits<std::int64_t>::max();
  json["usage"]["output"] = -5;
  json["seconds"] = -1.0;
  for (const Result<Sample>& sample : {SampleFromJson(json), SampleFromLine(DumpJson(json))}) {
    ASSERT_TRUE(sample.ok());
    EXPECT_EQ(sample->response.usage.input, kMaxStoredTokens);
    EXPECT_EQ(sample->response.usage.output, 0);
    EXPECT_EQ(sample->response.seconds, 0.0);
  }
}

TEST(Sample, ARoundOutOfRangeIsAnError) {
  Json json = SampleToJson(FullSample());
  json["round"] = 4294967297;
  const Result<Sample> sample = SampleFromJson(json);
  ASSERT_FALSE(sample.ok());
  EXPECT_THAT(sample.error().message, HasSubstr("round: "));
}

TEST(Sample, AnAnswerWithoutChecksHasNotPassed) {
  Sample sample = FullSample();
  sample.checks.clear();
  EXPECT_FALSE(sample.passed());
  sample.checks = {{"c", Outcome::kPass, ""}};
  EXPECT_TRUE(sample.passed());
}

TEST(CellName, IdentifiesCells) {
  const Sample sample = FullSample();
  std::vector<Sample> others(4, sample);
  others[0].student = "other";
  others[1].arm = Arm::kBaseline;
  others[2].case_id = "case-2";
  others[3].round = 4;
  for (const Sample& other : others) EXPECT_NE(CellName(other), CellName(sample));
  Sample later = sample;
  later.attempt = 3;
  later.key = "other";
  EXPECT_EQ(CellName(later), CellName(sample));
}

TEST(CutAnswer, KeepsWhatFits) {
  Sample sample = FullSample();
  sample.response.text = std::string(kMaxAnswerBytes, 'x');
  sample.response.reasoning = std::string(kMaxReasoningBytes, 'y');
  const Sample kept = CutAnswer(sample);
  EXPECT_EQ(kept.response.text, sample.response.text);
  EXPECT_EQ(kept.response.reasoning, sample.response.reasoning);
  EXPECT_EQ(kept.cut_from, 0U);
  EXPECT_EQ(SampleToJson(kept), SampleToJson(sample));
}

TEST(CutAnswer, CutsBetweenCharactersAndSaysSo) {
  Sample sample = FullSample();
  sample.response.text = "x";
  while (sample.response.text.size() <= kMaxAnswerBytes) sample.response.text += "日";
  sample.response.reasoning = std::string(kMaxReasoningBytes + 1, 'y');
  const Sample cut = CutAnswer(sample);
  EXPECT_EQ(cut.cut_from, sample.response.text.size());
  EXPECT_LE(cut.response.text.size(), kMaxAnswerBytes);
  EXPECT_GT(cut.response.text.size(), kMaxAnswerBytes - 3);
  EXPECT_EQ(FindInvalidUtf8(cut.response.text), std::nullopt);
  EXPECT_EQ(cut.response.reasoning.size(), kMaxReasoningBytes);
  const Result<Sample> read = SampleFromJson(SampleToJson(cut));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->cut_from, cut.cut_from);
}

// 26 MB of invalid bytes once became a line of 78 MB, which made the whole run unreadable. Control characters become
// six bytes each, more than any others.
TEST(CutAnswer, TheWorstAnswerMakesALineThatCanBeRead) {
  const char byte = '\x01';
  Sample sample = FullSample();
  sample.response.text = std::string(9'000'000, byte);
  sample.response.reasoning = std::string(9'000'000, byte);
  sample.checks.assign(20'000, {std::string(60, byte), Outcome::kFail, std::string(60, byte)});
  const Sample cut = CutAnswer(sample);
  EXPECT_EQ(cut.cut_from, 9'000'000U);
  const std::string line = DumpJson(SampleToJson(cut));
  EXPECT_LT(line.size(), kMaxJournalLineBytes);
  EXPECT_TRUE(SampleFromLine(line).ok());
}

}  // namespace
}  // namespace upskill
