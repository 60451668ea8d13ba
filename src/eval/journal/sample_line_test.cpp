// SPDX-License-Identifier: Apache-2.0
#include "eval/journal/sample_line.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/sample_fixture.h"
#include "util/json.h"

namespace upskill {
namespace {

std::string LineOf(const Sample& sample) { return DumpJson(SampleToJson(sample)); }

// The slow reader's result for a line: the sample as a line, or "error".
std::string Slow(const std::string& line) {
  const Result<Json> json = ParseJson(line, "x");
  if (!json) return "error";
  const Result<Sample> sample = SampleFromJson(*json);
  return sample ? LineOf(*sample) : "error";
}
std::string Fast(const std::string& line) {
  const Result<Sample> sample = SampleFromLine(line);
  return sample ? LineOf(*sample) : "error";
}

TEST(SampleLine, ReadsWhatTheJournalWrites) {
  Sample small;
  small.student = "m";
  small.case_id = "c";
  for (const Sample& sample : {FullSample(), small}) {
    const std::string line = LineOf(sample);
    const std::optional<Sample> read = PlainSampleFromLine(line);
    ASSERT_TRUE(read.has_value()) << line;
    EXPECT_EQ(LineOf(*read), line);
  }
}

TEST(SampleLine, ErrorsAreLeftToTheSlowReader) {
  Sample failed = FullSample();
  failed.error = Error{ErrorKind::kUnavailable, "no answer"};
  EXPECT_FALSE(PlainSampleFromLine(LineOf(failed)).has_value());
  const Result<Sample> read = SampleFromLine(LineOf(failed));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->error->message, "no answer");
}

// Both readers agree on small changes everywhere in a line; at each place a few of the characters are tried.
TEST(SampleLine, AgreesWithTheSlowReader) {
  const std::string line = LineOf(FullSample());
  const std::string_view characters(" \"\\,0-.e}][n\n\0\xff\xc3u", 17);
  for (std::size_t i = 0; i <= line.size(); ++i) {
    std::vector<std::string> changed = {line.substr(0, i)};
    for (std::size_t k = 0; k < 4; ++k) {
      const char c = characters[(4 * i + k) % characters.size()];
      changed.push_back(line.substr(0, i) + c + line.substr(i));
      if (i < line.size()) changed.push_back(line.substr(0, i) + c + line.substr(i + 1));
    }
    if (i < line.size()) changed.push_back(line.substr(0, i) + line.substr(i + 1));
    for (const std::string& text : changed) ASSERT_EQ(Fast(text), Slow(text)) << text;
  }
}

TEST(SampleLine, AgreesOnOddMembers) {
  const std::string line = LineOf(FullSample());
  const std::string open = line.substr(0, line.size() - 1);
  for (const char* more : {R"(,"round":4})", R"(,"new_field":{"a":[1,2]}})", R"(,"checks":[]})", R"(,"seconds":null})",
                           R"(,"cost_usd":"x"})"}) {
    EXPECT_EQ(Fast(open + more), Slow(open + more)) << more;
  }
  for (const char* number : {"1", "-0", "1e3", "01", "1.", ".5", "1e", "1E+2", "9223372036854775808", "1e400",
                             "0.1234567890123456789", "true", "\"1\""}) {
    for (const char* name :
         {"\"seconds\":0.25", "\"round\":3", "\"input\":1", "\"schema\":1", "\"cost_usd\":1.5e-07"}) {
      std::string text = line;
      const std::size_t at = text.find(name);
      ASSERT_NE(at, std::string::npos) << name;
      const std::size_t colon = text.find(':', at);
      text.replace(colon + 1, std::string(name).size() - (colon + 1 - at), number);
      EXPECT_EQ(Fast(text), Slow(text)) << text;
    }
  }
}

}  // namespace
}  // namespace upskill
