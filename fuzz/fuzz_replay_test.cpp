// SPDX-License-Identifier: Apache-2.0
// Replays a corpus through the fuzzer of every reader: all fixtures, complete, cut in half and damaged.
#include <gtest/gtest.h>

#include <algorithm>

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

// A damaged copy: bytes changed or inserted, parts duplicated or removed.
std::string Damage(const std::string& input, Rng& rng) {
  std::string text = input;
  for (int i = 0; i < 6 && !text.empty(); ++i) {
    const std::size_t at = rng.Next() % text.size();
    const std::size_t length = std::min<std::size_t>(rng.Next() % 40, text.size() - at);
    constexpr std::string_view kBytes(
        "\"{}[]:,\\\n\0\xFF"
        "019aeu",
        17);
    switch (rng.Next() % 4) {
      case 0:
        text[at] = kBytes[rng.Next() % kBytes.size()];
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      default:
        text.insert(at, 1, kBytes[rng.Next() % kBytes.size()]);
        break;
    }
  }
  return text;
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

INSTANTIATE_TEST_SUITE_P(AllFormats, FuzzReplayTest, testing::ValuesIn(AllTraceFormats()), [](const auto& parameter) {
  std::string name = TraceFormatName(parameter.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace upskill
