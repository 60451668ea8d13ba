// SPDX-License-Identifier: Apache-2.0
// Tensor maps for bulk copies, which programs get as a function of the driver. CUDA says nothing of what is in them;
// here it is what cuda/ptx/tensor_map.cpp reads.
#include "runtime.h"

using namespace upskill_runtime;

namespace {

constexpr uint64_t kTensorMapMagic = 0x50414D534E455455ull;
constexpr int kInvalidValue = 1;  // CUDA_ERROR_INVALID_VALUE
constexpr uint8_t kElementBytes[13] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

void Put(unsigned char* map, size_t at, const void* value, size_t bytes) { memcpy(map + at, value, bytes); }

}  // namespace

extern "C" {

// The parameters are those of <cuda.h>, with numbers for its enumerations.
int cuTensorMapEncodeTiled(void* map, unsigned type, uint32_t rank, void* address, const uint64_t* sizes,
                           const uint64_t* strides, const uint32_t* box, const uint32_t* steps, unsigned interleave,
                           unsigned swizzle, unsigned promotion, unsigned fill) {
  const uint64_t start = reinterpret_cast<uint64_t>(address);
  if (map == nullptr || reinterpret_cast<uint64_t>(map) % 64 != 0 || type >= 13 || rank < 1 || rank > 5 ||
      start % 16 != 0 || promotion > 3)
    return kInvalidValue;
  // Interleaved tensors, other ways to swizzle and filling with NaN can't be copied here.
  if (interleave != 0 || swizzle > 3 || fill != 0) return 801;  // CUDA_ERROR_NOT_SUPPORTED
  const uint64_t row = static_cast<uint64_t>(box[0]) * kElementBytes[type];
  if (row % 16 != 0 || (swizzle != 0 && row > (16u << swizzle))) return kInvalidValue;
  unsigned char encoded[128] = {};
  Put(encoded, 0, &kTensorMapMagic, 8);
  Put(encoded, 8, &start, 8);
  for (uint32_t i = 0; i < rank; ++i) {
    if (sizes[i] == 0 || sizes[i] > (1ull << 32) || box[i] == 0 || box[i] > 256 || steps[i] == 0 || steps[i] > 8)
      return kInvalidValue;
    const uint32_t last = static_cast<uint32_t>(sizes[i] - 1);
    const uint16_t elements = static_cast<uint16_t>(box[i]);
    Put(encoded, 16 + 4 * i, &last, 4);
    Put(encoded, 72 + 2 * i, &elements, 2);
    encoded[82 + i] = static_cast<unsigned char>(steps[i]);
    if (i == 0) continue;
    if (strides[i - 1] % 16 != 0 || strides[i - 1] >= (1ull << 40)) return kInvalidValue;
    Put(encoded, 40 + 8 * (i - 1), &strides[i - 1], 8);
  }
  encoded[36] = static_cast<unsigned char>(rank);
  encoded[37] = static_cast<unsigned char>(type);
  encoded[38] = static_cast<unsigned char>(swizzle);
  memcpy(map, encoded, sizeof(encoded));
  return 0;
}

// Of the driver's functions, there is only this one.
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  const bool known = strcmp(symbol, "cuTensorMapEncodeTiled") == 0;
  *function = known ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
  if (result != nullptr) *result = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return known ? cudaSuccess : Note(cudaErrorSymbolNotFound);
}
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(symbol, function, 0, flags, result);
}

}  // extern "C"
