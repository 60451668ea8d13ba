// SPDX-License-Identifier: Apache-2.0
// The parser named by UPSKILL_FUZZ_PARSER. Writes its seeds to the existing folder $UPSKILL_FUZZ_SEEDS before the
// fuzzer reads its corpora.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "fuzz/fuzz_parser.h"
#include "util/invariant.h"

namespace {

const upskill::FuzzedParser& Parser() {
  static const upskill::FuzzedParser& parser = []() -> const upskill::FuzzedParser& {
    const auto& all = upskill::FuzzedParsers();
    const auto found = std::find_if(all.begin(), all.end(), [](const upskill::FuzzedParser& each) {
      return each.name == std::string_view(UPSKILL_FUZZ_PARSER);
    });
    CHECK(found != all.end());
    return *found;
  }();
  return parser;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* folder = std::getenv("UPSKILL_FUZZ_SEEDS");
  if (folder == nullptr) return 0;
  int number = 0;
  for (const std::string& seed : Parser().seeds)
    std::ofstream(std::string(folder) + "/" + std::to_string(number++), std::ios::binary) << seed;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Parser().run({reinterpret_cast<const char*>(data), size});
  return 0;
}
