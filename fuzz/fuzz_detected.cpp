// SPDX-License-Identifier: Apache-2.0
// Detection, archives and documents: the path that a user's file takes.
#include <cstdint>

#include "fuzz/fuzz_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  upskill::FuzzDetected({reinterpret_cast<const char*>(data), size});
  return 0;
}
