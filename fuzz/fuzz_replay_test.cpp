// SPDX-License-Identifier: Apache-2.0
// Replays inputs through every fuzzed parser: its corpus, its seeds and the fixtures of traces; whole, cut and damaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/damage.h"
#include "fuzz/fuzz_parser.h"
#include "fuzz/seed_lines.h"
#include "support/source_dir.h"
#include "support/trace_expectation.h"
#include "util/files.h"
#include "util/rng.h"

namespace upskill {

// Names a parser in messages of failed tests.
void PrintTo(const FuzzedParser& parser, std::ostream* out) { *out << parser.name; }

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = SourceDir();
const fs::path kCorpus = kRoot / "fuzz" / "corpus";

// In the order of the files' names; none if there is no such folder.
std::vector<SeedLine> InputsOf(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<SeedLine> inputs;
  for (const fs::path& file : files) {
    const Result<std::string> bytes = ReadFile(file);
    EXPECT_TRUE(bytes.ok()) << file;
    if (!bytes) continue;
    if (file.filename() == kSeedLinesName) {
      for (SeedLine& line : ReadSeedLines(*bytes)) inputs.push_back(std::move(line));
    } else {
      inputs.push_back({*bytes, true});
    }
  }
  return inputs;
}

std::vector<std::string> Fragments() {
  return {"",
          "{",
          "[",
          "\"",
          "{}",
          "[]",
          "null",
          "[[[[",
          std::string("\0", 1),
          R"({"type":"user"})",
          R"({"type":"assistant","message":{"content":[{"type":"tool_use"}]}})"};
}

class FuzzReplayTest : public testing::TestWithParam<FuzzedParser> {
 protected:
  void RunDamaged(const std::string& input, int times) {
    for (int i = 0; i < times; ++i) GetParam().run(Damage(input, rng_));
  }

 private:
  Rng rng_{SeedFromText(GetParam().name)};
};

TEST_P(FuzzReplayTest, EveryInputIsParsed) {
  constexpr int kOfSeed = 100;
  constexpr int kOfFile = 3;
  constexpr std::size_t kCutsOfSeed = 100;
  const FuzzedParser& parser = GetParam();
  for (const std::string& input : Fragments()) parser.run(input);
  for (const std::string& seed : parser.seeds) {
    const std::size_t step = std::max<std::size_t>(7, seed.size() / kCutsOfSeed);
    for (std::size_t size = 0; size < seed.size(); size += step) parser.run(seed.substr(0, size));
    parser.run(seed);
    RunDamaged(seed, kOfSeed);
  }
  std::vector<SeedLine> files = InputsOf(kCorpus / parser.name);
  if (parser.reads_traces) {
    for (SeedLine& input : InputsOf(FixtureFolder())) files.push_back(std::move(input));
  }
  EXPECT_FALSE(files.empty() && parser.seeds.empty()) << "no valid input in " << kCorpus / parser.name;
  for (const SeedLine& input : files) {
    parser.run(input.bytes);
    if (!input.is_valid) continue;
    parser.run(input.bytes.substr(0, input.bytes.size() / 2));
    RunDamaged(input.bytes, kOfFile);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FuzzReplayTest, testing::ValuesIn(FuzzedParsers()), [](const auto& parameter) {
  std::string name = parameter.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(FuzzCorpus, BelongsToParsers) {
  std::set<std::string> names;
  for (const FuzzedParser& parser : FuzzedParsers()) EXPECT_TRUE(names.insert(parser.name).second) << parser.name;
  for (const auto& entry : fs::directory_iterator(kCorpus))
    EXPECT_TRUE(names.contains(entry.path().filename().string())) << entry.path() << " has no parser";
}

TEST(FuzzCorpus, ParsersNameTheirSources) {
  for (const FuzzedParser& parser : FuzzedParsers()) {
    std::istringstream sources(parser.sources);
    std::size_t count = 0;
    for (std::string source; sources >> source; ++count)
      EXPECT_TRUE(fs::is_regular_file(kRoot / "src" / source)) << parser.name << ": " << source;
    EXPECT_GT(count, 0U) << parser.name;
  }
}

TEST(FuzzCorpus, LinesKeepEveryByte) {
  std::string all = "#";
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string line = SeedLineOf(all);
  EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; })) << line;
  const std::vector<SeedLine> read = ReadSeedLines("# all bytes\n" + line + "\n\nfound\\x00\n");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].bytes, all);
  EXPECT_TRUE(read[0].is_valid);
  EXPECT_EQ(read[1].bytes, std::string("found\0", 6));
  EXPECT_FALSE(read[1].is_valid);
}

}  // namespace
}  // namespace upskill
