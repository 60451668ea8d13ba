// SPDX-License-Identifier: Apache-2.0
// The reader named by UPSKILL_FUZZ_FORMAT.
#include <cstdint>

#include "fuzz/fuzz_reader.h"
#include "util/invariant.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto format = upskill::TraceFormatFromName(UPSKILL_FUZZ_FORMAT);
  CHECK(format.has_value());
  upskill::FuzzReader(*format, {reinterpret_cast<const char*>(data), size});
  return 0;
}
