// SPDX-License-Identifier: Apache-2.0
// Replays a corpus through every fuzzer: all fixtures and seeds, complete, cut and damaged.
#include <gtest/gtest.h>

#include <algorithm>

#include "fuzz/damage.h"
#include "fuzz/fuzz_parser.h"
#include "fuzz/fuzz_reader.h"
#include "support/trace_expectation.h"
#include "util/files.h"
#include "util/rng.h"

namespace upskill {
namespace {

std::vector<std::string> Corpus() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(FixtureFolder())) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> corpus = {"",
                                     "{",
                                     "[",
                                     "\"",
                                     "{}",
                                     "[]",
                                     "null",
                                     "[[[[",
                                     R"({"type":"user"})",
                                     R"({"type":"assistant","message":{"content":[{"type":"tool_use"}]}})"};
  for (const auto& file : files) {
    const Result<std::string> bytes = ReadFile(file);
    EXPECT_TRUE(bytes.ok());
    if (bytes) corpus.push_back(*bytes);
  }
  return corpus;
}

// Runs `fuzz` on every input of the corpus, its first half and damaged copies of it.
template <typename Fuzz>
std::size_t Replay(std::uint64_t seed, Fuzz fuzz) {
  Rng rng(seed);
  std::size_t inputs = 0;
  for (const std::string& input : Corpus()) {
    fuzz(input);
    fuzz(input.substr(0, input.size() / 2));
    for (int i = 0; i < 3; ++i) fuzz(Damage(input, rng));
    inputs += 5;
  }
  return inputs;
}

class FuzzReplayTest : public testing::TestWithParam<TraceFormat> {};

TEST_P(FuzzReplayTest, EveryInputIsRead) {
  const std::uint64_t seed = SeedFromText(TraceFormatName(GetParam()));
  EXPECT_GE(Replay(seed, [](const std::string& input) { FuzzReader(GetParam(), input); }), 150U);
}

TEST(FuzzReplay, Detected) {
  EXPECT_GE(Replay(1, [](const std::string& input) { FuzzDetected(input); }), 150U);
}

TEST(FuzzReplay, Redaction) {
  EXPECT_GE(Replay(2, [](const std::string& input) { FuzzRedaction(input); }), 150U);
}

class ParserReplayTest : public testing::TestWithParam<FuzzedParser> {};

TEST_P(ParserReplayTest, EveryInputIsParsed) {
  const FuzzedParser& parser = GetParam();
  Rng rng(SeedFromText(parser.name));
  for (const std::string& input : {std::string(), std::string("{"), std::string("[[[["), std::string("\0", 1)})
    parser.run(input);
  for (const std::string& seed : parser.seeds) {
    parser.run(seed);
    for (std::size_t size = 0; size < seed.size(); size += 7) parser.run(seed.substr(0, size));
    for (int i = 0; i < 400; ++i) parser.run(Damage(seed, rng));
  }
}

INSTANTIATE_TEST_SUITE_P(AllParsers, ParserReplayTest, testing::ValuesIn(FuzzedParsers()), [](const auto& parameter) {
  std::string name(parameter.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

INSTANTIATE_TEST_SUITE_P(AllFormats, FuzzReplayTest, testing::ValuesIn(AllTraceFormats()), [](const auto& parameter) {
  std::string name = TraceFormatName(parameter.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace upskill
