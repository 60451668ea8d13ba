// SPDX-License-Identifier: Apache-2.0
#include "quantise_rows.cu"

void run_quantise_rows(const float* in, signed char* out, float* scales, int rows, int cols, int threads) {
  quantise_rows<<<rows, threads>>>(in, out, scales, cols);
}
