// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace upskill {

// The PTX for one architecture in a fat binary.
struct PtxImage {
  std::uint32_t architecture = 0;  // 90
  std::string_view text;           // in the fat binary
};

// The texts of PTX in what nvcc puts into an object for the driver (a fat binary): a header, then entries, each with a
// header of its own. Machine code is passed over. Errors: not a fat binary, an entry that isn't inside of it, PTX that
// is compressed (nvcc compresses it without --no-compress).
Result<std::vector<PtxImage>> PtxInFatBinary(std::string_view bytes);

// The text for the newest architecture. Error also: there is none.
Result<std::string_view> NewestPtx(std::string_view bytes);

}  // namespace upskill
