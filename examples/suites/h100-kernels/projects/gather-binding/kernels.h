#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

// out[i][c] = table[index[i]][c] for i < count and c < cols, times weights[i] unless weights is null. The index isn't
// checked.
void launch_gather_rows(const __half* table, const int64_t* index, const float* weights, __half* out, int64_t count,
                        int64_t cols, cudaStream_t stream);
