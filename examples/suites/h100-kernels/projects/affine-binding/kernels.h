#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// out[i] = x[i] * scale + shift for i < size, on the stream. out may be x.
void launch_affine(const float* x, float* out, int64_t size, float scale, float shift, cudaStream_t stream);

// Adds 1 to counts[values[i]] for each i < size; values outside of 0 … bins - 1 are left out.
void launch_count_values(const int32_t* values, int64_t size, int32_t* counts, int bins, cudaStream_t stream);
