// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace upskill {

// Values of cudaError_t, which CUDA promises to keep.
inline constexpr std::uint32_t kCudaInvalidValue = 1;
inline constexpr std::uint32_t kCudaOutOfMemory = 2;
inline constexpr std::uint32_t kCudaInvalidConfiguration = 9;
inline constexpr std::uint32_t kCudaInvalidSymbol = 13;
inline constexpr std::uint32_t kCudaInvalidFunction = 98;
inline constexpr std::uint32_t kCudaInvalidImage = 200;
inline constexpr std::uint32_t kCudaInvalidPtx = 218;
inline constexpr std::uint32_t kCudaLaunchTimeout = 702;
inline constexpr std::uint32_t kCudaAssert = 710;
inline constexpr std::uint32_t kCudaLaunchFailure = 719;
inline constexpr std::uint32_t kCudaNotSupported = 801;

}  // namespace upskill
