// SPDX-License-Identifier: Apache-2.0
// The libFuzzer program for all parsers; $UPSKILL_FUZZED names the one to run. `list` prints a line for each, with its
// name and the folders that it starts from, as far as they are in the current folder; `sources` one with its name and
// its own source files; `lines` prints the files named as arguments as lines of a seeds.txt. Writes the seeds that the
// parser makes itself and those of its seeds.txt to the existing folder $UPSKILL_FUZZ_SEEDS before the fuzzer reads its
// corpora.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "fuzz/fuzz_parser.h"
#include "fuzz/seed_lines.h"

namespace {

constexpr int kUsageError = 2;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string TextOf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void PrintAll(bool sources) {
  for (const upskill::FuzzedParser& parser : upskill::FuzzedParsers()) {
    std::string rest = sources ? parser.sources : "";
    std::error_code code;
    for (const std::string& folder : {"fuzz/corpus/" + parser.name, std::string("tests/fixtures/traces")}) {
      if (sources || (folder.starts_with("tests/") && !parser.reads_traces)) continue;
      if (std::filesystem::is_directory(folder, code)) rest += (rest.empty() ? "" : " ") + folder;
    }
    std::printf("%s %s\n", parser.name.c_str(), rest.c_str());
  }
}

const upskill::FuzzedParser& ChosenParser() {
  const std::string name = Variable("UPSKILL_FUZZED");
  const auto& all = upskill::FuzzedParsers();
  if (name == "list" || name == "sources") {
    PrintAll(name == "sources");
    std::exit(0);
  }
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const upskill::FuzzedParser& each) { return each.name == name; });
  if (found == all.end()) {
    std::fprintf(stderr, "UPSKILL_FUZZED is '%s', which is no parser; UPSKILL_FUZZED=list prints all\n", name.c_str());
    std::exit(kUsageError);
  }
  return *found;
}

const upskill::FuzzedParser& Parser() {
  static const upskill::FuzzedParser& parser = ChosenParser();
  return parser;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (Variable("UPSKILL_FUZZED") == "lines") {
    for (int i = 1; i < *argc; ++i) std::printf("%s\n", upskill::SeedLineOf(TextOf((*argv)[i])).c_str());
    std::exit(0);
  }
  std::vector<std::string> seeds = Parser().seeds;
  const std::string file = "fuzz/corpus/" + Parser().name + "/" + std::string(upskill::kSeedLinesName);
  for (const upskill::SeedLine& line : upskill::ReadSeedLines(TextOf(file))) seeds.push_back(line.bytes);
  const std::string folder = Variable("UPSKILL_FUZZ_SEEDS");
  for (std::size_t i = 0; i < seeds.size() && !folder.empty(); ++i)
    std::ofstream(folder + "/seed-" + std::to_string(i), std::ios::binary) << seeds[i];
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Parser().run({reinterpret_cast<const char*>(data), size});
  return 0;
}
