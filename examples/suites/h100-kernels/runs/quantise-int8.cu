// SPDX-License-Identifier: Apache-2.0
// The signature that the question asks for.
extern "C" __global__ void quantise_rows(const float* in, signed char* out, float* scales, int cols);
#include "quantise_rows.cu"

void run_quantise_rows(const float* in, signed char* out, float* scales, int rows, int cols, int threads) {
  quantise_rows<<<rows, threads>>>(in, out, scales, cols);
}
