// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/lane_addresses.h"

namespace upskill::ptx {

void AddressesOfLanes(const std::uint32_t* base, std::uint32_t offset, std::uint32_t mask, LaneAddresses& lanes) {
#ifdef UPSKILL_PTX_AVX2
  if (HasAvx2()) return avx2::Addresses32(base, offset, mask, lanes);
#endif
  generic::Addresses32(base, offset, mask, lanes);
}

void AddressesOfLanes(const std::uint64_t* base, std::uint64_t offset, std::uint64_t kept_bits, std::uint32_t mask,
                      LaneAddresses& lanes) {
#ifdef UPSKILL_PTX_AVX2
  if (HasAvx2()) return avx2::Addresses64(base, offset, kept_bits, mask, lanes);
#endif
  generic::Addresses64(base, offset, kept_bits, mask, lanes);
}

}  // namespace upskill::ptx
