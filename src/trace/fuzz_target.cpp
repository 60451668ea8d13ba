// SPDX-License-Identifier: Apache-2.0
// One fuzzer per reader: -DUPSKILL_FUZZ_FORMAT=\"claude-code\" names it. Build with clang and -fsanitize=fuzzer,address.
#include <cstdint>

#include "trace/fuzz_reader.h"
#include "util/invariant.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto format = upskill::TraceFormatFromName(UPSKILL_FUZZ_FORMAT);
  CHECK(format.has_value());
  upskill::FuzzReader(*format, {reinterpret_cast<const char*>(data), size});
  return 0;
}
