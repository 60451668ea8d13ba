// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_device.h"

#include "device/fat_binary.h"
#include "device/kernel_log.h"
#include "fuzz/fuzz_checks.h"
#include "util/invariant.h"

namespace upskill {

// Each text lies in the input, after the one before, and its kernels are told apart.
void FuzzFatBinary(std::string_view input) {
  const Result<std::vector<PtxImage>> images = PtxInFatBinary(input);
  if (!Parsed(images)) return;
  const char* end = input.data();
  for (const PtxImage& image : *images) {
    CHECK(image.text.data() >= end && image.text.data() + image.text.size() <= input.data() + input.size());
    end = image.text.data() + image.text.size();
    for (const auto& [kernel, precisions] : PrecisionsIn(image.text)) CHECK(!kernel.empty() && precisions.size() <= 7);
  }
  CHECK(NewestPtx(input).ok() == !images->empty());
}

}  // namespace upskill
